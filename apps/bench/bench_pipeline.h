// SPDX-License-Identifier: Apache-2.0
/* mona bench --pipeline: the whole way of a frame, from the decoder through every stage to the
 * encoder. */
#ifndef BENCH_PIPELINE_H
#define BENCH_PIPELINE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "pipeline/enhance.h"

typedef struct bench_pipeline_job {
    /* As mona enhance has it. input: a file, or "synthetic": frames of noise and gradients, made up
     * first. No output, frames or probe: these are the benchmark's. */
    const enhance_settings *enhance;
    mona_size size;   /* of synthetic frames */
    long frames;      /* at most; 0: as many as the time allows */
    long warm_up;     /* negative: a quarter of the frames, at most ten */
    double seconds;   /* after the warm-up; 0: any time */
    bool layers;      /* stages operator by operator, too */
    double fps;       /* of the source; 0: frames as fast as they are taken */
    double budget_ms; /* 0: the time from frame to frame, or none when unpaced */
    double percentile;
} bench_pipeline_job;

/* A result (bench_result.h) whose samples are the times from a frame's arrival to the moment the
 * encoder has taken it. Beside what all results have, and what enhance_describe tells:
 *   "steps"     work, wait before it, and queue of decoding, uploading, every stage and encoding:
 *               for each frame works and waits add up to its time
 *   "interval"  statistics of the time between frames done, "fps", "jitter_ms"
 *   "deadline"  budget, misses, longest run of misses, and which frames they are
 *   "layers"    of each "stage", rows of layer_log.h; shares are of the stage's work
 *   "timeline"  begin and end of every step of every frame, in ms
 * NULL, with a message. */
cJSON *bench_pipeline(const bench_pipeline_job *job);
void bench_pipeline_print(const cJSON *result);

#endif
