// SPDX-License-Identifier: Apache-2.0
/* When every step of every frame began and ended, as a probe saw it, and figures derived from
 * that. */
#ifndef PIPELINE_MARKS_H
#define PIPELINE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "pipeline/stages/chain.h"

/* Nanoseconds of one clock. arrival: when the source had the frame. Steps are marks[frame *
 * CHAIN_MAX_STEPS + step]. */
typedef struct step_mark {
    uint64_t begin, end;
} step_mark;

typedef struct pipeline_marks {
    uint64_t *arrival; /* [capacity] */
    step_mark *marks;
    size_t first, count, capacity; /* frames [first, count) are evaluated */
    unsigned steps;
    const char *names[CHAIN_MAX_STEPS];
} pipeline_marks;

/* For frames that go through these stages. False: out of memory. */
bool pipeline_marks_open(pipeline_marks *m, size_t capacity, const stage_kind *kinds,
                         unsigned count);
void pipeline_marks_close(pipeline_marks *m);

static inline step_mark *pipeline_mark(const pipeline_marks *m, size_t frame, unsigned step)
{
    return &m->marks[frame * CHAIN_MAX_STEPS + step];
}

/* The time of a frame, of a step's work on it, and of the wait before that work, in ms. Over all
 * steps, work and wait add up to the frame's time. */
double pipeline_frame_ms(const pipeline_marks *m, size_t frame);
double pipeline_work_ms(const pipeline_marks *m, size_t frame, unsigned step);
double pipeline_wait_ms(const pipeline_marks *m, size_t frame, unsigned step);

/* Frames that waited for a step when it began with this one, including this one. */
unsigned pipeline_queue(const pipeline_marks *m, size_t frame, unsigned step);

/* Frames whose time is above the budget, and the longest run of such frames. */
typedef struct deadline_misses {
    size_t misses, longest_run;
} deadline_misses;
deadline_misses pipeline_misses(const pipeline_marks *m, double budget_ms);

/* The same as JSON: "steps", "interval", "fps", "jitter_ms", "deadline", "timeline". period_ms:
 * that of the source; 0: the source does not wait. budget_ms 0: no deadline. False, with a message:
 * out of memory. */
bool pipeline_marks_add(cJSON *result, const pipeline_marks *m, double period_ms, double budget_ms);

/* The timeline of a pipeline (bench_pipeline.h) in Chrome's trace format, which Perfetto and
 * chrome://tracing open: a thread for every step, an arrow along every frame. False, with a
 * message. */
bool pipeline_trace_save(const cJSON *result, const char *path);

#endif
