// SPDX-License-Identifier: Apache-2.0
#include "pipeline/quality/compare.h"

#include <stdio.h>
#include <string.h>

#include <libavutil/pixdesc.h>

#include "pipeline/image/picture_planes.h"
#include "pipeline/image/pixels.h"
#include "pipeline/image/frame_convert.h"

typedef struct comparison {
    const compare_settings *settings;
    compare_result *result;
    input a, b;
    AVFrame *a_before, *b_before; /* the previous pair as measured; NULL: none */
} comparison;

/* ---- formats -------------------------------------------------------------------------------- */

/* The format without a range in its name; for packed RGB, the one with planes. */
static int plain_format(int format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    if (quality_takes(format) || !pixels_are_rgb(format))
        return pixels_plain(format);
    const bool alpha = d->flags & (AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_PAL);
    return d->comp[0].depth > 8 ? (alpha ? AV_PIX_FMT_GBRAP16 : AV_PIX_FMT_GBRP16)
                                : (alpha ? AV_PIX_FMT_GBRAP : AV_PIX_FMT_GBRP);
}

static bool is_full_range(const AVFrame *frame)
{
    return pixels_full_range(frame->format, frame->color_range);
}

/* Returns the frame as it will be measured: the frame itself, or a copy in *made, which the caller
 * frees, of the size and range of `like` and, made of RGB, with its matrix. NULL: an error. */
static const AVFrame *prepare(const AVFrame *frame, const AVFrame *like, int format, AVFrame **made,
                              pipeline_error *error)
{
    *made = NULL;
    if (frame->width == like->width && frame->height == like->height &&
        plain_format(frame->format) == format && quality_takes(frame->format) &&
        is_full_range(frame) == is_full_range(like))
        return frame;
    const frame_convert_shape shape = {
        .width = like->width,
        .height = like->height,
        .format = format,
        .range = is_full_range(like) ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG,
        .matrix = frame_convert_matrix(pixels_are_rgb(frame->format) ? like : frame)};
    *made = frame_convert_to(frame, &shape, error);
    return *made;
}

static const char *format_name(int format)
{
    const char *name = av_get_pix_fmt_name(format);
    return name ? name : "none";
}

static bool check_pair(const comparison *c, pipeline_error *error)
{
    const AVFrame *a = c->a.frame, *b = c->b.frame;
    const char *hint = c->settings->scale ? "" : "; --scale converts the first";
    if (!quality_takes(plain_format(b->format)))
        return pipeline_fail(error, "%s: expected planes of 8 to 16 bits, found %s", c->b.path,
                             format_name(b->format));
    if (c->settings->scale)
        return true;
    if (a->width != b->width || a->height != b->height)
        return pipeline_fail(error, "%s: expected frames of %dx%d as in %s, found %dx%d%s",
                             c->b.path, a->width, a->height, c->a.path, b->width, b->height, hint);
    if (plain_format(a->format) != plain_format(b->format))
        return pipeline_fail(error, "%s: expected pixel format %s as in %s, found %s%s", c->b.path,
                             format_name(a->format), c->a.path, format_name(b->format), hint);
    if (is_full_range(a) != is_full_range(b))
        return pipeline_fail(error, "%s: expected samples of %s range as in %s, found %s range%s",
                             c->b.path, is_full_range(a) ? "full" : "limited", c->a.path,
                             is_full_range(b) ? "full" : "limited", hint);
    return true;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void describe_side(compare_side *side, input *f)
{
    const AVRational rate = av_guess_frame_rate(f->format, f->video, f->frame);
    *side = (compare_side){.width = f->frame->width,
                           .height = f->frame->height,
                           .pix_fmt = f->frame->format,
                           .rate = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0,
                           .aspect = av_guess_sample_aspect_ratio(f->format, f->video, f->frame),
                           .turn = orientation_of(f->video),
                           .file_bytes = f->format->pb ? FFMAX(avio_size(f->format->pb), 0) : 0};
    snprintf(side->codec, sizeof side->codec, "%s", avcodec_get_name(f->decoder->codec_id));
}

/* Rows hold sums until finish_rows. */
static void add_frame(compare_result *r, const quality *q)
{
    for (unsigned p = 0; p < QUALITY_ROWS; p++) {
        compare_row *row = &r->rows[p];
        row->mse += q->mse[p];
        row->ssim += q->ssim[p];
        if (!r->frames || q->mse[p] > row->worst_mse) {
            row->worst_mse = q->mse[p];
            row->worst_mse_frame = r->frames;
        }
        if (!r->frames || q->ssim[p] < row->worst_ssim) {
            row->worst_ssim = q->ssim[p];
            row->worst_ssim_frame = r->frames;
        }
    }
    r->frames++;
}

static void finish_rows(compare_result *r)
{
    for (unsigned p = 0; p < QUALITY_ROWS && r->frames; p++) {
        r->rows[p].mse /= (double)r->frames;
        r->rows[p].ssim /= (double)r->frames;
    }
}

/* ---- the frames ----------------------------------------------------------------------------- */

/* Adds the changes since the previous pair. */
static bool add_change(comparison *c, const AVFrame *a, const AVFrame *b, pipeline_error *error)
{
    if (c->a_before && c->a_before->width == a->width && c->a_before->height == a->height)
        flicker_add(&c->result->flicker, c->a_before, a, c->b_before, b);
    av_frame_free(&c->a_before);
    av_frame_free(&c->b_before);
    c->a_before = av_frame_clone(a);
    c->b_before = av_frame_clone(b);
    return (c->a_before && c->b_before) || pipeline_fail(error, "out of memory");
}

static bool take_pair(comparison *c, pipeline_error *error)
{
    compare_result *r = c->result;
    AVFrame *made_a, *made_b;
    if (!check_pair(c, error))
        return false;
    if (!r->frames) {
        describe_side(&r->a, &c->a);
        describe_side(&r->b, &c->b);
        r->pix_fmt = plain_format(c->b.frame->format);
        r->planes = av_pix_fmt_desc_get(r->pix_fmt)->nb_components;
        r->expected = (double)input_frame_estimate(&c->b);
    }
    const AVFrame *b = prepare(c->b.frame, c->b.frame, r->pix_fmt, &made_b, error);
    const AVFrame *a = prepare(c->a.frame, c->b.frame, r->pix_fmt, &made_a, error);
    bool good = a && b;
    if (good) {
        compare_pair pair = {r->frames, input_time(&c->b), c->a.frame, c->b.frame,
                             quality_measure(a, b)};
        add_frame(r, &pair.quality);
        good = add_change(c, a, b, error) &&
               (!c->settings->pair || c->settings->pair(c->settings->context, &pair, error));
    }
    av_frame_free(&made_a);
    av_frame_free(&made_b);
    return good;
}

static bool count_differs(const comparison *c, bool a_ended, pipeline_error *error)
{
    const input *longer = a_ended ? &c->b : &c->a, *shorter = a_ended ? &c->a : &c->b;
    if (!c->result->frames)
        return pipeline_fail(error, "%s: expected frames, found none", shorter->path);
    return pipeline_fail(
        error,
        "%s: expected as many frames as %s has, found only %llu; --frames N compares the first N",
        shorter->path, longer->path, (unsigned long long)c->result->frames);
}

static bool take_all(comparison *c, pipeline_error *error)
{
    const compare_settings *s = c->settings;
    while (!s->frames || c->result->frames < s->frames) {
        const input_result a = input_next(&c->a, error), b = input_next(&c->b, error);
        if (a == INPUT_FAILED || b == INPUT_FAILED)
            return false;
        if (a != b || (a == INPUT_END && !c->result->frames))
            return count_differs(c, a == INPUT_END, error);
        if (a == INPUT_END)
            return true;
        if (!picture_own_order(c->a.frame, error) || !picture_own_order(c->b.frame, error) ||
            !orientation_turn(c->a.frame, s->turn, error) || !take_pair(c, error))
            return false;
    }
    return true;
}

bool compare_files(const compare_settings *settings, compare_result *result, pipeline_error *error)
{
    comparison c = {.settings = settings, .result = result};
    *result = (compare_result){0};
    const input_settings a = {.path = settings->a,
                              .start = settings->start,
                              .end = settings->end,
                              .as_decoded = true},
                         b = {.path = settings->b, .as_decoded = true};
    const bool good =
        input_open(&c.a, &a, error) && input_open(&c.b, &b, error) && take_all(&c, error);
    finish_rows(result);
    av_frame_free(&c.a_before);
    av_frame_free(&c.b_before);
    input_close(&c.a);
    input_close(&c.b);
    return good;
}
