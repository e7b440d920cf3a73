// SPDX-License-Identifier: Apache-2.0
/* Runs networks that mona compile wrote as C, listed in nets.inc, and the models that they are made
 * of, on the same noise: all bytes are the same. Works in the folder that has NAME.mona for each
 * (operators.inc). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mona.h"

#define NET(name) mona_status name##_open(mona_session **, void *, size_t);
#include "nets.inc"
#undef NET

typedef struct network {
    const char *path;
    mona_status (*open)(mona_session **session, void *arena, size_t bytes);
} network;

static const network networks[] = {
#define NET(name) {#name ".mona", name##_open},
#include "nets.inc"
};

static void *aligned(size_t bytes)
{
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block)
        exit(3);
    memset(block, 0x5a, bytes);
    return block;
}

static void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        exit(3);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    void *bytes = aligned(*size);
    if (fread(bytes, 1, *size, f) != *size)
        exit(3);
    fclose(f);
    return bytes;
}

static size_t bytes_of(mona_tensor_info t)
{
    return (size_t)t.channels * t.height * t.width * mona_type_size(t.type);
}

static mona_buffer buffer_for(mona_tensor_info t)
{
    const ptrdiff_t row = (ptrdiff_t)(t.width * mona_type_size(t.type));
    return (mona_buffer){aligned(bytes_of(t)), row, row * (ptrdiff_t)t.height};
}

static mona_buffer noise_for(mona_tensor_info t)
{
    const mona_buffer b = buffer_for(t);
    uint8_t *bytes = b.data;
    uint32_t state = 1;
    for (size_t i = 0; i < bytes_of(t); i++) {
        state = state * 1103515245 + 12345;
        bytes[i] = (uint8_t)(state >> 16);
        if (t.type == MONA_F32 && i % 4 == 3)
            bytes[i] &= 0xbf; /* below 2 */
    }
    return b;
}

static mona_size size_of(const mona_model *model)
{
    const mona_tensor_info in = mona_model_input(model, 0);
    return in.width ? (mona_size){in.width, in.height} : (mona_size){12, 12};
}

static uint32_t ticks;

static uint32_t tick(void *context)
{
    (void)context;
    return ticks++;
}

/* A frame in slices of one piece, or of several, and the bytes that it must give; 0: they are. */
static int sliced_differs(mona_session *session, const mona_buffer *in, const mona_buffer *found,
                          const void *wanted, size_t bytes)
{
    for (uint32_t budget = 1; budget < 50; budget += 16) {
        const mona_slice slice = {tick, NULL, budget};
        bool done = false;
        memset(found->data, 0x5a, bytes);
        for (ticks = UINT32_MAX - 9; !done;)
            if (mona_session_step(session, in, found, &slice, &done))
                return 2;
        if (memcmp(found->data, wanted, bytes))
            return 1;
    }
    return 0;
}

static int differs(const network *n)
{
    size_t size;
    void *file = read_file(n->path, &size);
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    if (mona_model_open(&model, file, size))
        return 2;
    const mona_config config = {.threads = 1, .sizes = {size_of(&model)}};
    if (mona_plan_make(&plan, aligned(mona_plan_bytes(&model)), &model, &config))
        return 2;
    const size_t arena = mona_plan_arena_bytes(plan);
    const mona_buffer in = noise_for(mona_plan_input(plan, 0));
    const mona_buffer wanted = buffer_for(mona_plan_output(plan, 0));
    const mona_buffer found = buffer_for(mona_plan_output(plan, 0));
    if (mona_session_open(&session, plan, aligned(arena), arena) ||
        mona_session_run(session, &in, &wanted))
        return 2;
    if (n->open(&session, aligned(1 << 20), 1 << 20) || mona_session_run(session, &in, &found))
        return 2;
    const size_t bytes = bytes_of(mona_plan_output(plan, 0));
    return memcmp(found.data, wanted.data, bytes) ||
           sliced_differs(session, &in, &found, wanted.data, bytes);
}

int main(void)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        const int status = differs(&networks[i]);
        if (status)
            printf("%s: %s\n", networks[i].path, status == 1 ? "other bytes" : "did not run");
        wrong |= status;
    }
    return wrong;
}
