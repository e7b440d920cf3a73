// SPDX-License-Identifier: Apache-2.0
/* Streams of a trial as they run as services: each in a process of its own. */
#ifndef CAPACITY_PROCESSES_H
#define CAPACITY_PROCESSES_H

#include "apps/bench/capacity_trial.h"
#include "apps/bench/live_source.h"

/* Runs the pipeline of stream number `camera` in its process: a result of bench_live. NULL, with a
 * message. */
typedef cJSON *capacity_stream(void *context, live_gate *gate, unsigned camera);

/* Fills a zeroed trial. *first: the result of the first stream, to be deleted by the caller, or
 * NULL. Of more than one stream, messages are not shown. False: one has failed. */
bool capacity_processes_run(capacity_stream *stream, void *context, unsigned streams,
                            capacity_trial *trial, cJSON **first);

#endif
