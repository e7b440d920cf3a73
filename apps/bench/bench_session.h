// SPDX-License-Identifier: Apache-2.0
/* A session on planes of noise, for benchmarks. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/bench/bench_planes.h"
#include "pipeline/stages/session_binding.h"

typedef struct bench_session {
    const mona_device *device; /* NULL: the host */
    session_binding bound;
    bench_planes planes;
} bench_session;

/* False, with a message. Close it in any case. name is for messages. */
bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config);
bool bench_session_run(bench_session *s, const char *name);
void bench_session_close(bench_session *s);

#endif
