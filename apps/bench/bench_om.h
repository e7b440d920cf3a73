// SPDX-License-Identifier: Apache-2.0
/* mona bench NET.om: a model from the vendor's compiler on frames of noise. */
#ifndef BENCH_OM_H
#define BENCH_OM_H

#include <cjson/cJSON.h>

#include "apps/timing/sampling.h"
#include "pipeline/stages/stage.h"

typedef struct bench_om_job {
    const named_model *model;
    const mona_device *device;
    mona_size size; /* where the model leaves it open; 0: its first */
    sampling how;
    double percentile; /* as of bench_model_job */
} bench_om_job;

/* A result (bench_result.h): "upload_ms", "run_ms" and "download_ms" are medians of a frame's
 * steps, one after another; "overlapped_ms" is the time of a frame while others are in work. NULL,
 * with a message. */
cJSON *bench_om(const bench_om_job *job);
void bench_om_print(const cJSON *result);

#endif
