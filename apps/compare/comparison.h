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
    size_t count, room;
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

/* A page about two videos: a slider between before and after, charts over the frames, facts. It is
 * one file that loads nothing. apps/page/compare.html is the template. */

typedef struct report_fact {
    const char *name;
    char value[256];
} report_fact;

enum { REPORT_MAX_FACTS = 24 };

typedef struct report {
    const char *a, *b;     /* the files' names */
    const char *labels[2]; /* of the two sides of the slider */
    const char *note;      /* explains the figures */
    const char *extreme;   /* caption of the frame with the lowest PSNR */
    const char *measured;  /* what PSNR and SSIM stand for here */
    const char *words;     /* leads the page in place of these figures; NULL: the figures do */
    report_fact facts[REPORT_MAX_FACTS];
    size_t fact_count;
    const double *latency_ms; /* of each frame; NULL: unknown */
    size_t latency_count;
} report;

/* Adds a row. What no longer fits is left out. */
void report_add(report *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds rows about both sides of a comparison. */
void report_add_sides(report *r, const comparison_log *log);

/* Writes the page, which appears only when it is complete. False: one line was printed. */
bool report_write(const report *r, const comparison_log *log, const char *path);

#endif
