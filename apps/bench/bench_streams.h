// SPDX-License-Identifier: Apache-2.0
/* mona bench --streams: several sessions of one model at the same time, each in a thread of its
 * own, which share one copy of the weights. */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include <pthread.h>
#include <stdint.h>
#include <cjson/cJSON.h>

#include "apps/bench/bench_model.h"
#include "apps/bench/live_source.h"
#include "apps/timing/sampling.h"

/* What some streams of a trial took. */

typedef enum capacity_part {
    CAPACITY_DECODE,
    CAPACITY_NETWORK,
    CAPACITY_ENCODE,
    CAPACITY_OTHER,
    CAPACITY_PARTS
} capacity_part;

extern const char *const capacity_part_names[CAPACITY_PARTS];

typedef struct capacity_trial {
    samples times;   /* of all frames from when they were due; INFINITY: it was left out */
    size_t left_out; /* of these */
    double cpu_ms[CAPACITY_PARTS]; /* of a frame */
    double stream_bytes;           /* memory of a stream; 0: unknown */
} capacity_trial;

/* Adds frames that were left out. False, with a message. */
bool capacity_leave_out(capacity_trial *t, size_t frames);

/* "cpu_ms" of a result, and how it is printed: "9.2 ms a frame: network 71 %, encode 25 %". */
void capacity_parts_add(cJSON *result, const double ms[CAPACITY_PARTS]);
void capacity_parts_print(const cJSON *parts);

typedef struct stream_range {
    unsigned first, last; /* how many streams; last 0: none */
} stream_range;

/* Runs several streams at the same time, for each number in the range. Streams take turns in the
 * order in which they ask for one (fair_queue), as many at a time as the cores have room for, so
 * that none gets ahead of another by more than a frame. By default that is one, on all cores.
 *
 * A result (bench_result.h) for the largest number. Its samples are those of all streams together:
 * the time from when a stream has a frame until it is done, including the wait for its turn.
 *   "each"            every stream's statistics, waits and frames a second
 *   "fairness"        the fewest frames of a stream divided by the most
 *   "p99_fairness"    the same for their p99
 *   "arena_bytes"     what the first stream takes
 *   "added_bytes"     what each further stream takes, as planned
 *   "resident_bytes"  how much the process grew for each
 *   "scan"            for a range, a row for each number
 * Streams run for job->how.seconds, or five, or until each has done job->how.iterations frames.
 * NULL, with a message. */
cJSON *bench_streams(const bench_model_job *job, stream_range streams);
/* Streams whose frames come at a camera's pace, each in its own phase. */
typedef struct paced_streams {
    live_pace pace;
    double max_delay_ms; /* later than that, a frame is left out if a newer one has come */
    double seconds;
} paced_streams;

/* Fills a zeroed trial. False, with a message. */
bool bench_streams_paced(const bench_model_job *job, const paced_streams *how, unsigned streams,
                         capacity_trial *trial);

void bench_streams_print(const cJSON *result);

/* Gives turns in the order of requests: the thread that has waited longest goes next, whatever the
 * system's scheduler would choose. Without this, streams that share a machine under load drift
 * apart. */

typedef struct fair_queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t tickets, left; /* drawn so far; turns that have ended */
    unsigned places;        /* turns that may run at the same time */
} fair_queue;

/* places: at least 1. */
void fair_queue_open(fair_queue *t, unsigned places);
void fair_queue_close(fair_queue *t);

/* Draws a ticket. Every ticket must be used. */
uint64_t fair_queue_draw(fair_queue *t);
/* Waits until all but places - 1 of the turns before the ticket's have ended. */
void fair_queue_enter(fair_queue *t, uint64_t ticket);
void fair_queue_leave(fair_queue *t);

#endif
