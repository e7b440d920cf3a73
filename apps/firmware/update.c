// SPDX-License-Identifier: Apache-2.0
/* Replaces a model in the field. There are two slots, in flash on a real board, of which one has
 * the model in use. An update goes to the other slot, and is used from then on only if it is
 * genuine, not older than the last one used, takes and gives what the pipeline expects, fits the
 * memory, and has made a frame. Otherwise the model in use stays.
 *
 * Genuine is here what has a tag by a key that each device shares with its maker (SipHash-2-4);
 * apps/examples/signed.c shows signatures by public keys. */
#include "apps/firmware/update.h"

#include <stdalign.h>

#include "engine/libc.h"

enum { WIDTH = 64, HEIGHT = 32, PLAN_BYTES = 8 * 1024, ARENA_BYTES = 64 * 1024 };

static update_slot slots[2];
static uint32_t used;    /* the slot in use */
static uint32_t release; /* of the last model that made a frame; kept where it survives a reset */
static alignas(MONA_ALIGNMENT) uint8_t plan_memory[PLAN_BYTES];
static alignas(MONA_ALIGNMENT) uint8_t arena[ARENA_BYTES];

/* ---- genuine --------------------------------------------------------------------------------- */

static uint64_t rotated(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

static void mix(uint64_t v[4], int rounds)
{
    while (rounds--) {
        v[0] += v[1], v[1] = rotated(v[1], 13) ^ v[0], v[0] = rotated(v[0], 32);
        v[2] += v[3], v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotated(v[1], 17) ^ v[2], v[2] = rotated(v[2], 32);
    }
}

static uint64_t word_at(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return word;
}

uint64_t update_tag(const uint64_t key[2], const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    for (size_t i = 0; i + 8 <= size; i += 8) {
        const uint64_t word = word_at(bytes + i, 8);
        v[3] ^= word;
        mix(v, 2);
        v[0] ^= word;
    }
    const uint64_t last = (uint64_t)size << 56 | word_at(bytes + size / 8 * 8, size % 8);
    v[3] ^= last;
    mix(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

typedef struct seal {
    const uint64_t *key;
    uint64_t tag;
} seal;

static bool is_genuine(void *context, const void *bytes, size_t size)
{
    const seal *s = context;
    return update_tag(s->key, bytes, size) == s->tag;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* What the pipeline expects of any model: planes of luma, twice as large. */
static bool suits(const mona_model *m)
{
    if (mona_model_input_count(m) != 1 || mona_model_output_count(m) != 1)
        return false;
    const mona_tensor_info in = mona_model_input(m, 0), out = mona_model_output(m, 0);
    return in.type == MONA_U8 && in.channels == 1 && out.type == MONA_U8 && out.channels == 1;
}

/* Opens a slot's model and runs a frame with it. */
static mona_status run_slot(const update_slot *s, const uint64_t key[2], const uint8_t *frame,
                            uint8_t *result, uint32_t *found)
{
    seal sealed = {key, s->tag};
    const mona_guard guard = {.genuine = is_genuine, .context = &sealed, .release = release};
    const mona_config config = {.threads = 1, .sizes = {{WIDTH, HEIGHT}}};
    const mona_buffer in = {(void *)(uintptr_t)frame, WIDTH, 0}, out = {result, 2 * WIDTH, 0};
    mona_model model;
    mona_plan *plan;
    mona_session *session;
    mona_status status = s->size <= sizeof s->model
                             ? mona_model_open_guarded(&model, s->model, s->size, &guard)
                             : MONA_ERR_LIMIT;
    if (!status && !suits(&model))
        status = MONA_ERR_SHAPE;
    if (!status && mona_plan_bytes(&model) > sizeof plan_memory)
        status = MONA_ERR_ARENA;
    if (!status)
        status = mona_plan_make(&plan, plan_memory, &model, &config);
    if (!status && (mona_plan_output(plan, 0).width != 2 * WIDTH ||
                    mona_plan_output(plan, 0).height != 2 * HEIGHT))
        status = MONA_ERR_SHAPE;
    if (!status)
        status = mona_session_open(&session, plan, arena, sizeof arena);
    if (!status) {
        status = mona_session_run(session, &in, &out);
        mona_session_close(session);
        *found = mona_model_release(&model);
    }
    return status;
}

mona_status update_frame(const uint64_t key[2], const uint8_t *frame, uint8_t *result)
{
    uint32_t found;
    return run_slot(&slots[used], key, frame, result, &found);
}

update_slot *update_free_slot(void)
{
    return &slots[!used];
}

mona_status update_commit(const uint64_t key[2], const uint8_t *frame, uint8_t *result)
{
    uint32_t found;
    const mona_status status = run_slot(&slots[!used], key, frame, result, &found);
    if (!status) {
        used = !used;
        release = found;
    }
    return status;
}
