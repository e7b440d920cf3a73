// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/chart.h"

#include <math.h>

#include "apps/plot/svg.h"

enum { WIDTH = 1000, LEFT = 56, RIGHT = 16, TOP = 30, HEIGHT = 170, GAP = 34, BOTTOM = 30 };
enum { SPAN = WIDTH - LEFT - RIGHT, PANEL = TOP + HEIGHT };

static const char *const colours[CHART_MAX_LINES] = {"#3b7dd8", "#d9822b", "#3a9a5b", "#8a63c9",
                                                     "#7f8b99"};

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
    s.step = svg_step(fmax(s.high - s.low, min), 4);
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
        fprintf(f,
                "<line class='grid' x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#8884'/>"
                "<text x='%d' y='%.1f' text-anchor='end'>%.*f</text>\n",
                LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, digits, value);
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
    double x = WIDTH - RIGHT;
    fprintf(f, "<text class='title' x='%d' y='%.1f' font-weight='600'>", LEFT, top - 12);
    svg_text(f, p->title);
    fputs("</text>\n", f);
    for (size_t l = p->line_count; l-- > 0;) {
        fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='end' font-weight='600' fill='%s'>", x,
                top - 12, colours[l]);
        svg_text(f, p->lines[l].name);
        fputs("</text>\n", f);
        x -= 40;
    }
    write_ticks(f, &s, top);
    if (s.low > s.high && p->infinite) {
        fprintf(f, "<text x='%d' y='%.1f' text-anchor='middle'>all frames ", WIDTH / 2,
                top + HEIGHT / 2.0);
        svg_text(f, p->infinite);
        fputs("</text>\n", f);
    }
    for (size_t l = 0; l < p->line_count; l++)
        write_line(f, c, &p->lines[l], &s, top, colours[l]);
}

static void write_frames_axis(FILE *f, const chart *c, double y)
{
    const double last = c->frames > 1 ? (double)(c->frames - 1) : 1;
    const size_t step = (size_t)fmax(1, svg_step(last, 10));
    for (size_t i = 0; i < c->frames; i += step)
        fprintf(f, "<text x='%.1f' y='%.1f' text-anchor='middle'>%zu</text>\n", x_of(i, c->frames),
                y, i);
    fprintf(f, "<text x='%d' y='%.1f' text-anchor='end'>frame</text>\n", LEFT - 12, y);
}

void chart_write(FILE *f, const chart *c)
{
    const int height = (int)c->panel_count * (PANEL + GAP) - GAP + BOTTOM + 10;
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' data-left='%d' "
            "data-width='%d' data-top='%d' data-bottom='%d' font-family='system-ui, sans-serif' "
            "font-size='12' fill='currentColor' color='#333'>\n"
            "<rect class='back' width='100%%' height='100%%' fill='white'/>\n",
            WIDTH, height, LEFT, SPAN, TOP, height - BOTTOM - 10);
    for (size_t p = 0; p < c->panel_count; p++)
        write_panel(f, c, &c->panels[p], TOP + (double)p * (PANEL + GAP));
    write_frames_axis(f, c, height - BOTTOM + 10);
    fputs("</svg>\n", f);
}
