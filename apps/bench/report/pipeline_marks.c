// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/pipeline_marks.h"

#include <math.h>
#include <stdlib.h>

#include "apps/bench/report/bench_result.h"
#include "apps/cli/options.h"
#include "apps/cli/json_output.h"

bool pipeline_marks_open(pipeline_marks *m, size_t capacity, const stage_kind *kinds,
                         unsigned count)
{
    *m = (pipeline_marks){.capacity = capacity};
    m->steps = chain_name_steps(m->names, kinds, count);
    m->arrival = calloc(capacity, sizeof *m->arrival);
    m->marks = calloc(capacity * CHAIN_MAX_STEPS, sizeof *m->marks);
    return m->arrival && m->marks;
}

void pipeline_marks_close(pipeline_marks *m)
{
    free(m->arrival);
    free(m->marks);
    *m = (pipeline_marks){0};
}

/* ---- a frame's ------------------------------------------------------------------------------- */

static double ms_between(uint64_t from, uint64_t to)
{
    return 1e-6 * (double)(int64_t)(to - from);
}

static uint64_t done_at(const pipeline_marks *m, size_t frame)
{
    return pipeline_mark(m, frame, m->steps - 1)->end;
}

double pipeline_frame_ms(const pipeline_marks *m, size_t frame)
{
    return ms_between(m->arrival[frame], done_at(m, frame));
}

double pipeline_work_ms(const pipeline_marks *m, size_t frame, unsigned step)
{
    const step_mark *s = pipeline_mark(m, frame, step);
    return ms_between(s->begin, s->end);
}

/* When a frame is ready for a step: when the step before has ended, or when the frame has
 * arrived. */
static uint64_t ready_at(const pipeline_marks *m, size_t frame, unsigned step)
{
    return step ? pipeline_mark(m, frame, step - 1)->end : m->arrival[frame];
}

double pipeline_wait_ms(const pipeline_marks *m, size_t frame, unsigned step)
{
    return ms_between(ready_at(m, frame, step), pipeline_mark(m, frame, step)->begin);
}

unsigned pipeline_queue(const pipeline_marks *m, size_t frame, unsigned step)
{
    const uint64_t now = pipeline_mark(m, frame, step)->begin;
    unsigned queue = 1;
    while (frame + queue < m->count && ready_at(m, frame + queue, step) <= now)
        queue++;
    return queue;
}

deadline_misses pipeline_misses(const pipeline_marks *m, double budget_ms)
{
    deadline_misses found = {0};
    size_t run = 0;
    for (size_t f = m->first; f < m->count; f++) {
        run = pipeline_frame_ms(m, f) > budget_ms ? run + 1 : 0;
        found.misses += run > 0;
        found.longest_run = run > found.longest_run ? run : found.longest_run;
    }
    return found;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static bool add_step(cJSON *list, const pipeline_marks *m, unsigned step, double *values)
{
    const size_t frames = m->count - m->first;
    double queues = 0, longest = 0;
    cJSON *o = json_add_object(list);
    cJSON_AddStringToObject(o, "name", m->names[step]);
    for (size_t i = 0; i < frames; i++) {
        const unsigned queue = pipeline_queue(m, m->first + i, step);
        values[i] = pipeline_work_ms(m, m->first + i, step);
        queues += queue;
        longest = queue > longest ? queue : longest;
    }
    if (!result_add_statistics(cJSON_AddObjectToObject(o, "work"), values, frames))
        return false;
    for (size_t i = 0; i < frames; i++)
        values[i] = pipeline_wait_ms(m, m->first + i, step);
    JSON_ADD(o, ROUNDED("queue_mean", queues / (double)frames), ROUNDED("queue_max", longest));
    return result_add_statistics(cJSON_AddObjectToObject(o, "wait"), values, frames);
}

/* Jitter is how far frames are from regular intervals, root mean square: from the source's period,
 * or without one from their own mean. */
static bool add_intervals(cJSON *result, const pipeline_marks *m, double period_ms, double *values)
{
    const size_t count = m->count - m->first - 1;
    const double whole = ms_between(done_at(m, m->first), done_at(m, m->count - 1));
    const double beat = period_ms > 0 ? period_ms : whole / (double)count;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = ms_between(done_at(m, m->first + i), done_at(m, m->first + i + 1));
        squares += (values[i] - beat) * (values[i] - beat);
    }
    JSON_ADD(result, ROUNDED("fps", 1e3 * (double)count / whole),
             ROUNDED("jitter_ms", sqrt(squares / (double)count)));
    return result_add_statistics(cJSON_AddObjectToObject(result, "interval"), values, count);
}

static void add_deadline(cJSON *result, const pipeline_marks *m, double budget_ms)
{
    const deadline_misses found = pipeline_misses(m, budget_ms);
    cJSON *o = cJSON_AddObjectToObject(result, "deadline");
    JSON_ADD(o, ROUNDED("deadline_ms", budget_ms), NUMBER("misses", found.misses),
             NUMBER("longest_run", found.longest_run));
    cJSON *frames = cJSON_AddArrayToObject(o, "frames");
    for (size_t f = m->first; f < m->count; f++)
        if (pipeline_frame_ms(m, f) > budget_ms)
            cJSON_AddItemToArray(frames, cJSON_CreateNumber((double)(f - m->first)));
}

/* For each frame: its arrival, then begin and end of every step, relative to the first arrival. */
static void add_timeline(cJSON *result, const pipeline_marks *m)
{
    cJSON *list = cJSON_AddArrayToObject(result, "timeline");
    const uint64_t start = m->arrival[m->first];
    for (size_t f = m->first; f < m->count; f++) {
        double row[2 * CHAIN_MAX_STEPS + 1];
        row[0] = ms_between(start, m->arrival[f]);
        for (unsigned s = 0; s < m->steps; s++) {
            row[1 + 2 * s] = ms_between(start, pipeline_mark(m, f, s)->begin);
            row[2 + 2 * s] = ms_between(start, pipeline_mark(m, f, s)->end);
        }
        cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(row, (int)(2 * m->steps + 1)));
    }
}

bool pipeline_marks_add(cJSON *result, const pipeline_marks *m, double period_ms, double budget_ms)
{
    double *values = malloc((m->count - m->first) * sizeof *values);
    bool done = values || cli_fail(0, "out of memory");
    cJSON *steps = cJSON_AddArrayToObject(result, "steps");
    for (unsigned s = 0; s < m->steps && done; s++)
        done = add_step(steps, m, s, values);
    done = done && add_intervals(result, m, period_ms, values);
    if (done && budget_ms > 0)
        add_deadline(result, m, budget_ms);
    if (done)
        add_timeline(result, m);
    free(values);
    return done;
}
