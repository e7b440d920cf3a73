// SPDX-License-Identifier: Apache-2.0
/* STORE: channels of a tensor -> output planes, with depth-to-space and conversion. A STORE that is
 * the only reader of a convolution runs inside it instead (engine/layout/bind.c, ops/conv.c). Its
 * rows and columns, unlike any other operator's, are counted at its input: row y writes rows y *
 * block to y * block + block - 1 of every plane. */
#include "engine/cpu/isa_table.h"
#include "ops/helpers.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    const mona_file_store *s = &op->store;
    if (s->block < 1 || s->block > 4 || !f16_finite(s->scale) || output->type > MONA_U16)
        return MONA_ERR_MODEL;
    const uint64_t end = s->first_channel + (uint64_t)output->channels * s->block * s->block;
    if (end > inputs[0].channels)
        return MONA_ERR_MODEL;
    const uint32_t max = output->type == MONA_U8 ? 0xff : 0xffff;
    if ((output->type == MONA_U8 || output->type == MONA_U16) &&
        (s->maximum < 1 || s->maximum > max))
        return MONA_ERR_MODEL;
    if (inputs[0].type == MONA_F16 && output->type != MONA_F16)
        return output->type != MONA_S8 ? MONA_OK : MONA_ERR_MODEL;
    return inputs[0].type == output->type && s->scale == F16_ONE ? MONA_OK : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    /* A height or width is below 2^15 and a block at most 4, so this cannot overflow. The planner
     * bounds the result. */
    output->height = inputs[0].height * op->store.block;
    output->width = inputs[0].width * op->store.block;
    return MONA_OK;
}

static uint32_t plane_rows(const mona_bound_op *b)
{
    return b->output.channels * b->op->store.block;
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t columns)
{
    (void)columns;
    return plane_rows(b) * sizeof(uint8_t *);
}

mona_planes mona_store_planes(const mona_bound_op *b, const mona_buffer *planes, int64_t y,
                              int64_t x_begin, uint8_t **rows)
{
    const mona_file_store *s = &b->op->store;
    const ptrdiff_t column =
        (ptrdiff_t)x_begin * (ptrdiff_t)(s->block * mona_type_size(b->output.type));
    for (uint32_t i = 0; i < plane_rows(b); i++) {
        const uint32_t c = i / s->block, dy = i % s->block;
        rows[i] = (uint8_t *)planes->data + (ptrdiff_t)c * planes->channel_stride +
                  ((ptrdiff_t)y * s->block + dy) * planes->row_stride + column;
    }
    return (mona_planes){rows, s->block, b->output.type, mona_f32_from_f16(s->scale), s->maximum};
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const uint32_t block = b->op->store.block;
    uint8_t **rows = (uint8_t **)(void *)call->scratch;
    const mona_unpack_row unpack = {
        .source = input_row(call, 0),
        .first = b->op->store.first_channel,
        .channels = b->output.channels * block * block,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .planes = mona_store_planes(b, call->planes, call->y, call->x_begin, rows),
    };
    b->isa->unpack_row(&unpack);
}

const mona_op_run mona_run_store = {
    .writes_planes = true,
    .rows = same_span,
    .columns = same_span,
    .row = row,
};

const mona_op_class mona_op_store = {
    .name = "store",
    .run = &mona_run_store,
    .kernels = MONA_KERNEL(unpack_row),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check,
    .infer = infer,
    .scratch_bytes = scratch_bytes,
};
