// SPDX-License-Identifier: Apache-2.0
/* mona bench --pipeline: a frame's whole way, from the decoder through every stage to the
 * encoder. */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

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

#endif
