// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/plot_gantt.h"

#include <math.h>

#include "apps/bench/report/bench_result.h"
#include "apps/plot/plot.h"

enum { WIDTH = 1200, LEFT = 90, SPAN = 1095, LANE = 34, BAR = 22, FRAMES = 12 };

/* The frames shown, and their time span. */
typedef struct window {
    const cJSON *rows;
    int first, count;
    double from, to;
} window;

static const cJSON *get(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static double at(const cJSON *row, int index)
{
    return cJSON_GetArrayItem(row, index)->valuedouble;
}

bool plot_gantt_shows(const cJSON *result)
{
    return get(result, "timeline");
}

static window choose_window(const cJSON *result)
{
    window w = {.rows = get(result, "timeline"), .from = INFINITY, .to = 0};
    const int all = cJSON_GetArraySize(w.rows);
    w.count = all < FRAMES ? all : FRAMES;
    w.first = (all - w.count) / 2;
    for (int i = 0; i < w.count; i++) {
        const cJSON *row = cJSON_GetArrayItem(w.rows, w.first + i);
        w.from = fmin(w.from, at(row, 0));
        w.to = fmax(w.to, at(row, cJSON_GetArraySize(row) - 1));
    }
    return w;
}

static double x_of(const window *w, double ms)
{
    return LEFT + SPAN * (ms - w->from) / fmax(w->to - w->from, 1e-6);
}

static void draw_work(FILE *f, const window *w, int frame, int step, const char *name, bool late)
{
    const cJSON *row = cJSON_GetArrayItem(w->rows, frame);
    const double begin = at(row, 1 + 2 * step), end = at(row, 2 + 2 * step);
    const double x = x_of(w, begin), width = x_of(w, end) - x, y = step * LANE + 5;
    char look[96];
    snprintf(look, sizeof look, "rx='2' fill='%s'%s", plot_colour((size_t)frame),
             late ? " stroke='" PLOT_LATE "' stroke-width='2'" : "");
    plot_box(f, x, y, fmax(width, 1), BAR, look, "frame %d, %s: %.3f ms", frame, name, end - begin);
    if (width > 24)
        fprintf(f,
                "<text class='on' x='%.2f' y='%.2f' text-anchor='middle' fill='#fff' "
                "style='fill:#fff;stroke:none'>%d</text>\n",
                x + width / 2, y + 15, frame);
}

void plot_gantt(FILE *f, const cJSON *result)
{
    const cJSON *steps = get(result, "steps"), *samples = get(result, "samples_ms"), *step;
    const window w = choose_window(result);
    const double deadline = result_deadline_ms(result);
    const int lanes = cJSON_GetArraySize(steps);
    int lane = 0;
    plot_begin(f, WIDTH, lanes * LANE + 30);
    cJSON_ArrayForEach(step, steps)
    {
        const char *name = get(step, "name")->valuestring;
        plot_text(f, "ink", LEFT - 8, lane * LANE + 21, PLOT_END, "%s", name);
        plot_line(f, "axis", "M%d %dH%d", LEFT, lane * LANE + 31, LEFT + SPAN);
        for (int i = w.first; i < w.first + w.count; i++)
            draw_work(f, &w, i, lane, name, deadline > 0 && at(samples, i) > deadline);
        lane++;
    }
    for (int i = 0; i <= 5; i++)
        plot_text(f, NULL, LEFT + SPAN * i / 5.0, lanes * LANE + 20, i == 5 ? PLOT_END : PLOT_START,
                  "%.1f ms", (w.to - w.from) * i / 5);
    plot_end(f);
}
