// SPDX-License-Identifier: Apache-2.0
/* Writes timelines of model310 to files. */
#include "apps/plot/npu_trace.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"
#include "apps/plot/svg.h"

/* The buffer grows from the first to the last size by doubling. */
enum { FIRST_EVENTS = 1 << 12, MAX_EVENTS = 1 << 19 };

static bool is_flag(const ac_model_event *e)
{
    return strcmp(e->instruction, "set_flag") == 0 || strcmp(e->instruction, "wait_flag") == 0;
}

void npu_trace_record(void *trace, const ac_model_event *event)
{
    npu_trace *t = trace;
    if (t->count == t->capacity) {
        const size_t more = t->capacity ? 2 * t->capacity : FIRST_EVENTS;
        ac_model_event *events =
            more <= MAX_EVENTS ? realloc(t->events, more * sizeof *events) : NULL;
        if (!events) {
            t->full = true;
            return;
        }
        t->events = events;
        t->capacity = more;
    }
    t->events[t->count++] = *event;
}

void npu_trace_free(npu_trace *t)
{
    free(t->events);
    *t = (npu_trace){0};
}

/* ---- trace ---------------------------------------------------------------------------------- */

static bool print_json(FILE *f, cJSON *object, const char *after)
{
    char *text = json_text(object, false);
    const bool done = text && fprintf(f, "%s%s", text, after) > 0;
    free(text);
    cJSON_Delete(object);
    return done;
}

static cJSON *entry(const char *phase, const char *name, uint32_t core, ac_pipe pipe)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "ph", phase);
    cJSON_AddStringToObject(o, "name", name);
    cJSON_AddNumberToObject(o, "pid", core);
    cJSON_AddNumberToObject(o, "tid", pipe);
    return o;
}

static bool write_names(FILE *f, uint32_t core)
{
    char name[32];
    bool done = true;
    cJSON *process = entry("M", "process_name", core, AC_PIPE_S);
    snprintf(name, sizeof name, "AI Core %u, modelled", core);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(process, "args"), "name", name);
    done = print_json(f, process, ",\n");
    for (int p = 0; p < AC_PIPE_ALL && done; p++) {
        cJSON *thread = entry("M", "thread_name", core, (ac_pipe)p);
        cJSON_AddStringToObject(cJSON_AddObjectToObject(thread, "args"), "name",
                                ac_pipe_name((ac_pipe)p));
        done = print_json(f, thread, ",\n");
    }
    return done;
}

static cJSON *span_of(const ac_model_event *e, double clock_mhz)
{
    cJSON *o = entry("X", e->instruction, e->core, e->pipe);
    cJSON_AddStringToObject(o, "cat", e->kernel ? e->kernel : "launch");
    cJSON_AddNumberToObject(o, "ts", e->start / clock_mhz);
    cJSON_AddNumberToObject(o, "dur", (e->end - e->start) / clock_mhz);
    cJSON *args = cJSON_AddObjectToObject(o, "args");
    cJSON_AddStringToObject(args, "kernel", e->kernel ? e->kernel : "launch");
    cJSON_AddNumberToObject(args, "index", (double)e->index);
    cJSON_AddNumberToObject(args, "modelled_cycles", e->end - e->start);
    return o;
}

/* One end of an arrow. Both ends have the index of the set_flag as their id. */
static cJSON *arrow_of(const ac_model_event *e, double clock_mhz)
{
    const bool wait = e->flag_from != 0;
    cJSON *o = entry(wait ? "f" : "s", "flag", e->core, e->pipe);
    cJSON_AddStringToObject(o, "cat", "flag");
    cJSON_AddNumberToObject(o, "id",
                            (double)(wait ? e->flag_from : e->index) * 64 + (double)e->core);
    cJSON_AddNumberToObject(o, "ts", (wait ? e->end : e->start) / clock_mhz);
    if (wait)
        cJSON_AddStringToObject(o, "bp", "e");
    return o;
}

bool npu_trace_write_json(const npu_trace *t, const char *path, double clock_mhz)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    bool done = fputs("[\n", f) >= 0;
    uint32_t cores = 0;
    for (size_t i = 0; i < t->count; i++)
        cores = t->events[i].core >= cores ? t->events[i].core + 1 : cores;
    for (uint32_t c = 0; c < cores && done; c++)
        done = write_names(f, c);
    for (size_t i = 0; i < t->count && done; i++) {
        const ac_model_event *e = &t->events[i];
        done = print_json(f, span_of(e, clock_mhz), i + 1 < t->count || is_flag(e) ? ",\n" : "\n");
        if (done && is_flag(e))
            done = print_json(f, arrow_of(e, clock_mhz), i + 1 < t->count ? ",\n" : "\n");
    }
    done = done && fputs("]\n", f) >= 0;
    return (fclose(f) == 0) && done;
}

/* ---- picture -------------------------------------------------------------------------------- */

enum { PLOT_WIDTH = 1500, LEFT = 70, TOP = 70, LANE = 44, BAR = 32, COLOURS = 8 };

static const char *const colours[COLOURS] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759",
                                             "#76b7b2", "#edc948", "#b07aa1", "#9c755f"};

/* Kernels get colours in the order of their first appearance. */
typedef struct legend {
    const char *name[COLOURS];
    int count;
} legend;

static int colour_of(legend *l, const char *kernel)
{
    for (int i = 0; i < l->count; i++)
        if (strcmp(l->name[i], kernel) == 0)
            return i;
    if (l->count == COLOURS)
        return COLOURS - 1;
    l->name[l->count] = kernel;
    return l->count++;
}

/* The next event of core 0, from event i on; t->count: there is none. */
static size_t next_of_core_0(const npu_trace *t, size_t i)
{
    while (i < t->count && t->events[i].core)
        i++;
    return i;
}

/* The window shown is one strip: from where the kernel of core 0's middle event began until it
 * starts again. */
static void choose_window(const npu_trace *t, double *begin, double *end)
{
    size_t count = 0, first = 0, seen = 0;
    const char *kernel = NULL;
    for (size_t i = next_of_core_0(t, 0); i < t->count; i = next_of_core_0(t, i + 1))
        count++;
    for (size_t i = next_of_core_0(t, 0); i < t->count && seen <= count / 2;
         i = next_of_core_0(t, i + 1), seen++) {
        first = seen && t->events[i].kernel == kernel ? first : i;
        kernel = t->events[i].kernel;
    }
    bool left = false;
    *begin = *end = count ? t->events[first].start : 0;
    for (size_t i = count ? first : t->count; i < t->count; i = next_of_core_0(t, i + 1)) {
        const ac_model_event *e = &t->events[i];
        left |= e->kernel != kernel;
        if (left && e->kernel == kernel)
            break;
        *end = e->end > *end ? e->end : *end;
    }
}

static void draw_axis(FILE *f, double begin, double end, double clock_mhz)
{
    const int width = PLOT_WIDTH - LEFT - 20;
    for (int p = 0; p < AC_PIPE_ALL; p++)
        fprintf(
            f,
            "<text x='12' y='%d'>%s</text><line x1='%d' x2='%d' y1='%d' y2='%d' stroke='#ddd'/>\n",
            TOP + p * LANE + 21, ac_pipe_name((ac_pipe)p), LEFT, LEFT + width,
            TOP + p * LANE + BAR + 5, TOP + p * LANE + BAR + 5);
    for (int i = 0; i <= 10; i++) {
        const double x = LEFT + width * i / 10.0;
        fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle' fill='#666'>%.1f</text>\n", x,
                TOP + AC_PIPE_ALL * LANE + 14, (end - begin) * i / 10 / clock_mhz);
    }
    fprintf(f, "<text x='%d' y='%d' fill='#666'>microseconds, modelled</text>\n", LEFT,
            TOP + AC_PIPE_ALL * LANE + 34);
}

static void draw_bars(FILE *f, const npu_trace *t, double begin, double end, legend *l)
{
    const double scale = (PLOT_WIDTH - LEFT - 20) / (end > begin ? end - begin : 1);
    for (size_t i = 0; i < t->count; i++) {
        const ac_model_event *e = &t->events[i];
        if (e->core != 0 || is_flag(e) || e->end <= begin || e->start >= end || e->end <= e->start)
            continue;
        const char *kernel = e->kernel ? e->kernel : "launch";
        const double from = e->start > begin ? e->start : begin, to = e->end < end ? e->end : end;
        fprintf(f,
                "<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='%s'><title>%s, %.0f cycles "
                "modelled</title></rect>\n",
                LEFT + (from - begin) * scale, TOP + (int)e->pipe * LANE, (to - from) * scale, BAR,
                colours[colour_of(l, kernel)], e->instruction, e->end - e->start);
    }
}

bool npu_trace_write_plot(const npu_trace *t, const char *path, double clock_mhz)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    double begin, end;
    legend l = {.count = 0};
    choose_window(t, &begin, &end);
    fprintf(
        f,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
        "font-size='14'>\n<rect width='100%%' height='100%%' fill='white'/>\n"
        "<text x='12' y='24' font-size='17'>One strip on AI Core 0 of an Ascend 310, "
        "modelled: %.0f cycles</text>\n",
        PLOT_WIDTH, TOP + AC_PIPE_ALL * LANE + 50, end - begin);
    draw_axis(f, begin, end, clock_mhz);
    draw_bars(f, t, begin, end, &l);
    for (int i = 0; i < l.count; i++) {
        fprintf(f, "<rect x='%d' y='36' width='14' height='14' fill='%s'/><text x='%d' y='48'>",
                LEFT + i * 170, colours[i], LEFT + i * 170 + 20);
        svg_text(f, l.name[i]);
        fputs("</text>\n", f);
    }
    const bool done = fputs("</svg>\n", f) >= 0;
    return (fclose(f) == 0) && done;
}
