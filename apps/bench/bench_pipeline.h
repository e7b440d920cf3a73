// SPDX-License-Identifier: Apache-2.0
/* mona bench --pipeline: a frame's whole way, from the decoder through every stage to the
 * encoder. */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "apps/bench/live_source.h"
#include "apps/cli/save.h"
#include "mona.h"
#include "pipeline/enhance.h"

typedef struct bench_pipeline_job {
    /* As for mona enhance. input: a file, or "synthetic": frames of noise and gradients, which are
     * generated first. Output, frames and probe must not be set; the benchmark sets them. */
    const job *enhance;
    mona_size size;   /* of synthetic frames */
    long frames;      /* maximum; 0: as many as the time allows */
    long warm_up;     /* negative: a quarter of the frames, at most ten */
    double seconds;   /* after the warm-up; 0: no limit */
    bool layers;      /* also stages operator by operator */
    double fps;       /* of the source; 0: frames as fast as they are taken */
    double budget_ms; /* 0: the time from frame to frame, or none when unpaced */
    double percentile;
} bench_pipeline_job;

/* A result (bench_result.h) whose samples are the times from a frame's arrival until the encoder
 * has taken it. In addition to what all results have and to what enhance_describe adds:
 *   "steps"     work, wait before it, and queue of decoding, uploading, every stage and encoding;
 *               for each frame works and waits add up to its time
 *   "interval"  statistics of the time between finished frames, "fps", "jitter_ms"
 *   "deadline"  budget, misses, longest run of misses, and which frames missed it
 *   "layers"    for each "stage", rows of layer_log.h; shares are of the stage's work
 *   "timeline"  begin and end of every step of every frame, in ms
 * NULL, with a message. */
cJSON *bench_pipeline(const bench_pipeline_job *job);
void bench_pipeline_print(const cJSON *result);

/* What any run of the pipeline was, and how it begins when it is printed. kind: of the result;
 * pace: of the source. */
void bench_pipeline_describe(cJSON *result, const char *kind, const job *settings,
                             const enhance_report *report);
void bench_pipeline_print_run(const cJSON *result, const char *pace);

/* Whether the frames are to be generated. */
bool bench_pipeline_synthetic(const bench_pipeline_job *job);

/* A folder for the files that a benchmark of the pipeline reads and writes, and synthetic clips in
 * it. */

typedef struct bench_clip {
    temp_folder folder;
    char frames[TEMP_FOLDER_PATH], input[TEMP_FOLDER_PATH]; /* input: what to open for reading
                                                               the frames */
    char output[TEMP_FOLDER_PATH];
} bench_clip;

/* False, with a message. Close it in any case. */
bool bench_clip_open(bench_clip *c);

/* Writes `frames` frames of gradients and noise, which are played repeatedly, `plays` frames in
 * all. fps 0: 30. */
bool bench_clip_make(bench_clip *c, mona_size size, long frames, long plays, double fps);

/* Removes everything. */
void bench_clip_close(bench_clip *c);

/* mona bench --pipeline --live: the lateness of a camera's frames, as in mona enhance --live. */

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
