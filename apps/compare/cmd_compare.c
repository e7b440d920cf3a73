// SPDX-License-Identifier: Apache-2.0
/* mona compare: how much two videos or pictures differ. */
#include <math.h>
#include <stdlib.h>

#include <libavutil/log.h>

#include "apps/cli/commands.h"
#include "apps/compare/comparison.h"
#include "apps/cli/json_output.h"
#include "mona.h"

typedef struct arguments {
    const char *a, *b, *html;
    double start, duration, end; /* of A */
    double min_psnr, min_ssim;
    long frames;
    bool scale, json;
} arguments;

static bool print_json(const comparison_log *log, const arguments *a)
{
    cJSON *document = comparison_json(log, a->a, a->b);
    comparison_add_frames(log, document);
    const int status = json_print(document);
    cJSON_Delete(document);
    return status == EXIT_SUCCESS;
}

static bool write_page(comparison_log *log, const arguments *a)
{
    report r = {.a = a->a,
                .b = a->b,
                .labels = {"A", "B"},
                .extreme = "worst",
                .measured = "Quality",
                .note = a->scale ? "B against A, which was enlarged to B's size by bicubic "
                                   "interpolation."
                                 : "B against A. The PSNR of all frames is that of their mean "
                                   "squared error; SSIM is of 8x8 windows, 4 samples apart."};
    report_add_sides(&r, log);
    report_add(&r, "written by", "mona %s", MONA_VERSION);
    return report_write(&r, log, a->html);
}

/* Whether the two are as similar as required. */
static bool check_limits(const comparison_log *log, const arguments *a)
{
    const compare_row *all = &log->result.rows[QUALITY_ALL];
    const double psnr = quality_psnr(log->result.pix_fmt, all->mse);
    if (psnr < a->min_psnr)
        return cli_fail(0, "%s: expected at least %g dB, found %.4f", a->b, a->min_psnr, psnr);
    if (a->min_ssim > 0 && all->ssim < a->min_ssim)
        return cli_fail(0, "%s: expected an SSIM of at least %g, found %.6f", a->b, a->min_ssim,
                        all->ssim);
    return true;
}

static bool put_results(comparison_log *log, const arguments *a)
{
    if (a->json && !print_json(log, a))
        return false;
    if (!a->json)
        comparison_print(log, a->a, a->b);
    return (!a->html || write_page(log, a)) && check_limits(log, a);
}

static int run(void *values, const command_line *line)
{
    arguments *a = values;
    pipeline_error error = {0};
    if (!option_cut_complete(a->start, a->duration, &a->end, &error))
        return cli_fail_of(&error);
    a->a = line->operands[0];
    a->b = line->operands[1];
    av_log_set_level(AV_LOG_QUIET);

    comparison_log log = {.views_wanted = a->html};
    const bool good = comparison_run(&log, (compare_settings){.a = a->a,
                                                              .b = a->b,
                                                              .start = a->start,
                                                              .end = a->end,
                                                              .frames = (uint64_t)a->frames,
                                                              .scale = a->scale}) &&
                      put_results(&log, a);
    comparison_close(&log);
    return good ? EXIT_SUCCESS : EXIT_FAILED;
}

static const char compared[] = "What is compared", results[] = "Results";

static const option options[] = {
    OPTIONS_CUT(offsetof(arguments, start), offsetof(arguments, duration), offsetof(arguments, end),
                compared, " of A"),
    {"--frames", NULL, OPTION_WHOLE, CHANGES_BYTES, offsetof(arguments, frames), "N", compared,
     .help = "compare only the first N frames (default: all, and both must have the same number)",
     .minimum = 1, .maximum = 1e15},
    {"--scale", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, scale), NULL, compared,
     .help = "convert A to B's size, pixel format and range, by bicubic interpolation"},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, json), NULL, results,
     .help = "print JSON, with every frame; the PSNR of identical planes is null"},
    {"--html", NULL, OPTION_FILE, KEEPS_BYTES, offsetof(arguments, html), "FILE.html", results,
     .help = "write a page with a slider between A and B, charts and figures", .written = true},
    {"--min-psnr", NULL, OPTION_NUMBER, KEEPS_BYTES, offsetof(arguments, min_psnr), "DB", results,
     .help = "fail if the PSNR of all planes is lower; inf: if anything differs",
     .maximum = INFINITY},
    {"--min-ssim", NULL, OPTION_NUMBER, KEEPS_BYTES, offsetof(arguments, min_ssim), "X", results,
     .help = "fail if the SSIM of all planes is lower", .maximum = 1},
};

const command command_compare = {
    .name = "compare",
    .summary = "measure how much two videos or pictures differ",
    .run = run,
    .values = &(arguments){.duration = -1, .end = -1},
    .confined = CONFINED_AT_ONCE,
    .usage = "A B [OPTION]...",
    .description =
        "Prints the PSNR and SSIM of each plane, over all frames and of the worst frame. The PSNR "
        "of many frames is that of their mean squared error; SSIM uses 8x8 windows, 4 samples "
        "apart, like FFmpeg's ssim filter; a plane smaller than that is one window. Flicker is how "
        "much B changes from frame to frame where "
        "A stands still: the mean absolute difference, in 8-bit steps, over the blocks of 8x8 "
        "samples that change by 2 or less on average in A; A's own flicker is printed beside it. "
        "The exit status is 1 if the two cannot be compared or differ more than allowed.",
    .examples = "mona compare in.mp4 out.mp4 --scale --html report.html  # before and after\n"
                "mona compare a.mkv b.mkv --min-psnr inf  # fails unless every sample is equal\n",
    .parts = {{OPTIONS(options)}},
    .operands_min = 2,
    .operands_max = 2,
};
