// SPDX-License-Identifier: Apache-2.0
/* mona bench --pipeline --live: the lateness of a camera's frames, as in mona enhance --live. */
#ifndef BENCH_LIVE_H
#define BENCH_LIVE_H

#include <cjson/cJSON.h>

#include "apps/bench/bench_pipeline.h"
#include "apps/bench/live_source.h"

/* A result (bench_result.h) whose samples are, for each frame that went out, the time from the
 * moment at which the source was due to send its packet until its own packet was written, whoever
 * it waited for in between. The frames of the first second warm up, if the job has no other
 * warm-up. In addition:
 *   "arrived", "frames", "dropped"  of all frames; the first is the sum of the others
 *   "source_fps", "jitter_ms", "late_ms", "late_every", "burst", "burst_every": the pace
 *   "max_delay_ms"  how late a frame may be before it is left out
 *   "expected"      frames that came after the warm-up: samples, and those that were left out
 *   "cpu_ms"        CPU time of a frame: decode, network, encode, and the rest of the process
 *   "stream_bytes"  memory of the process after the warm-up, its share of what processes share
 * gate: of a stream among others of which each is a process of its own, `camera` of them (NULL: it
 * is alone). Its video goes to stdout, and job->enhance's input is a file. All of them warm up
 * alone first, then together.
 * NULL, with a message. */
cJSON *bench_live(const bench_pipeline_job *job, const live_pace *pace, live_gate *gate,
                  unsigned camera);
void bench_live_print(const cJSON *result);

#endif
