// SPDX-License-Identifier: Apache-2.0
/* LOAD and STORE by the scalar unit, for cases that load_instructions.c and store_instructions.c
 * lack: planes of 16-bit integers, which no vector instruction converts, blocks of 3 x 3 samples of
 * 8 bits, and tensors with more channels than UB holds. Every channel of a row is one move, for
 * which the planes go through UB.
 *
 * Rows of a LOAD may still be read, and those of a STORE are written again, by other pipes; nothing
 * else orders these accesses (session_order.c). */
#include "ops/ascend/programs.h"
#include "ops/ascend/scalar.h"

#include "engine/arith.h"

/* Sample (dy, dx) of pixel x_begin of row y, in plane c. */
static ac_address sample_at(const mona_row_call *call, uint32_t i, uint32_t block, uint32_t channel,
                            uint32_t size)
{
    const uint32_t dx = channel % block, dy = channel / block % block;
    return mona_plane_at(call, i, channel / block / block, call->y * block + dy,
                         (call->x_begin * block + dx) * size);
}

static ac_move move_of(const mona_row_call *call, uint16_t scale, uint32_t maximum)
{
    return (ac_move){
        .count = (uint32_t)(call->x_end - call->x_begin), .scale = scale, .maximum = maximum};
}

static void load_row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_row_at row = mona_output_at(call);
    const uint32_t size = (uint32_t)mona_type_size(b->input[0].type);
    uint32_t channel = 0;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const uint32_t block = b->op->load.block[i];
        ac_move m = move_of(call, b->op->load.scale[i], UINT8_MAX);
        m.dst_type = row.type, m.dst_step = row.c0 * (uint32_t)mona_type_size(row.type);
        m.src_type = b->input[i].type, m.src_step = block * size;
        for (uint32_t c = 0; c < b->input[i].channels * block * block; c++)
            mona_scalar_move_through(call->core, mona_channel_at(&row, channel++),
                                     sample_at(call, i, block, c, size), m);
    }
    mona_scalar_fill_up(call->core, &row, b->output.channels,
                        (uint32_t)(call->x_end - call->x_begin));
}

/* Stores the only pixel of a row: channels of a block lie side by side. */
static void store_pixel(const mona_row_call *call, const mona_row_at *row, ac_move m)
{
    const mona_bound_op *b = call->bound;
    const uint32_t first = b->op->store.first_channel, channels = b->output.channels;
    m.src_step = (uint32_t)mona_type_size(row->type);
    m.dst_step = (uint32_t)call->planes->channel_stride;
    for (uint32_t c = 0; c < channels; c += m.count) {
        m.count = min_u32(row->c0 - (first + c) % row->c0, channels - c);
        mona_scalar_move_through(call->core, sample_at(call, 0, 1, c, 0),
                                 mona_channel_at(row, first + c), m);
    }
}

static void store_row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_file_store *s = &b->op->store;
    const mona_row_at row = mona_input_at(call, 0);
    const uint32_t size = (uint32_t)mona_type_size(b->output.type);
    ac_move m = move_of(call, s->scale, s->maximum);
    m.dst_type = b->output.type, m.dst_step = s->block * size;
    m.src_type = row.type, m.src_step = row.c0 * (uint32_t)mona_type_size(row.type);
    if (b->output.width == 1 && s->block == 1) {
        store_pixel(call, &row, m);
        return;
    }
    for (uint32_t c = 0; c < b->output.channels * s->block * s->block; c++)
        mona_scalar_move_through(call->core, sample_at(call, 0, s->block, c, size),
                                 mona_channel_at(&row, s->first_channel + c), m);
}

static void rows(const mona_row_call *calls, uint32_t count, void (*work)(const mona_row_call *))
{
    ac_emit_barrier(calls->core, AC_PIPE_ALL);
    for (uint32_t i = 0; i < count; i++)
        work(&calls[i]);
    ac_emit_barrier(calls->core, AC_PIPE_ALL);
}

void mona_load_by_scalar(const mona_row_call *calls, uint32_t count)
{
    rows(calls, count, load_row);
}

void mona_store_by_scalar(const mona_row_call *calls, uint32_t count)
{
    rows(calls, count, store_row);
}
