// SPDX-License-Identifier: Apache-2.0
/* mona bench --capacity: how many streams a machine holds. */
#ifndef BENCH_CAPACITY_H
#define BENCH_CAPACITY_H

#include <cjson/cJSON.h>

#include "apps/bench/capacity_trial.h"

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

#endif
