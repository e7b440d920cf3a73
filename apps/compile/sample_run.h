// SPDX-License-Identifier: Apache-2.0
/* Runs a compiled model on samples of real values. */
#ifndef MONA_SAMPLE_RUN_H
#define MONA_SAMPLE_RUN_H

#include "formats/compiler/graph/reference.h"
#include "pipeline/stages/session_binding.h"
#include "apps/compile/arrays.h"

typedef struct sample_run {
    mona_model model;
    const char *name; /* for messages */
    mona_config config;
    session_binding bound; /* for the sizes in config */
    plan_planes planes;
} sample_run;

/* bytes must start at a multiple of MONA_ALIGNMENT and outlive the run. sample_run_close releases
 * what there is, whether it succeeds or not. */
bool sample_run_open(sample_run *r, const uint8_t *bytes, size_t size, const char *name,
                     pipeline_error *error);
void sample_run_close(sample_run *r);

/* Leaves the outputs in r->planes.out. The model is bound again when sizes change. */
bool sample_run_next(sample_run *r, const reference_array *inputs, pipeline_error *error);

/* Whether the planes hold integers times a scale. */
bool sample_run_is_int(const planes *p);

/* The value closest to `value` that the planes can hold. Only what other causes of an error are may
 * be judged by it: how good a model is, is judged by what comes out. */
double sample_run_held(const planes *p, double value);

#endif
