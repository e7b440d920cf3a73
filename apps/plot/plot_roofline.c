// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/plot_roofline.h"

#include <math.h>
#include <string.h>

#include "apps/plot/plot.h"
#include "apps/cli/json_read.h"

enum { WIDTH = 1200, HEIGHT = 420, LEFT = 70, RIGHT = 1180, TOP = 16, BOTTOM = 380 };

/* Multiply-adds per byte from low to high, GMAC/s from slow to fast. */
typedef struct log_axes {
    double low, high, slow, fast;
} log_axes;

static bool multiplies(const cJSON *row)
{
    return json_number(row, "gmac") > 0;
}

bool plot_roofline_shows(const cJSON *result)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, json_get(result, "layers")) if (multiplies(row)) return true;
    return false;
}

/* The level whose slope an operator belongs to. One that computing limits belongs to the
 * cache's. */
static const char *level_of(const cJSON *row)
{
    const cJSON *bound = json_get(row, "bound");
    return cJSON_IsString(bound) && !strcmp(bound->valuestring, "memory") ? "memory" : "cache";
}

/* Multiply-adds per byte. */
static double intensity(const cJSON *row)
{
    const char *bytes = strcmp(level_of(row), "memory") ? "cache_bytes" : "memory_bytes";
    return 1e9 * json_number(row, "gmac") / fmax(json_number(row, bytes), 1);
}

static double place(double value, double from, double to, double begin, double end)
{
    return begin + (end - begin) * log(value / from) / log(to / from);
}

static double x_of(const log_axes *a, double value)
{
    return place(value, a->low, a->high, LEFT, RIGHT);
}

static double y_of(const log_axes *a, double value)
{
    return place(value, a->slow, a->fast, BOTTOM, TOP);
}

static log_axes choose_axes(const cJSON *result, double peak, double memory, double cache)
{
    const cJSON *row;
    log_axes a = {fmin(peak / memory, peak / cache), fmax(peak / memory, peak / cache), peak, peak};
    cJSON_ArrayForEach(row, json_get(result, "layers"))
    {
        if (!multiplies(row))
            continue;
        a.low = fmin(a.low, intensity(row));
        a.high = fmax(a.high, intensity(row));
        a.slow = fmin(a.slow, json_number(row, "gmac_per_s"));
        a.fast = fmax(a.fast, json_number(row, "gmac_per_s"));
    }
    return (log_axes){a.low / 2, a.high * 2, a.slow / 3, a.fast * 1.6};
}

static void draw_axes(FILE *f, const log_axes *a)
{
    for (double d = ceil(log10(a->slow)); d <= log10(a->fast); d++) {
        plot_line(f, "axis", "M%d %.2fH%d", LEFT, y_of(a, pow(10, d)), RIGHT);
        plot_text(f, NULL, LEFT - 8, y_of(a, pow(10, d)) + 4, PLOT_END, "%g", pow(10, d));
    }
    for (double d = ceil(log10(a->low)); d <= log10(a->high); d++) {
        plot_line(f, "axis", "M%.2f %dV%d", x_of(a, pow(10, d)), TOP, BOTTOM);
        plot_text(f, NULL, x_of(a, pow(10, d)), BOTTOM + 16, PLOT_MIDDLE, "%g", pow(10, d));
    }
    plot_text(f, NULL, RIGHT, HEIGHT - 6, PLOT_END, "multiply-adds a byte");
    plot_text(f, NULL, 8, 12, PLOT_START, "GMAC/s");
}

/* A slope up to the peak, and a horizontal line from there on. */
static void draw_roof(FILE *f, const log_axes *a, double peak, double rate, const char *name,
                      const char *colour)
{
    const double from = fmax(a->low, a->slow / rate), to = fmin(peak / rate, a->high);
    const double middle = sqrt(from * to);
    fprintf(f, "<path d='M%.2f %.2fL%.2f %.2fH%d' fill='none' stroke='%s' stroke-width='2'/>\n",
            x_of(a, from), y_of(a, from * rate), x_of(a, to), y_of(a, to * rate), RIGHT, colour);
    plot_text(f, NULL, x_of(a, middle) + 8, y_of(a, middle * rate) + 14, PLOT_START,
              "%s: %.0f GB/s", name, rate);
}

static void draw_point(FILE *f, const log_axes *a, const cJSON *row, size_t colour, bool below)
{
    const double x = x_of(a, intensity(row)), y = y_of(a, json_number(row, "gmac_per_s"));
    const char *name = json_string(row, "name");
    fprintf(f, "<circle cx='%.2f' cy='%.2f' r='7' fill='%s' data-name='", x, y,
            plot_colour(colour));
    plot_escape(f, name);
    fputs("'><title>", f);
    plot_escape(f, name);
    fprintf(f, ": %.1f GMAC/s at %.1f a byte of %s</title></circle>\n",
            json_number(row, "gmac_per_s"), intensity(row), level_of(row));
    plot_text(f, "ink", x + 10, y + (below ? 14 : -4), PLOT_START, "%s", name);
}

void plot_roofline(FILE *f, const cJSON *result)
{
    const double peak = fmax(json_number(result, "peak_gmac_per_s"), 1e-3);
    const double memory = fmax(json_number(result, "memory_gb_per_s"), 1e-3);
    const double cache = fmax(json_number(result, "cache_gb_per_s"), 1e-3);
    const log_axes a = choose_axes(result, peak, memory, cache);
    const cJSON *row;
    size_t index = 0, points = 0;
    plot_begin(f, WIDTH, HEIGHT);
    draw_axes(f, &a);
    draw_roof(f, &a, peak, memory, "memory", "#d9822b");
    draw_roof(f, &a, peak, cache, "cache", "#3a9a5b");
    plot_text(f, NULL, RIGHT - 4, y_of(&a, peak) - 6, PLOT_END, "peak: %.0f GMAC/s", peak);
    cJSON_ArrayForEach(row, json_get(result, "layers"))
    {
        if (multiplies(row))
            draw_point(f, &a, row, index, points++ & 1);
        index++;
    }
    plot_end(f);
}
