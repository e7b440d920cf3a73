// SPDX-License-Identifier: Apache-2.0
/* Line charts over frames, as SVG. */
#ifndef MONA_CHART_H
#define MONA_CHART_H

#include <stddef.h>
#include <stdio.h>

enum { CHART_MAX_LINES = 5, CHART_MAX_PANELS = 3 };

typedef struct chart_line {
    const char *name;
    const double *values; /* one a frame; INFINITY is drawn at the upper edge, NAN not at all */
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

/* Panels below each other, frames from left to right. The element's data-left and data-width say
 * where the first and last frame are, in the units of its viewBox. */
void chart_write(FILE *f, const chart *c);

#endif
