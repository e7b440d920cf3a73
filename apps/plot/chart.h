// SPDX-License-Identifier: Apache-2.0
/* Line charts over frames, as SVG. */
#ifndef MONA_CHART_H
#define MONA_CHART_H

#include <stddef.h>
#include <stdio.h>

enum { CHART_MAX_LINES = 5, CHART_MAX_PANELS = 3 };

typedef struct chart_line {
    const char *name;
    const double *values; /* one for each frame; INFINITY is drawn at the upper edge, NAN not at
                             all */
} chart_line;

typedef struct chart_panel {
    const char *title;    /* with its unit */
    const char *infinite; /* what an infinite value means, e.g. "identical" */
    chart_line lines[CHART_MAX_LINES];
    size_t line_count;
} chart_panel;

typedef struct chart {
    size_t frames;
    chart_panel panels[CHART_MAX_PANELS];
    size_t panel_count;
} chart;

/* Writes panels below each other, with frames from left to right. data-left and data-width of an
 * empty group are the positions of the first and last frame, in units of the viewBox. */
void chart_write(FILE *f, const chart *c);

#endif
