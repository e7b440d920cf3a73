// SPDX-License-Identifier: Apache-2.0
/* Drawing plots as SVG. Elements have colours, for files that stand alone, and classes, for a
 * page's style: text is soft, or "ink" or "title"; "axis", "mark", "bar", "late". */
#ifndef PLOT_H
#define PLOT_H

#include <stdio.h>

#define PLOT_INK "#1c222b"
#define PLOT_SOFT "#667080"
#define PLOT_LINE "#dfe3e9"
#define PLOT_BAR "#3b7dd8"
#define PLOT_LATE "#d0453c"

typedef enum plot_anchor { PLOT_START, PLOT_MIDDLE, PLOT_END } plot_anchor;

void plot_begin(FILE *f, double width, double height);
void plot_end(FILE *f);

/* Writes text between tags or in an attribute, escaped: names come from files that anybody may have
 * written. */
void plot_escape(FILE *f, const char *text);

/* 1, 2 or 5 times a power of ten, such that a span has about `ticks` of them. */
double plot_step(double span, double ticks);

/* One of a few colours, which repeat. */
const char *plot_colour(size_t index);

/* class NULL: soft. */
void plot_text(FILE *f, const char *class, double x, double y, plot_anchor anchor,
               const char *format, ...) __attribute__((format(printf, 6, 7)));
/* A path, for an axis or a mark. */
void plot_line(FILE *f, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A box with the tooltip `format`. more: further attributes. */
void plot_box(FILE *f, double x, double y, double width, double height, const char *more,
              const char *format, ...) __attribute__((format(printf, 7, 8)));

/* Where values lie in a plot with a linear axis from 0 to high. */
typedef struct plot_scale {
    double left, right, top, bottom, high;
} plot_scale;

/* Draws the axis. unit: written below it. */
plot_scale plot_axis(FILE *f, double width, double height, double high, const char *unit);
double plot_y(const plot_scale *s, double value);

#endif
