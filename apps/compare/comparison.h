// SPDX-License-Identifier: Apache-2.0
/* What mona compare finds out, kept frame by frame for tables, charts and pages. */
#ifndef MONA_COMPARISON_H
#define MONA_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "apps/plot/chart.h"
#include "pipeline/quality/compare.h"

typedef struct comparison_frame {
    double time; /* seconds */
    double psnr[QUALITY_ROWS], ssim[QUALITY_ROWS];
} comparison_frame;

/* One frame as two JPEG pictures. */
typedef struct comparison_view {
    uint64_t frame;
    double time;
    AVPacket *a, *b;
} comparison_view;

/* Frames shown: some, evenly spread however many there will be; the one with the lowest PSNR. */
enum { COMPARISON_SPREAD = 6, COMPARISON_VIEWS };

typedef struct comparison_log {
    bool views_wanted;
    compare_result result;
    comparison_frame *frames;
    size_t count, capacity;
    uint64_t spacing;                        /* between spread views */
    comparison_view views[COMPARISON_VIEWS]; /* the last one: the worst frame's */
    size_t spread;                           /* views in use before the last */
    double *columns;                         /* of the chart */
} comparison_log;

/* Compares, filling a log that is zero but for views_wanted. settings->pair and ->context are set
 * here. Prints one line and gives false when it cannot. Close it in any case. */
bool comparison_run(comparison_log *log, compare_settings settings);

void comparison_close(comparison_log *log);

/* PSNR and SSIM over frames. It lives as long as the log. False: out of memory. */
bool comparison_chart(comparison_log *log, chart *c);

/* Everything as JSON, but the pictures. */
cJSON *comparison_json(const comparison_log *log, const char *a, const char *b);

void comparison_print(const comparison_log *log, const char *a, const char *b);

#endif
