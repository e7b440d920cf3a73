// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/preview.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mona.h"
#include "apps/cli/commands.h"
#include "pipeline/image/frame_convert.h"
#include "apps/compare/comparison.h"
#include "pipeline/job/stage_models.h"
#include "apps/cli/save.h"
#include "apps/enhance/dry_run.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/stills.h"
#include "pipeline/io/sources/input.h"

#define MIB (1024.0 * 1024.0)

/* ---- before and after in one picture --------------------------------------------------------- */

/* The frame enlarged to size's, or in its own size if size is NULL, and turned. */
static AVFrame *converted(const AVFrame *frame, const AVFrame *size, orientation turn,
                          pipeline_error *error)
{
    const bool swaps = orientation_swaps(turn);
    const AVFrame *to = size ? size : frame;
    AVFrame *made = frame_convert(frame, size && swaps ? to->height : to->width,
                                  size && swaps ? to->width : to->height, AV_PIX_FMT_RGB24, error);
    if (made && !orientation_turn(made, turn, error))
        av_frame_free(&made);
    return made;
}

static AVFrame *first_frame(const input_settings *as, const AVFrame *size, pipeline_error *error)
{
    input in;
    AVFrame *frame = NULL;
    if (input_open(&in, as, error)) {
        const input_result found = input_next(&in, error);
        if (found == INPUT_FRAME)
            frame = converted(in.frame, size, orientation_wanted(as->rotate, in.video), error);
        else if (found == INPUT_END)
            pipeline_fail(error, "%s: expected a frame at %g s or later, found none", as->path,
                          as->start);
    }
    input_close(&in);
    return frame;
}

/* A still picture, upright, with grey behind what is transparent. */
static AVFrame *still_frame(const char *path, const AVFrame *size, pipeline_error *error)
{
    still image;
    AVFrame *frame = NULL, *made = NULL;
    if (still_read(&image, path, &(still_wish){.notes = &(pipeline_notes){0}}, error) &&
        still_turn_upright(&image, error) && (frame = still_as_rgb(&image, error)))
        made = converted(frame, size, (orientation){0}, error);
    av_frame_free(&frame);
    still_free(&image);
    return made;
}

static AVFrame *result_frame(const job *s, const test_run *t, pipeline_error *error)
{
    const input_settings as = {.path = t->result, .as_decoded = true};
    return s->stage.still ? still_frame(t->result, NULL, error) : first_frame(&as, NULL, error);
}

static AVFrame *source_frame(const job *s, const AVFrame *size, pipeline_error *error)
{
    const input_settings as = {.path = s->input.path,
                               .raw = s->input.raw,
                               .rate = s->input.rate,
                               .start = s->input.start,
                               .rotate = s->input.rotate,
                               .as_decoded = true};
    return s->stage.still ? still_frame(s->input.path, size, error) : first_frame(&as, size, error);
}

/* notes: where the line about it goes. */
static bool write_sides(const job *s, const test_run *t, const pipeline_notes *notes)
{
    pipeline_error error = {0};
    AVFrame *after = result_frame(s, t, &error);
    AVFrame *before = after ? source_frame(s, after, &error) : NULL;
    picture_part part = {0};
    if (before)
        part = side_most_changed(before, after);
    AVFrame *both = before ? side_by_side(before, after, part, &error) : NULL;
    AVPacket *png = both ? frame_convert_encode(both, PICTURE_PNG, &error) : NULL;
    if (!png)
        cli_fail_of(&error);
    const bool good = png && save_file(s->output, png->data, (size_t)png->size);
    if (good)
        pipeline_note(notes, "%s: before and after, %dx%d pixels of %dx%d at %d, %d", s->output,
                      part.width, part.height, after->width, after->height, part.x, part.y);
    av_packet_free(&png);
    av_frame_free(&both);
    av_frame_free(&before);
    av_frame_free(&after);
    return good;
}

bool preview_write(const job *settings)
{
    job s = *settings;
    test_run t;
    if (!ends_in(settings->output, ".png"))
        return cli_fail(0, "%s: expected a name that ends in .png for a preview", settings->output);
    /* The trial's container, .mkv, can hold the picture whatever the output's container is. */
    s.format = NULL;
    s.drop_unsupported = true;
    s.notes = (pipeline_notes){0};
    const bool good = test_run_make(&t, &s, s.stage.still ? ".png" : ".mkv", 1) &&
                      write_sides(&s, &t, &settings->notes);
    test_run_close(&t);
    return good;
}

/* ---- the page ------------------------------------------------------------------------------- */

static void add_run(report *r, const job *s, const enhance_report *done, const progress *shown)
{
    char networks[NETWORKS_TEXT];
    stage_models_describe(networks, s);
    report_add(r, "networks", "%s", networks);
    report_add(r, "encoder", "%s", done->encoder);
    if (done->noise >= 0)
        report_add(r, "noise found", "%.1f steps of 255", (double)done->noise);
    const double seconds = shown->ended - shown->began;
    report_add(r, "time", "%.2f s, %.2f frames a second, encoding included", seconds,
               (double)done->frames / seconds);
    report_add(r, "first frame after", "%.0f ms", 1e3 * (shown->first - shown->started));
    report_add(r, "memory", "engine %.1f MiB, frames %.1f MiB", (double)done->engine_bytes / MIB,
               (double)done->frame_bytes / MIB);
    uint64_t spent[CHAIN_MAX_STEPS];
    step_clock_read(&shown->clock, spent);
    for (unsigned i = 0; i < shown->clock.steps; i++)
        report_add(r, shown->clock.names[i], "%.1f ms a frame",
                   1e-6 * (double)spent[i] / (double)done->frames);
    report_add(r, "damage",
               "%" PRIu64 " packets lost, %" PRIu64 " frames damaged, %" PRIu64 " moved",
               done->faults.lost_packets, done->faults.damaged_frames, done->faults.moved_frames);
}

static bool has_stage(const job *s, stage_kind kind)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->kinds[i] == kind)
            return true;
    return false;
}

/* Describes the run in sentences. */
static void describe_changes(FILE *f, const job *s, const enhance_report *done)
{
    const bool turned = orientation_swaps(done->turned);
    const uint32_t width = turned ? done->in_height : done->in_width;
    const uint32_t height = turned ? done->in_width : done->in_height;
    if (done->out_width == width && done->out_height == height)
        fprintf(f, "The size stays %ux%u.", width, height);
    else
        fprintf(f, "%ux%u became %ux%u.", width, height, done->out_width, done->out_height);
    if (has_stage(s, STAGE_DENOISE)) {
        if (done->noise >= 0.5f)
            fprintf(f, " Noise, about %.1f steps of 255 at the end, was reduced.",
                    (double)done->noise);
        else if (done->noise >= 0)
            fputs(" There was no noise at the end.", f);
        if (done->compression > 0)
            fprintf(f, " Damage of compression, about %.1f steps at the end, was repaired.",
                    (double)done->compression);
    }
    if (has_stage(s, STAGE_COLOUR))
        fputs(" Tone and colour were corrected.", f);
    if (fields_kinds[done->made].told)
        fprintf(f, " %s", fields_kinds[done->made].told);
}

bool preview_page(const job *settings, const enhance_report *done, const progress *shown,
                  const char *path)
{
    comparison_log log = {.views_wanted = true};
    char *words = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&words, &size);
    if (f)
        describe_changes(f, settings, done);
    bool good = (f && !fclose(f)) || cli_fail(0, "out of memory");
    good = good && comparison_run(&log, (compare_settings){.a = settings->input.path,
                                                           .b = settings->output,
                                                           .start = settings->input.start,
                                                           .frames = done->frames,
                                                           .turn = done->turned,
                                                           .scale = true});
    if (good) {
        report r = {.a = settings->input.path,
                    .b = settings->output,
                    .labels = {"before", "after"},
                    .extreme = "most changed",
                    .measured = "How much was changed",
                    .words = words,
                    .note = "How much was changed: the result against the input, enlarged by "
                            "bicubic interpolation. Latency is from a frame's decoding until the "
                            "encoder takes it.",
                    .latency_ms = shown->latency.ms,
                    .latency_count = shown->latency.count};
        report_add_sides(&r, &log);
        add_run(&r, settings, done, shown);
        report_add(&r, "written by", "mona %s", MONA_VERSION);
        good = report_write(&r, &log, path);
    }
    comparison_close(&log);
    free(words);
    return good;
}
