// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/chart.h"

#include <math.h>

#include "apps/plot/plot.h"

enum { WIDTH = 1000, LEFT = 56, RIGHT = 16, TOP = 30, HEIGHT = 170, GAP = 34, BOTTOM = 30 };
enum { SPAN = WIDTH - LEFT - RIGHT, PANEL = TOP + HEIGHT };

typedef struct scale {
    double low, high, step; /* of the ticks */
} scale;

/* A scale for all finite values, with ticks at both ends; low > high: there are none. */
static scale scale_of(const chart_panel *p, size_t frames)
{
    scale s = {INFINITY, -INFINITY, 1};
    for (size_t l = 0; l < p->line_count; l++)
        for (size_t i = 0; i < frames; i++)
            if (isfinite(p->lines[l].values[i])) {
                s.low = fmin(s.low, p->lines[l].values[i]);
                s.high = fmax(s.high, p->lines[l].values[i]);
            }
    if (s.low > s.high)
        return s;
    const double middle = fabs(s.low + s.high) / 2, min = middle > 0 ? middle * 1e-3 : 1;
    s.step = plot_step(fmax(s.high - s.low, min), 4);
    s.low = floor(s.low / s.step) * s.step;
    s.high = fmax(ceil(s.high / s.step), s.low / s.step + 1) * s.step;
    return s;
}

static double x_of(size_t frame, size_t frames)
{
    return LEFT + (frames > 1 ? (double)SPAN * (double)frame / (double)(frames - 1) : SPAN / 2.0);
}

static double y_of(double value, const scale *s, double top)
{
    if (isinf(value) || s->high <= s->low)
        return top;
    return top + HEIGHT * (s->high - value) / (s->high - s->low);
}

static void write_ticks(FILE *f, const scale *s, double top)
{
    if (s->low > s->high)
        return;
    const int digits = s->step < 1 ? (int)ceil(-log10(s->step) - 1e-9) : 0;
    for (int i = 0; s->low + i * s->step <= s->high + s->step * 1e-6; i++) {
        const double value = s->low + i * s->step, y = y_of(value, s, top);
        plot_line(f, "axis", "M%d %.1fH%d", LEFT, y, WIDTH - RIGHT);
        plot_text(f, NULL, LEFT - 6, y + 4, PLOT_END, "%.*f", digits, value);
    }
}

/* Missing values leave a gap. If there are more frames than the eye can distinguish, the lowest and
 * the highest of each column are drawn. */
static void write_line(FILE *f, const chart *c, const chart_line *line, const scale *s, double top,
                       const char *colour)
{
    const size_t columns = SPAN;
    const size_t each = c->frames > 2 * columns ? c->frames / columns : 1;
    char command = 'M';
    fprintf(f, "<path fill='none' stroke='%s' stroke-width='1.6' stroke-linejoin='round' d='",
            colour);
    for (size_t i = 0; i < c->frames; i += each) {
        double low = NAN, high = NAN;
        for (size_t k = i; k < i + each && k < c->frames; k++) {
            low = fmin(low, line->values[k]);
            high = fmax(high, line->values[k]);
        }
        if (isnan(low)) {
            command = 'M';
            continue;
        }
        fprintf(f, "%c%.1f %.1f", command, x_of(i, c->frames), y_of(low, s, top));
        if (high > low)
            fprintf(f, "V%.1f", y_of(high, s, top));
        command = 'L';
    }
    if (c->frames == 1)
        fputs("h.1' stroke-linecap='round' style='stroke-width:7", f);
    fputs("'/>\n", f);
}

static void write_panel(FILE *f, const chart *c, const chart_panel *p, double top)
{
    const scale s = scale_of(p, c->frames);
    plot_text(f, "title", LEFT, top - 12, PLOT_START, "%s", p->title);
    /* Beside the title, where a phone shows them too. */
    for (size_t l = 0; l < p->line_count; l++) {
        fprintf(f, "<text x='%zu' y='%.1f' font-weight='600' fill='%s'>", LEFT + 100 + 40 * l,
                top - 12, plot_colour(l));
        plot_escape(f, p->lines[l].name);
        fputs("</text>\n", f);
    }
    write_ticks(f, &s, top);
    if (s.low > s.high && p->infinite)
        plot_text(f, NULL, LEFT + 20, top + HEIGHT / 2.0, PLOT_START, "all frames %s", p->infinite);
    for (size_t l = 0; l < p->line_count; l++)
        write_line(f, c, &p->lines[l], &s, top, plot_colour(l));
}

static void write_frames_axis(FILE *f, const chart *c, double y)
{
    const double last = c->frames > 1 ? (double)(c->frames - 1) : 1;
    const size_t step = (size_t)fmax(1, plot_step(last, 10));
    for (size_t i = 0; i < c->frames; i += step)
        plot_text(f, NULL, x_of(i, c->frames), y, PLOT_MIDDLE, "%zu", i);
    plot_text(f, NULL, LEFT - 12, y, PLOT_END, "frame");
}

void chart_write(FILE *f, const chart *c)
{
    const int height = (int)c->panel_count * (PANEL + GAP) - GAP + BOTTOM + 10;
    plot_begin(f, WIDTH, height);
    fprintf(f, "<g data-left='%d' data-width='%d' data-top='%d' data-bottom='%d'/>\n", LEFT, SPAN,
            TOP, height - BOTTOM - 10);
    for (size_t p = 0; p < c->panel_count; p++)
        write_panel(f, c, &c->panels[p], TOP + (double)p * (PANEL + GAP));
    write_frames_axis(f, c, height - BOTTOM + 10);
    plot_end(f);
}
