// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/modelled_report.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"
#include "formats/blocks.h"

enum { MAX_EVENTS = 1 << 19 };

static bool is_flag(const ac_model_event *e)
{
    return strcmp(e->instruction, "set_flag") == 0 || strcmp(e->instruction, "wait_flag") == 0;
}

void npu_trace_record(void *trace, const ac_model_event *event)
{
    npu_trace *t = trace;
    if (t->count < MAX_EVENTS &&
        list_grow((void **)&t->events, &t->room, t->count, sizeof *t->events))
        t->events[t->count++] = *event;
    else
        t->full = true;
}

void npu_trace_free(npu_trace *t)
{
    free(t->events);
    *t = (npu_trace){0};
}

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
    JSON_ADD(o, TEXT("ph", phase), TEXT("name", name), NUMBER("pid", core), NUMBER("tid", pipe));
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
    JSON_ADD(o, TEXT("cat", e->kernel ? e->kernel : "launch"), NUMBER("ts", e->start / clock_mhz),
             NUMBER("dur", (e->end - e->start) / clock_mhz));
    cJSON *args = cJSON_AddObjectToObject(o, "args");
    JSON_ADD(args, TEXT("kernel", e->kernel ? e->kernel : "launch"), NUMBER("index", e->index),
             NUMBER("modelled_cycles", e->end - e->start));
    return o;
}

/* One end of an arrow. Both ends have the index of the set_flag as their id. */
static cJSON *arrow_of(const ac_model_event *e, double clock_mhz)
{
    const bool wait = e->flag_from != 0;
    cJSON *o = entry(wait ? "f" : "s", "flag", e->core, e->pipe);
    JSON_ADD(o, TEXT("cat", "flag"),
             NUMBER("id", (double)(wait ? e->flag_from : e->index) * 64 + (double)e->core),
             NUMBER("ts", (wait ? e->end : e->start) / clock_mhz));
    if (wait)
        cJSON_AddStringToObject(o, "bp", "e");
    return o;
}

bool npu_trace_write(const npu_trace *t, const char *path, double clock_mhz)
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
