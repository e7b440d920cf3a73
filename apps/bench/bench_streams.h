// SPDX-License-Identifier: Apache-2.0
/* mona bench --streams: several sessions of one model at once, each in a thread of its own, with
 * one copy of the weights between them. */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include "apps/bench/bench_model.h"

typedef struct stream_range {
    unsigned first, last; /* how many streams; last 0: none */
} stream_range;

/* Runs so many streams at once, for each number in the range. Streams take turns in the order they
 * ask (fair_queue.h), as many at once as the cores have room for, so that none gets ahead of
 * another by more than a frame; by default one, on all cores.
 *
 * A result (bench_result.h), of the largest number, whose samples are those of all streams
 * together: from when a stream has a frame until it is done, the wait for its turn included. "each"
 * has every stream's statistics, waits and frames a second; "fairness" the fewest frames of a
 * stream over the most, "p99_fairness" the same of their p99; "arena_bytes" what the first stream
 * takes, "added_bytes" what each further one does as planned, "resident_bytes" by how much the
 * process grew for each; "scan", of a range, a row for each number. Streams run for
 * job->how.seconds, or five, or until each has made job->how.iterations. NULL, with a message.
 */
cJSON *bench_streams(const bench_model_job *job, stream_range streams);
void bench_streams_print(const cJSON *result);

#endif
