// SPDX-License-Identifier: Apache-2.0
/* A session on planes of noise, for benchmarks. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/bench/bench_planes.h"
#include "apps/timing/sampling.h"
#include "pipeline/stages/session_binding.h"

typedef struct bench_session {
    const char *name; /* of the model, for messages */
    session_binding bound;
    bench_planes planes;
} bench_session;

/* False, with a message. Close it in any case. name must outlive it. */
bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config);
/* Runs a frame. False, with a message. */
bool bench_session_run(bench_session *s);
/* Takes times of frames, as samples_take does. */
bool bench_session_sample(bench_session *s, const sampling *how, samples *times);
void bench_session_close(bench_session *s);

#endif
