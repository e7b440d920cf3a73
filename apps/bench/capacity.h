// SPDX-License-Identifier: Apache-2.0
/* mona bench --capacity for each of what it measures. All print the result of bench_capacity with
 *   "kind": "capacity", "name" (of the machine), "size" (of a frame that comes in)
 *   "model": of the network alone; else "tier", "networks", and "stages" and "model" as given
 *   "device": as given
 *   "frame_ms": of a modelled chip
 * and return the exit status: EXIT_FAILED if not even one stream holds. */
#ifndef CAPACITY_H
#define CAPACITY_H

#include <cjson/cJSON.h>

#include "apps/bench/bench_options.h"
#include "apps/bench/bench_streams.h"
#include "apps/bench/live_source.h"

/* The network alone, on this machine or a modelled chip. */
int capacity_of_model(const bench_request *b, const bench_model_job *job, mona_size size);

#ifndef MONA_NO_VIDEO
#include "apps/bench/live_source.h"

/* Whole pipelines. live: runs one of them, as bench_live does. */
typedef cJSON *capacity_live(const bench_request *b, const job *j, double seconds, live_gate *gate,
                             unsigned camera);
int capacity_of_pipeline(const bench_request *b, const job *j, capacity_live *live);
#endif

/* mona bench --capacity: how many streams a machine holds. */

enum { CAPACITY_SECONDS = 60 }; /* of the runs that count, unless --duration says otherwise */

typedef struct capacity_job {
    /* Runs so many streams, and fills a zeroed trial, which the caller frees. False: they could not
     * be run, and why was printed. */
    bool (*run)(void *context, unsigned streams, double seconds, capacity_trial *trial);
    void *context;
    double seconds, budget_ms, percentile, fps;
    double free_bytes; /* for all streams; 0: unknown */
    unsigned cores;    /* that do the work of all; 0: unknown */
    bool modelled;     /* of chips: nothing is run, so nothing is told meanwhile */
} capacity_job;

/* Looks for the largest number of streams of which at most 100 - percentile per cent of all frames
 * are done later than budget_ms after they were due, or are left out. Short runs find it; then it
 * is run for job->seconds, as are a fifth more streams, which must fail.
 *
 * Adds to the result:
 *   "streams"       the number; 0: not even one
 *   "fps", "budget" {"percentile", "ms"}, "seconds"
 *   "confirmed"     its run: "streams", "seconds", "frames", "left_out", "p50_ms", "p99_ms" (or
 *                   of another percentile; null: that frame was left out), "max_ms", "holds",
 *                   "others" (CPUs that other programs took); absent for 0 streams
 *   "over"          the same for a fifth more
 *   "trials"        all runs, in order
 *   "bound"         what keeps it from holding more: "decode", "network", "encode" or "memory"
 *   "cpu_ms"        CPU time of a frame, by the same parts and "other"
 *   "stream_bytes", "free_bytes"  memory of a stream; what there was before the first
 *   "thousand"      {"streams": 1000, "machines" or "chips"}: how many hold a thousand streams
 * False, with a message: one stream cannot be run. Each run is told on stderr. */
bool bench_capacity(cJSON *result, const capacity_job *job);

/* A result that has "name", "size", and "model" or "networks", too. */
void bench_capacity_print(const cJSON *result);

/* Streams of a modelled chip, for mona bench --capacity: the chip computes one frame after another,
 * each in the modelled time. Nothing waits for real. */

typedef struct capacity_modelled {
    paced_streams streams; /* without seconds */
    double frame_ms;
} capacity_modelled;

/* A capacity_job.run; context: a capacity_modelled. */
bool capacity_modelled_run(void *context, unsigned streams, double seconds, capacity_trial *trial);

/* Streams of a trial as they run as services: each in a process of its own. */

/* Runs the pipeline of stream number `camera` in its process: a result of bench_live. NULL, with a
 * message. */
typedef cJSON *capacity_stream(void *context, live_gate *gate, unsigned camera);

/* Fills a zeroed trial. *first: the result of the first stream, to be deleted by the caller, or
 * NULL. Of more than one stream, messages are not shown. False: one has failed. */
bool capacity_processes_run(capacity_stream *stream, void *context, unsigned streams,
                            capacity_trial *trial, cJSON **first);

#endif
