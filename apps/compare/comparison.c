// SPDX-License-Identifier: Apache-2.0
#include "apps/compare/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <libavutil/pixdesc.h>

#include "apps/cli/options.h"
#include "apps/cli/json_output.h"
#include "formats/blocks.h"
#include "pipeline/image/frame_convert.h"
#include "apps/cli/printable.h"

/* ---- taking down ---------------------------------------------------------------------------- */

static void free_view(comparison_view *v)
{
    av_packet_free(&v->a);
    av_packet_free(&v->b);
}

/* The frame at the size of b's, turned like b. */
static AVPacket *picture_of(const AVFrame *frame, const compare_side *b, pipeline_error *error)
{
    AVFrame *rgb = frame_convert(frame, b->width, b->height, AV_PIX_FMT_RGB24, error);
    AVPacket *packet = rgb && orientation_turn(rgb, b->turn, error)
                           ? frame_convert_encode(rgb, PICTURE_JPEG, error)
                           : NULL;
    av_frame_free(&rgb);
    return packet;
}

static bool take_view(comparison_view *v, const compare_side *b, const compare_pair *pair,
                      pipeline_error *error)
{
    free_view(v);
    *v = (comparison_view){.frame = pair->index};
    v->a = picture_of(pair->a, b, error);
    v->b = v->a ? picture_of(pair->b, b, error) : NULL;
    return v->b;
}

/* Keeps every spacing-th frame. When there is no room for another, every second one is dropped. */
static bool take_spread_view(comparison_log *log, const compare_pair *pair, pipeline_error *error)
{
    if (pair->index % log->spacing)
        return true;
    if (log->spread == COMPARISON_SPREAD) {
        for (size_t i = 0; i < COMPARISON_SPREAD; i++)
            if (i % 2) {
                free_view(&log->views[i]);
            } else if (i) {
                log->views[i / 2] = log->views[i];
                log->views[i] = (comparison_view){0};
            }
        log->spread = (COMPARISON_SPREAD + 1) / 2;
        log->spacing *= 2;
        if (pair->index % log->spacing)
            return true;
    }
    return take_view(&log->views[log->spread++], &log->result.b, pair, error);
}

static bool take_pair(void *context, const compare_pair *pair, pipeline_error *error)
{
    comparison_log *log = context;
    const compare_result *r = &log->result;
    if (!list_grow((void **)&log->frames, &log->room, log->count, sizeof *log->frames))
        return pipeline_fail(error, "out of memory");
    comparison_frame *f = &log->frames[log->count++];
    f->time = pair->time;
    for (unsigned p = 0; p < QUALITY_ROWS; p++) {
        f->psnr[p] = quality_psnr(r->pix_fmt, pair->quality.mse[p]);
        f->ssim[p] = pair->quality.ssim[p];
    }
    if (!log->views_wanted)
        return true;
    const bool worst = r->rows[QUALITY_ALL].worst_mse_frame == pair->index;
    return take_spread_view(log, pair, error) &&
           (!worst || take_view(&log->views[COMPARISON_SPREAD], &r->b, pair, error));
}

bool comparison_run(comparison_log *log, compare_settings settings)
{
    pipeline_error error = {0};
    log->spacing = 1;
    settings.pair = take_pair;
    settings.context = log;
    return compare_files(&settings, &log->result, &error) || cli_fail(0, "%s", error.text);
}

void comparison_close(comparison_log *log)
{
    for (size_t i = 0; i < COMPARISON_VIEWS; i++)
        free_view(&log->views[i]);
    free(log->frames);
}

/* ---- telling -------------------------------------------------------------------------------- */

/* The number of result rows: one per plane and, if there are several, one for all. */
static unsigned row_count(const compare_result *r)
{
    return r->planes > 1 ? r->planes + 1 : 1;
}

static unsigned row_at(const compare_result *r, unsigned i)
{
    return i < r->planes ? i : QUALITY_ALL;
}

static cJSON *side_json(const compare_side *s, const char *path)
{
    cJSON *o = cJSON_CreateObject();
    JSON_ADD(o, TEXT("file", path), NUMBER("width", s->width), NUMBER("height", s->height),
             TEXT("pixel_format", av_get_pix_fmt_name(s->pix_fmt)), TEXT("codec", s->codec),
             NUMBER("fps", s->rate), NUMBER("bytes", s->file_bytes));
    return o;
}

/* NAN becomes null. */
static void add_flicker(cJSON *o, const compare_result *r, unsigned row)
{
    const flicker_sums *s = &r->flicker.rows[row];
    JSON_ADD(o, NUMBER("flicker", flicker_of(s, s->b, r->pix_fmt)),
             NUMBER("flicker_of_a", flicker_of(s, s->a, r->pix_fmt)),
             NUMBER("still", s->all ? (double)s->still / (double)s->all : NAN));
}

cJSON *comparison_json(const comparison_log *log, const char *a, const char *b)
{
    const compare_result *r = &log->result;
    cJSON *document = cJSON_CreateObject();
    cJSON_AddItemToObject(document, "a", side_json(&r->a, a));
    cJSON_AddItemToObject(document, "b", side_json(&r->b, b));
    cJSON_AddNumberToObject(document, "frames", (double)r->frames);
    cJSON *planes = cJSON_AddArrayToObject(document, "planes");
    for (unsigned i = 0; i < row_count(r); i++) {
        const compare_row *row = &r->rows[row_at(r, i)];
        cJSON *o = json_add_object(planes);
        JSON_ADD(o, TEXT("plane", quality_plane_name(r->pix_fmt, row_at(r, i))),
                 NUMBER("mse", row->mse));
        cJSON_AddNumberToObject(o, "psnr",
                                quality_psnr(r->pix_fmt, row->mse)); /* inf becomes null */
        cJSON_AddNumberToObject(o, "psnr_worst", quality_psnr(r->pix_fmt, row->worst_mse));
        JSON_ADD(o, NUMBER("psnr_worst_frame", row->worst_mse_frame), NUMBER("ssim", row->ssim),
                 NUMBER("ssim_worst", row->worst_ssim),
                 NUMBER("ssim_worst_frame", row->worst_ssim_frame));
        add_flicker(o, r, row_at(r, i));
    }
    return document;
}

void comparison_add_frames(const comparison_log *log, cJSON *document)
{
    const compare_result *r = &log->result;
    cJSON *frames = cJSON_AddArrayToObject(document, "per_frame");
    for (size_t k = 0; k < log->count; k++) {
        cJSON *o = cJSON_CreateObject();
        JSON_ADD(o, NUMBER("frame", k), NUMBER("time", log->frames[k].time));
        for (int ssim = 0; ssim < 2; ssim++) {
            cJSON *values = cJSON_AddObjectToObject(o, ssim ? "ssim" : "psnr");
            for (unsigned i = 0; i < row_count(r); i++)
                cJSON_AddNumberToObject(
                    values, quality_plane_name(r->pix_fmt, row_at(r, i)),
                    (ssim ? log->frames[k].ssim : log->frames[k].psnr)[row_at(r, i)]);
        }
        cJSON_AddItemToArray(frames, o);
    }
}

void comparison_add_columns(const comparison_log *log, cJSON *document,
                            void (*add)(cJSON *list, double value))
{
    const compare_result *r = &log->result;
    for (int ssim = 0; ssim < 2; ssim++) {
        cJSON *planes = cJSON_AddObjectToObject(document, ssim ? "ssim" : "psnr");
        for (unsigned i = 0; i < row_count(r); i++) {
            cJSON *list =
                cJSON_AddArrayToObject(planes, quality_plane_name(r->pix_fmt, row_at(r, i)));
            for (size_t k = 0; k < log->count; k++)
                add(list, (ssim ? log->frames[k].ssim : log->frames[k].psnr)[row_at(r, i)]);
        }
    }
}

static void print_side(char name, const compare_side *s, const char *path)
{
    printable_print(stdout, "%c  %s: %dx%d %s, %s, %.4g fps", name, path, s->width, s->height,
                    av_get_pix_fmt_name(s->pix_fmt), s->codec, s->rate);
    putchar('\n');
}

static void print_flicker(const compare_result *r)
{
    if (!r->flicker.rows[QUALITY_ALL].all)
        return;
    printf("\n%-6s %9s %9s %8s\n", "plane", "flicker", "A's own", "still");
    for (unsigned i = 0; i < row_count(r); i++) {
        const flicker_sums *s = &r->flicker.rows[row_at(r, i)];
        printf("%-6s %9.4f %9.4f %6.1f %%\n", quality_plane_name(r->pix_fmt, row_at(r, i)),
               flicker_of(s, s->b, r->pix_fmt), flicker_of(s, s->a, r->pix_fmt),
               s->all ? 100 * (double)s->still / (double)s->all : 0);
    }
}

void comparison_print(const comparison_log *log, const char *a, const char *b)
{
    const compare_result *r = &log->result;
    print_side('A', &r->a, a);
    print_side('B', &r->b, b);
    printf("%" PRIu64 " frame%s\n\n%-6s %9s %9s %8s   %8s %8s %8s\n", r->frames,
           r->frames == 1 ? "" : "s", "plane", "PSNR dB", "worst", "frame", "SSIM", "worst",
           "frame");
    for (unsigned i = 0; i < row_count(r); i++) {
        const compare_row *row = &r->rows[row_at(r, i)];
        printf("%-6s %9.4f %9.4f %8" PRIu64 "   %8.6f %8.6f %8" PRIu64 "\n",
               quality_plane_name(r->pix_fmt, row_at(r, i)), quality_psnr(r->pix_fmt, row->mse),
               quality_psnr(r->pix_fmt, row->worst_mse), row->worst_mse_frame, row->ssim,
               row->worst_ssim, row->worst_ssim_frame);
    }
    print_flicker(r);
}
