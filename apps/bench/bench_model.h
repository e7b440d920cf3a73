// SPDX-License-Identifier: Apache-2.0
/* mona bench MODEL on the host: one model on one frame after another. */
#ifndef BENCH_MODEL_H
#define BENCH_MODEL_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/bench/bench_session.h"
#include "apps/timing/sampling.h"
#include "pipeline/stages/stage_settings.h"

typedef struct bench_model_job {
    const char *name;
    const mona_model *model;
    const mona_config *config;
    const device_set *devices; /* config has the first */
    sampling how;
    double percentile; /* the percentile that will be asked about; 0: none */
    bool layers;       /* also operator by operator */
    bool advise;       /* also report/advice.h */
} bench_model_job;

/* A result (bench_result.h), NULL with a message. */
cJSON *bench_model(const bench_model_job *job);
void bench_model_print(const cJSON *result);

#endif
