// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/pipeline_marks.h"

#include <stdio.h>

#include "apps/cli/save.h"
#include "apps/cli/json_output.h"

static double at(const cJSON *row, unsigned index)
{
    return 1e3 * cJSON_GetArrayItem(row, (int)index)->valuedouble; /* microseconds */
}

/* The names are mona's own and need no escaping. */
static void put_threads(FILE *f, const cJSON *result)
{
    const cJSON *step;
    unsigned thread = 0;
    cJSON_ArrayForEach(step, json_get(result, "steps"))
        fprintf(f,
                "{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
                "\"%s\"}},\n",
                thread++, json_string(step, "name"));
}

/* Writes a step of a frame, and the arrow from the step before: `s` starts it, `t` continues it,
 * `f` ends it. */
static void put_step(FILE *f, const cJSON *row, unsigned frame, unsigned step, unsigned steps,
                     const char *name)
{
    const double begin = at(row, 1 + 2 * step), end = at(row, 2 + 2 * step);
    const char arrow = step == 0 ? 's' : step + 1 == steps ? 'f' : 't';
    fprintf(f,
            "{\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s "
            "%u\",\"args\":{\"frame\":%u,\"waited_us\":%.3f}},\n",
            step, begin, end - begin, name, frame, frame, begin - at(row, 2 * step));
    fprintf(f,
            "{\"ph\":\"%c\",\"pid\":0,\"tid\":%u,\"ts\":%.3f,\"id\":%u,\"cat\":\"frame\",\"name\":"
            "\"frame\",\"bp\":\"e\"},\n",
            arrow, step, begin + (end - begin) / 2, frame);
}

static void put_trace(FILE *f, const cJSON *result)
{
    const cJSON *row, *steps = json_get(result, "steps");
    const unsigned count = (unsigned)cJSON_GetArraySize(steps);
    unsigned frame = 0;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
    put_threads(f, result);
    cJSON_ArrayForEach(row, json_get(result, "timeline"))
    {
        for (unsigned s = 0; s < count; s++)
            put_step(f, row, frame, s, count,
                     json_get(cJSON_GetArrayItem(steps, (int)s), "name")->valuestring);
        frame++;
    }
    fputs("{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"mona\"}}]}\n", f);
}

bool pipeline_trace_save(const cJSON *result, const char *path)
{
    text_file t;
    text_file_begin(&t);
    if (t.f)
        put_trace(t.f, result);
    return text_file_save(&t, true, path);
}
