/* A session on planes of noise, for benchmarks. */
#ifndef BENCH_SESSION_H
#define BENCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "mona.h"

typedef struct bench_session {
    void *plan_memory, *arena;
    mona_plan *plan;
    mona_session *session;
    uint8_t *planes[2 * MONA_MAX_IO]; /* of inputs, then of outputs */
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
} bench_session;

/* False, with a message: it cannot be had. Close it in any case; name is for messages. */
bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config);
bool bench_session_run(bench_session *s, const char *name);
void bench_session_close(bench_session *s);

/* Of all output planes, and of all input planes. */
uint32_t bench_session_crc(const bench_session *s, const mona_model *model);
uint32_t bench_session_input_crc(const bench_session *s, const mona_model *model);
/* Of both. */
size_t bench_session_plane_bytes(const bench_session *s, const mona_model *model);

#endif
