// SPDX-License-Identifier: Apache-2.0
/* A page about two videos: a slider between before and after, charts over the frames, facts. It is
 * one file that loads nothing. apps/page/compare.html is the template. */
#ifndef MONA_REPORT_H
#define MONA_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/compare/comparison.h"

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
