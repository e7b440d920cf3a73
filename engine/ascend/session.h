// SPDX-License-Identifier: Apache-2.0
/* Sessions on the chip: a model's program in the chip's memory, planes there for frames that are in
 * host memory, and a stream. session.c opens them, session_run.c runs them. */
#ifndef MONA_ASCEND_SESSION_H
#define MONA_ASCEND_SESSION_H

#include "engine/ascend/kernel/words.h"
#include "engine/ascend/acl.h"
#include "engine/run/device.h"
#include "engine/run/session.h"

/* Sessions that run the AI Core programs of models. */
extern const mona_ai_core ascend_ai_core;

/* Tables of addresses, each for a frame in other planes of the chip. */
enum { SESSION_TABLES = 4 };

/* In the first core's region. Offsets count from memory. */
typedef struct chip_session {
    uint8_t *memory;
    ascend_stream stream;
    const ascend_kernel *kernel;
    uint32_t next_table;
    size_t constants, buffers[AC_SPACES - AC_GM], tables[SESSION_TABLES], end;
    uint64_t table[SESSION_TABLES][WORDS_BASES]; /* what is there */
    struct {
        size_t words, arguments[SESSION_TABLES];
        bool sent; /* of an operator on arrays: AI Cores read what the CPU computes */
    } segment[];
} chip_session;

static inline chip_session *chip_session_of(const mona_session *s)
{
    return (chip_session *)(void *)(s->workers[0].region + s->plan->device_offset);
}

/* Of bytes of its memory. */
static inline uint64_t chip_session_address(const chip_session *c, size_t at)
{
    return (uint64_t)(uintptr_t)(c->memory + at);
}

static inline mona_status chip_session_send(const chip_session *c, size_t at, const void *bytes,
                                            size_t size)
{
    return size ? ascend_upload(c->memory + at, size, bytes, (ptrdiff_t)size, size, 1) : MONA_OK;
}

mona_status chip_session_run(mona_session *session);

#endif
