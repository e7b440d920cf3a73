// SPDX-License-Identifier: Apache-2.0
/* Models and sessions that many tests open. Include after cmocka.h. */
#ifndef MONA_TESTS_FIXTURE_H
#define MONA_TESTS_FIXTURE_H

#include "tests/unit/sr_net.h"

static inline void *aligned(size_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/* A random super-resolution network, as its reference and as a model. */
typedef struct net_fixture {
    sr_net *net;
    uint8_t *bytes;
    mona_model model;
} net_fixture;

static inline net_fixture net_open_scaled(int channels, int body, int scale, uint32_t seed)
{
    net_fixture f = {.net = sr_net_new(channels, body, scale, seed)};
    size_t size;
    f.bytes = sr_net_model(f.net, &size);
    assert_int_equal(mona_model_open(&f.model, f.bytes, size), MONA_OK);
    return f;
}

static inline net_fixture net_open(int channels, int body, uint32_t seed)
{
    return net_open_scaled(channels, body, 2, seed);
}

static inline void net_close(net_fixture *f)
{
    free(f->bytes), free(f->net);
}

/* Converts *model to one for planes of this many bits. Returns the memory it then refers to, to be
 * freed. */
static inline void *deepened(mona_model *model, unsigned bits)
{
    const mona_model shallow = *model;
    const size_t bytes = mona_model_deep_bytes(&shallow);
    void *memory = aligned(bytes);
    assert_int_equal(mona_model_deepen(model, memory, bytes, &shallow, bits), MONA_OK);
    return memory;
}

/* A model bound to a size, with its memory. */
typedef struct bound {
    void *plan_memory, *arena;
    mona_plan *plan;
    mona_session *session;
} bound;

static inline void unbind(bound *b)
{
    mona_session_close(b->session);
    free(b->plan_memory), free(b->arena);
}

/* Releases everything on failure, and returns the status. */
static inline mona_status bind(bound *b, const mona_model *model, const mona_config *config)
{
    *b = (bound){.plan_memory = aligned(mona_plan_bytes(model))};
    mona_status status = mona_plan_make(&b->plan, b->plan_memory, model, config);
    if (!status) {
        b->arena = aligned(mona_plan_arena_bytes(b->plan));
        status = mona_session_open(&b->session, b->plan, b->arena, mona_plan_arena_bytes(b->plan));
    }
    if (status)
        unbind(b);
    return status;
}

#endif
