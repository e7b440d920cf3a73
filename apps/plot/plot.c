// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/plot.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { TEXT = 256 };

void plot_escape(FILE *f, const char *text)
{
    static const char special[] = "<>&'\"";
    static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&#39;", "&quot;"};
    for (; *text; text++) {
        const char *at = strchr(special, *text);
        if (at)
            fputs(names[at - special], f);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
    }
}

double plot_step(double span, double ticks)
{
    const double rough = span / ticks, power = pow(10, floor(log10(rough)));
    const double lead = rough / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

void plot_begin(FILE *f, double width, double height)
{
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %g %g' font-family='system-ui, "
            "sans-serif' font-size='12'>\n<path class='back' d='M0 0H%gV%gH0z' fill='#fff'/>\n",
            width, height, width, height);
}

void plot_end(FILE *f)
{
    fputs("</svg>\n", f);
}

const char *plot_colour(size_t index)
{
    static const char *const colours[] = {"#3b7dd8", "#d9822b", "#3a9a5b", "#8a63c9",
                                          "#c94f7c", "#2a9aa0", "#9a8a3a"};
    return colours[index % (sizeof colours / sizeof *colours)];
}

void plot_text(FILE *f, const char *class, double x, double y, plot_anchor anchor,
               const char *format, ...)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(f, "<text class='%s' x='%.2f' y='%.2f' text-anchor='%s' fill='%s'>",
            class ? class : "soft", x, y, anchors[anchor], class ? PLOT_INK : PLOT_SOFT);
    plot_escape(f, text);
    fputs("</text>\n", f);
}

void plot_line(FILE *f, const char *class, const char *format, ...)
{
    const char *look = !strcmp(class, "mark") ? "stroke='" PLOT_LATE "' stroke-dasharray='5 4'"
                                              : "stroke='" PLOT_LINE "'";
    va_list arguments;
    fprintf(f, "<path class='%s' fill='none' %s d='", class, look);
    va_start(arguments, format);
    vfprintf(f, format, arguments);
    va_end(arguments);
    fputs("'/>\n", f);
}

void plot_box(FILE *f, double x, double y, double width, double height, const char *more,
              const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' %s><title>", x, y, width, height,
            more);
    plot_escape(f, text);
    fputs("</title></rect>\n", f);
}

double plot_y(const plot_scale *s, double value)
{
    return s->bottom - (s->bottom - s->top) * value / s->high;
}

plot_scale plot_axis(FILE *f, double width, double height, double high, const char *unit)
{
    const plot_scale s = {52, width - 8, 12, height - 26, high > 0 ? high : 1};
    const double by = plot_step(s.high, 4);
    for (double v = 0; v <= s.high * 1.0001; v += by) {
        plot_line(f, "axis", "M%g %.2fH%g", s.left, plot_y(&s, v), s.right);
        plot_text(f, NULL, s.left - 6, plot_y(&s, v) + 4, PLOT_END, "%g", v);
    }
    plot_text(f, NULL, s.left, height - 6, PLOT_START, "%s", unit);
    return s;
}
