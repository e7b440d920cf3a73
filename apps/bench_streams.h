/* mona bench --streams: several sessions of one model at once, each in a thread of its own, with
 * one copy of the weights between them. */
#ifndef BENCH_STREAMS_H
#define BENCH_STREAMS_H

#include "bench_model.h"

/* A result (bench_result.h) whose samples are those of all streams together. "streams" has each
 * stream's statistics and frames a second; "fairness" the fewest frames of a stream over the most;
 * "arena_bytes" what the first stream takes, "added_bytes" what each further one does as planned,
 * "resident_bytes" by how much the process grew for each. Streams run for job->how.seconds, or
 * five, or until the first has made job->how.iterations. NULL, with a message. */
cJSON *bench_streams(const bench_model_job *job, unsigned streams);
void bench_streams_print(const cJSON *result);

#endif
