// SPDX-License-Identifier: Apache-2.0
#include "ops/ascend/scalar.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

mona_bounds mona_take_bounds(ac_address *at)
{
    mona_bounds b = {.zero = take(at, AC_BLOCK)};
    b.low = take(at, AC_BLOCK);
    b.high = take(at, AC_BLOCK);
    return b;
}

void mona_fill_bounds(ac_core *core, const mona_bounds *b, const mona_epilogue *e)
{
    dup_all(core, b->low, mona_f16_from_f32(e->clip_min), AC_FRACTAL);
    dup_all(core, b->high, mona_f16_from_f32(e->clip_max), AC_FRACTAL);
}

void ac_activate(ac_core *core, const mona_bounds *b, uint8_t activation, ac_address at,
                 uint32_t count)
{
    const bool clips = activation == MONA_ACT_CLIP;
    if (clips || activation == MONA_ACT_RELU)
        vec2_done(core, AC_VMAX, at, at, clips ? b->low : b->zero, count, b_again);
    if (clips)
        vec2_done(core, AC_VMIN, at, at, b->high, count, b_again);
}

enum { MAX_GAP = UINT16_MAX * AC_BLOCK };

/* Whether a copy can skip the bytes between rows. */
static bool far_enough(ptrdiff_t gap)
{
    return gap >= 0 && gap <= MAX_GAP && gap % AC_BLOCK == 0;
}

void mona_copy_rows(ac_core *core, mona_steps to, mona_steps from, uint32_t rows, uint32_t bytes)
{
    const ptrdiff_t from_gap = from.step - (ptrdiff_t)bytes, to_gap = to.step - (ptrdiff_t)bytes;
    ac_copy c = {.bursts = 1, .blocks = (uint16_t)(bytes / AC_BLOCK)};
    if (rows > 1 && far_enough(from_gap) && far_enough(to_gap)) {
        c.bursts = (uint16_t)rows;
        c.src_gap = (uint16_t)(from_gap / AC_BLOCK);
        c.dst_gap = (uint16_t)(to_gap / AC_BLOCK);
        rows = 1;
    }
    for (uint32_t row = 0; row < rows; row++)
        ac_emit_copy(core, to.at + (uint64_t)((int64_t)row * to.step),
                     from.at + (uint64_t)((int64_t)row * from.step), c);
}

void mona_bring_constants(ac_core *core, const mona_bound_op *b, ac_address to, size_t bytes)
{
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_MTE1, AC_EVENT0);
    ac_emit_copy_bytes(core, to, b->resident, bytes);
    ac_emit_sync(core, AC_PIPE_MTE1, AC_PIPE_V, AC_EVENT0);
}

void mona_flag_buffers(ac_core *core, ac_pipe reader, uint32_t buffers,
                       void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t i = 0; i < buffers; i++) {
        flag(core, AC_PIPE_V, reader, i);
        flag(core, AC_PIPE_MTE3, AC_PIPE_V, i);
    }
}

void mona_store_rows(ac_core *core, mona_steps to, mona_steps from, uint32_t rows, uint32_t bytes)
{
    const bool aligned = from.at % AC_BLOCK == 0 && (ac_in_gm(to.at) || to.at % AC_BLOCK == 0);
    const uint32_t rest = aligned ? bytes % AC_BLOCK : bytes, whole = bytes - rest;
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    if (whole)
        mona_copy_rows(core, to, from, rows, whole);
    if (rest) {
        ac_emit_sync(core, AC_PIPE_V, AC_PIPE_S, AC_EVENT0);
        mona_scalar_copy(core, to.at + whole, from.at + whole, rest);
        ac_emit_sync(core, AC_PIPE_S, AC_PIPE_V, AC_EVENT0);
    }
}
