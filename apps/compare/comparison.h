// SPDX-License-Identifier: Apache-2.0
/* The findings of mona compare, kept frame by frame for tables, charts and pages. */
#ifndef MONA_COMPARISON_H
#define MONA_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "pipeline/quality/compare.h"

typedef struct comparison_frame {
    double time; /* seconds */
    double psnr[QUALITY_ROWS], ssim[QUALITY_ROWS];
} comparison_frame;

/* One frame as two JPEG pictures. */
typedef struct comparison_view {
    uint64_t frame;
    AVPacket *a, *b;
} comparison_view;

/* Frames that are shown: some that are evenly spread, however many frames there are, and the one
 * with the lowest PSNR. */
enum { COMPARISON_SPREAD = 6, COMPARISON_VIEWS };

typedef struct comparison_log {
    bool views_wanted;
    compare_result result;
    comparison_frame *frames;
    size_t count, capacity;
    uint64_t spacing;                        /* between spread views */
    comparison_view views[COMPARISON_VIEWS]; /* the last one: the worst frame's */
    size_t spread;                           /* views in use before the last */
} comparison_log;

/* Compares and fills a log, which must be zero except for views_wanted. settings->pair and
 * ->context are set here. False: one line was printed. Close it in any case. */
bool comparison_run(comparison_log *log, compare_settings settings);

void comparison_close(comparison_log *log);

/* Everything except the pictures and the frames as JSON. */
cJSON *comparison_json(const comparison_log *log, const char *a, const char *b);

/* Add PSNR and SSIM of each frame: an object for each, or a list for each plane. */
void comparison_add_frames(const comparison_log *log, cJSON *document);
void comparison_add_columns(const comparison_log *log, cJSON *document,
                            void (*add)(cJSON *list, double value));

void comparison_print(const comparison_log *log, const char *a, const char *b);

#endif
