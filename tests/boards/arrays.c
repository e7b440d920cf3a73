// SPDX-License-Identifier: Apache-2.0
/* Instructions of models that networks.py lists, by the clock of an emulated board that counts
 * them: ticks of a frame, a line each. */
#include "apps/firmware/board.h"
#include "engine/libc.h"
#include "engine/model_format.h"
#include "mona.h"

extern const struct {
    const void *begin, *end;
    uintptr_t positive; /* its inputs must be */
} board_models[];

enum { ARENA = 1 << 20, SAMPLES = 1 << 18 };
static _Alignas(64) uint8_t arena[ARENA], plan_memory[ARENA], samples[SAMPLES];

void line_interrupt(void) {}

/* Numbers below 1, or of two digits. */
static void fill(uint8_t *to, const mona_file_tensor *t, bool positive, uint32_t *seed)
{
    const uint32_t elements = t->channels * t->height * t->width;
    for (uint32_t i = 0; i < elements; i++, to += mona_type_size((mona_type)t->type)) {
        const int32_t noise = (int32_t)(*seed = *seed * 1664525 + 1013904223) >> 8;
        const bool minus = noise < 0 && !positive;
        const float x = (float)(noise < 0 ? -noise : noise) * (minus ? -0x1p-23f : 0x1p-23f);
        const uint16_t half = (uint16_t)(minus << 15 | 0x3000 | (noise & 0x7ff));
        const int64_t whole = t->type == MONA_U8 ? noise & 63 : noise % 50;
        memcpy(to,
               t->type == MONA_F32   ? (const void *)&x
               : t->type == MONA_F16 ? (const void *)&half
                                     : &whole,
               mona_type_size((mona_type)t->type));
    }
}

/* Ticks of a frame; 0: the model does not run here. */
static uint32_t measure(const void *begin, const void *end, bool positive)
{
    mona_model m;
    mona_plan *plan;
    mona_session *session;
    mona_buffer buffers[MONA_OP_MAX_INPUTS + 1];
    uint32_t seed = 1, at = 0;
    const mona_config config = {.threads = 1};
    if (mona_model_open(&m, begin, (size_t)((const char *)end - (const char *)begin)) ||
        mona_plan_bytes(&m) > sizeof plan_memory ||
        mona_plan_make(&plan, plan_memory, &m, &config) ||
        mona_session_open(&session, plan, arena, sizeof arena))
        return 0;
    const uint32_t inputs = m.header->input_count;
    for (uint32_t i = 0; i <= inputs; i++) {
        const mona_file_tensor *t = &m.tensors[i];
        const uint32_t row = t->width * (uint32_t)mona_type_size((mona_type)t->type);
        const uint32_t bytes = t->channels * t->height * row;
        if (bytes > SAMPLES - at)
            return 0;
        if (i < inputs)
            fill(samples + at, t, positive, &seed);
        buffers[i] = (mona_buffer){samples + at, row, (ptrdiff_t)t->height * row};
        at += (bytes + 63) / 64 * 64;
    }
    const uint32_t start = board_clock();
    const mona_status status = mona_session_run(session, buffers, &buffers[inputs]);
    const uint32_t ticks = board_clock() - start;
    mona_session_close(session);
    return status ? 0 : ticks;
}

int firmware_main(void)
{
    int failures = 0;
    for (uint32_t i = 0; board_models[i].begin; i++) {
        const uint32_t ticks =
            measure(board_models[i].begin, board_models[i].end, board_models[i].positive);
        board_print("ticks %u hertz %u\n", ticks, board_clock_hertz);
        failures += !ticks;
    }
    return failures;
}
