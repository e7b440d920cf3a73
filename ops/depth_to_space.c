// SPDX-License-Identifier: Apache-2.0
/* DEPTH_TO_SPACE between tensors, ONNX mode CRD: channel c of output pixel (X, Y) is channel
 * c * block^2 + (Y mod block) * block + X mod block of input pixel (X / block, Y / block). */
#include "ops/helpers.h"

#include "engine/libc.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    const bool sound = op->block >= 2 && op->block <= 4 && inputs[0].type == output->type &&
                       (uint64_t)output->channels * op->block * op->block == inputs[0].channels;
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    output->height = inputs[0].height * op->block;
    output->width = inputs[0].width * op->block;
    return MONA_OK;
}

static mona_span span(const mona_bound_op *b, uint32_t i, mona_span out)
{
    (void)i;
    const int32_t block = (int32_t)b->op->block;
    return (mona_span){floor_div_small((int32_t)out.begin, block),
                       floor_div_small((int32_t)out.end - 1, block) + 1};
}

/* Copies a channel of `count` pixels, whose distances are in bytes. */
static void copy_channel(uint8_t *restrict to, size_t to_pixel, const uint8_t *restrict from,
                         size_t from_pixel, size_t element, size_t count)
{
    for (size_t i = 0; i < count && element == 1; i++)
        to[i * to_pixel] = from[i * from_pixel];
    for (size_t i = 0; i < count && element == 2; i++)
        memcpy(to + i * to_pixel, from + i * from_pixel, 2);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const size_t element = mona_type_size(b->output.type), c0 = b->input_c0[0];
    const uint32_t block = b->op->block, dy = (uint32_t)call->y % block;
    const ac_row out = output_row(call);
    const uint8_t *in = call->input[0].rows[0];
    for (uint32_t c = 0; c < b->output.channels; c++)
        for (int64_t x = call->x_begin; x < call->x_end && x < call->x_begin + block; x++) {
            const uint32_t channel = (c * block + dy) * block + (uint32_t)x % block;
            const size_t column = (size_t)((uint32_t)x / block - call->input[0].x_begin);
            const size_t to = (size_t)(x - call->x_begin) * out.c0 + c % out.c0;
            copy_channel(out.data + c / out.c0 * out.block_stride + to * element,
                         block * out.c0 * element,
                         in + channel / c0 * call->input[0].block_stride +
                             (column * c0 + channel % c0) * element,
                         c0 * element, element, (size_t)(call->x_end - x + block - 1) / block);
        }
}

const mona_op_run mona_run_depth_to_space = {
    .rows = span,
    .columns = span,
    .row = row,
};

const mona_op_class mona_op_depth_to_space = {
    .name = "depth_to_space",
    .run = &mona_run_depth_to_space,
    .min_inputs = 1,
    .max_inputs = 1,
    .zeros = MONA_ZEROS_SAME,
    .check = check,
    .infer = infer,
};
