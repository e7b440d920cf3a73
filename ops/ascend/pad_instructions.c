// SPDX-License-Identifier: Apache-2.0
/* PAD as an AI Core program. Where a pixel of a channel block is whole blocks of 32 bytes, rows go
 * through UB, which has two halves: from there the map's part of the output row is stored, and each
 * pixel outside of it. Else the scalar unit copies both.
 *
 * Flags, event h for half h of UB:
 *   MTE1 -> MTE3    the half is full
 *   MTE3 -> MTE1    the half is empty */
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"
#include "ops/ascend/ub.h"
#include "ops/pad.h"

static uint32_t pixel_bytes(const mona_bound_op *b)
{
    return b->output_c0 * (uint32_t)mona_type_size(b->output.type);
}

static size_t half_of(const mona_bound_op *b)
{
    return ub_room(b->target) / 2 / AC_BLOCK * AC_BLOCK;
}

static bool by_blocks(const mona_bound_op *b)
{
    return pixel_bytes(b) % AC_BLOCK == 0 &&
           (size_t)b->input[0].width * pixel_bytes(b) <= half_of(b);
}

/* Copies pixels of a row, from where they lie or, by blocks, from UB. */
static void put(const mona_row_call *call, ac_address to, ac_address from, size_t pixels)
{
    const size_t bytes = pixels * pixel_bytes(call->bound);
    if (by_blocks(call->bound))
        ac_emit_copy_bytes(call->core, to, from, bytes);
    else
        mona_scalar_copy(call->core, to, from, (uint32_t)bytes);
}

/* to, from: of the output's first column; of column `first` of the map. */
static void put_row(const mona_row_call *call, ac_address to, ac_address from, int64_t first)
{
    const uint32_t pixel = pixel_bytes(call->bound);
    const pad_axis a = mona_pad_columns(call->bound);
    const int64_t inside = clip_to(a.before, call->x_begin, call->x_end);
    const int64_t end = clip_to(a.before + a.size, inside, call->x_end);
    for (int64_t x = call->x_begin, next; x < call->x_end; x = next) {
        next = x == inside && inside < end ? end : x + 1;
        put(call, to + (uint64_t)(x - call->x_begin) * pixel,
            from + (uint64_t)(mona_pad_source(&a, x) - first) * pixel, (size_t)(next - x));
    }
}

static void pad_row(const mona_row_call *call, uint32_t block, uint32_t h)
{
    const mona_bound_op *b = call->bound;
    const mona_row_at out = mona_output_at(call);
    const mona_span read = mona_pad_columns_read(b, 0, (mona_span){call->x_begin, call->x_end});
    const size_t bytes = (size_t)(read.end - read.begin) * pixel_bytes(b);
    const ac_address to = out.at + block * out.block_stride, ub = ac_at(AC_UB, h * half_of(b));
    const ac_address from = mona_window_at(call, 0, mona_pad_row(call), read.begin) +
                            block * call->input[0].block_stride;
    if (!by_blocks(b)) {
        put_row(call, to, from, read.begin);
        return;
    }
    ac_emit_wait_flag(call->core, AC_PIPE_MTE3, AC_PIPE_MTE1, h);
    ac_emit_copy_bytes(call->core, ub, from, bytes);
    ac_emit_sync(call->core, AC_PIPE_MTE1, AC_PIPE_MTE3, h);
    put_row(call, to, ub, read.begin);
    ac_emit_set_flag(call->core, AC_PIPE_MTE3, AC_PIPE_MTE1, h);
}

static void guard_flags(const mona_row_call *call,
                        void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t h = 0; h < 2 && by_blocks(call->bound); h++)
        flag(call->core, AC_PIPE_MTE3, AC_PIPE_MTE1, h);
}

void mona_pad_program(const mona_row_call *calls, uint32_t count)
{
    const mona_bound_op *b = calls->bound;
    const uint32_t blocks = ceil_div_u32(b->output.channels, b->output_c0);
    guard_flags(calls, ac_emit_set_flag);
    for (uint32_t i = 0; i < count * blocks; i++)
        pad_row(&calls[i / blocks], i % blocks, i % 2);
    guard_flags(calls, ac_emit_wait_flag);
}
