// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/bench_plots.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/bench/report/bench_result.h"
#include "apps/cli/options.h"
#include "apps/plot/plot.h"
#include "apps/plot/plot_roofline.h"
#include "apps/cli/save.h"
#include "apps/cli/json_read.h"

static double largest(const cJSON *list)
{
    const cJSON *item;
    double max = 0;
    cJSON_ArrayForEach(item, list) max = fmax(max, item->valuedouble);
    return max;
}

/* ---- frames -------------------------------------------------------------------------------------
 */

static void draw_deadline(FILE *f, const plot_scale *s, double deadline)
{
    if (deadline <= 0)
        return;
    plot_line(f, "mark", "M%g %.2fH%g", s->left, plot_y(s, deadline), s->right);
    plot_text(f, NULL, s->right, plot_y(s, deadline) - 5, PLOT_END, "%.1f ms", deadline);
}

/* Draws a bar for each frame; if there are more than fit, for the slowest of every few. */
static void draw_frames(FILE *f, const cJSON *result)
{
    enum { WIDTH = 1200, HEIGHT = 260, MAX_BARS = 1140 };
    const cJSON *list = json_get(result, "samples_ms"), *sample = list->child;
    const size_t count = (size_t)cJSON_GetArraySize(list), each = (count + MAX_BARS - 1) / MAX_BARS;
    const double deadline = result_deadline_ms(result);
    plot_begin(f, WIDTH, HEIGHT);
    const plot_scale s =
        plot_axis(f, WIDTH, HEIGHT, fmax(largest(list), deadline) * 1.08, "ms, frame by frame");
    const double width = (s.right - s.left) / ceil((double)count / (double)each);
    for (size_t i = 0; i < count; i += each) {
        double max = 0;
        for (size_t k = i; k < i + each && sample; k++, sample = sample->next)
            max = fmax(max, sample->valuedouble);
        plot_box(f, s.left + width * (double)(i / each), plot_y(&s, max),
                 fmax(width > 3 ? 0.85 * width : width, 0.5), s.bottom - plot_y(&s, max),
                 deadline > 0 && max > deadline ? "class='bar late' fill='" PLOT_LATE "'"
                                                : "class='bar' fill='" PLOT_BAR "'",
                 "frame %zu: %.3f ms", i, max);
    }
    draw_deadline(f, &s, deadline);
    plot_end(f);
}

/* ---- histogram ----------------------------------------------------------------------------------
 */

static void mark_percentile(FILE *f, const plot_scale *s, double x, const char *name, double y)
{
    const bool right = x > 500;
    plot_line(f, "mark", "M%.2f %gV%g", x, s->top, s->bottom);
    plot_text(f, NULL, x + (right ? -4 : 4), y, right ? PLOT_END : PLOT_START, "%s", name);
}

static void draw_histogram(FILE *f, const cJSON *result)
{
    enum { WIDTH = 560, HEIGHT = 300 };
    const cJSON *h = json_get(result, "histogram"), *counts = json_get(h, "counts"), *bin;
    const double begin = json_number(h, "begin_ms"), width = json_number(h, "width_ms");
    const int bins = cJSON_GetArraySize(counts);
    const double span = fmax(width * bins, 1e-6);
    int i = 0;
    plot_begin(f, WIDTH, HEIGHT);
    const plot_scale s = plot_axis(f, WIDTH, HEIGHT, largest(counts) * 1.1, "");
    const double whole = s.right - s.left, each = whole / bins;
    cJSON_ArrayForEach(bin, counts)
    {
        const double from = begin + i * width;
        plot_box(f, s.left + each * i++ + 0.5, plot_y(&s, bin->valuedouble), fmax(each - 1, 0.5),
                 s.bottom - plot_y(&s, bin->valuedouble), "class='bar' fill='" PLOT_BAR "'",
                 "%.3f to %.3f ms: %.0f", from, from + width, bin->valuedouble);
    }
    for (int t = 0; t <= 4; t++)
        plot_text(f, NULL, s.left + whole * t / 4, HEIGHT - 6,
                  t == 0   ? PLOT_START
                  : t == 4 ? PLOT_END
                           : PLOT_MIDDLE,
                  t == 4 ? "%.2f ms" : "%.2f", begin + span * t / 4);
    mark_percentile(f, &s, s.left + whole * (json_number(result, "p50_ms") - begin) / span, "p50",
                    22);
    mark_percentile(f, &s, s.left + whole * (json_number(result, "p99_ms") - begin) / span, "p99",
                    38);
    plot_end(f);
}

/* ---- operators ----------------------------------------------------------------------------------
 */

static bool has_layers(const cJSON *result)
{
    return json_get(result, "layers");
}

static void describe_layer(const cJSON *row, char *label, size_t size)
{
    int used = snprintf(label, size, "%.3f ms, %.1f %%", json_number(row, "ms"),
                        100 * json_number(row, "share"));
    if (json_get(row, "bound") && used > 0 && (size_t)used < size)
        snprintf(label + used, size - (size_t)used, ", %.0f GMAC/s, %.0f %% of %s's roof",
                 json_number(row, "gmac_per_s"), 100 * json_number(row, "roof_share"),
                 json_string(row, "bound"));
}

static void draw_layers(FILE *f, const cJSON *result)
{
    enum { WIDTH = 1200, ROW = 26, LEFT = 200, LONGEST = 600 };
    const cJSON *list = json_get(result, "layers"), *row;
    double max = 1e-9;
    int i = 0;
    cJSON_ArrayForEach(row, list) max = fmax(max, json_number(row, "ms"));
    plot_begin(f, WIDTH, cJSON_GetArraySize(list) * ROW + 4);
    cJSON_ArrayForEach(row, list)
    {
        const double y = i * ROW + 4, width = fmax(LONGEST * json_number(row, "ms") / max, 1);
        char label[128], look[48];
        const char *stage = json_string(row, "stage");
        describe_layer(row, label, sizeof label);
        snprintf(look, sizeof look, "rx='3' fill='%s'", plot_colour((size_t)i++));
        plot_text(f, "ink", LEFT - 10, y + 14, PLOT_END, "%s%s%s", stage, *stage ? ": " : "",
                  json_string(row, "name"));
        plot_box(f, LEFT, y, width, ROW - 7, look, "%s", json_string(row, "kind"));
        plot_text(f, NULL, LEFT + 8 + width, y + 14, PLOT_START, "%s", label);
    }
    plot_end(f);
}

/* ---- all of them --------------------------------------------------------------------------------
 */

static bool always(const cJSON *result)
{
    return json_get(result, "samples_ms");
}

const bench_plot *bench_plot_at(unsigned index)
{
    static const bench_plot plots[] = {{"frames", always, draw_frames},
                                       {"histogram", always, draw_histogram},
                                       {"layers", has_layers, draw_layers},
                                       {"roofline", plot_roofline_shows, plot_roofline}};
    return index < sizeof plots / sizeof *plots ? &plots[index] : NULL;
}

static bool save_plot(const bench_plot *plot, const cJSON *result, const char *folder)
{
    char path[4096];
    text_file t;
    if (snprintf(path, sizeof path, "%s/%s.svg", folder, plot->name) >= (int)sizeof path)
        return cli_fail(0, "%.60s...: the path is too long", folder);
    text_file_begin(&t);
    if (t.f)
        plot->draw(t.f, result);
    return text_file_save(&t, true, path);
}

bool bench_plots_save(const cJSON *result, const char *folder)
{
    if (mkdir(folder, 0777) && errno != EEXIST)
        return cli_fail(0, "%s: the folder cannot be made: %s", folder, strerror(errno));
    const bench_plot *plot;
    for (unsigned i = 0; (plot = bench_plot_at(i)); i++)
        if (plot->shows(result) && !save_plot(plot, result, folder))
            return false;
    return true;
}
