// SPDX-License-Identifier: Apache-2.0
/* mona bench --capacity for each of what it measures. All print the result of bench_capacity with
 *   "kind": "capacity", "name" (of the machine), "size" (of a frame that comes in)
 *   "model": of the network alone; else "tier", "networks", and "stages" and "model" as given
 *   "device": as given
 *   "frame_ms": of a modelled chip
 * and return the exit status: EXIT_FAILED if not even one stream holds. */
#ifndef CAPACITY_H
#define CAPACITY_H

#include "apps/bench/bench_options.h"

/* The network alone, on this machine or a modelled chip. */
int capacity_of_model(const bench_request *b, const bench_model_job *job, mona_size size);

#ifndef MONA_NO_VIDEO
#include "apps/bench/live_source.h"

/* Whole pipelines. live: runs one of them, as bench_live does. */
typedef cJSON *capacity_live(const bench_request *b, const job *j, double seconds, live_gate *gate,
                             unsigned camera);
int capacity_of_pipeline(const bench_request *b, const job *j, capacity_live *live);
#endif

#endif
