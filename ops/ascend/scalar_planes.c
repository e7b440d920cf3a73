// SPDX-License-Identifier: Apache-2.0
/* LOAD by the scalar unit, to tensors with more channels than UB holds. Every channel of a row is
 * one move, for which the planes go through UB.
 *
 * Rows may still be read by other pipes; nothing else orders these accesses (session_order.c). */
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"

/* Sample (dy, dx) of pixel x_begin of a row, in plane c: all of them one after another. */
static ac_address sample_at(const mona_row_call *call, uint32_t i, uint32_t sample)
{
    const uint32_t block = call->bound->op->load.block[i];
    const uint32_t dx = sample % block, dy = sample / block % block;
    return mona_plane_at(call, i, sample / block / block, call->y * block + dy,
                         (call->x_begin * block + dx) *
                             (int64_t)mona_type_size(call->bound->input[i].type));
}

static void load_row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_row_at row = mona_output_at(call);
    const uint32_t pixels = (uint32_t)(call->x_end - call->x_begin);
    uint32_t channel = 0;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const uint32_t block = b->op->load.block[i];
        const mona_type type = b->input[i].type;
        const ac_move m = {.count = pixels,
                           .dst_step = row.c0 * (uint32_t)mona_type_size(row.type),
                           .src_step = block * (uint32_t)mona_type_size(type),
                           .dst_type = row.type,
                           .src_type = type,
                           .scale = b->op->load.scale[i],
                           .maximum = UINT8_MAX};
        for (uint32_t c = 0; c < b->input[i].channels * block * block; c++)
            mona_scalar_move_through(call->core, mona_channel_at(&row, channel++),
                                     sample_at(call, i, c), m);
    }
    mona_scalar_fill_up(call->core, &row, b->output.channels, pixels);
}

void mona_load_by_scalar(const mona_row_call *calls, uint32_t count)
{
    ac_emit_barrier(calls->core, AC_PIPE_ALL);
    for (uint32_t i = 0; i < count; i++)
        load_row(&calls[i]);
    ac_emit_barrier(calls->core, AC_PIPE_ALL);
}
