// SPDX-License-Identifier: Apache-2.0
/* A page about two videos: a slider between before and after, charts over the frames, facts. It is
 * one file that loads nothing. apps/compare/report.html is the page; this fills it. */
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
    const char *note;      /* what the figures mean */
    const char *extreme;   /* the frame with the lowest PSNR is called that */
    report_fact facts[REPORT_MAX_FACTS];
    size_t fact_count;
    const double *latency_ms; /* of each frame; NULL: not known */
    size_t latency_count;
} report;

/* One more row; what does not fit any more is left out. */
void report_add(report *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Rows about both sides of a comparison. */
void report_add_sides(report *r, const comparison_log *log);

/* Writes the page, which appears only when it is complete. Prints one line and gives false when it
 * cannot. */
bool report_write(const report *r, comparison_log *log, const char *path);

#endif
