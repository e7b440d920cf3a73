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

/* Bytes of a block of 2, 16 channels to a block: those of an input pixel go to two pixels at once,
 * in loops that the compiler makes vectors of. */
static void pairs_row(const mona_row *out, const uint8_t *in, size_t in_stride, uint32_t blocks,
                      uint32_t dy, size_t count)
{
    for (uint32_t n = 0; n < blocks; n++, in += 4 * in_stride)
        for (size_t i = 0; i < count; i++) {
            uint8_t *restrict to = out->data + n * out->block_stride + i * 2 * AC_FRACTAL;
            uint32_t from[AC_FRACTAL]; /* the 4 channels of an output channel */
            for (size_t k = 0; k < 4; k++)
                memcpy(from + k * 4, in + k * in_stride + i * AC_FRACTAL, AC_FRACTAL);
            for (uint32_t c = 0; c < AC_FRACTAL; c++)
                to[c] = (uint8_t)(from[c] >> (16 * dy));
            for (uint32_t c = 0; c < AC_FRACTAL; c++)
                to[AC_FRACTAL + c] = (uint8_t)(from[c] >> (16 * dy + 8));
        }
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_rows *rows = &call->input[0];
    const size_t element = mona_type_size(b->output.type), c0 = b->input_c0[0];
    const uint32_t block = b->op->block, dy = (uint32_t)call->y % block;
    const mona_row out = output_row(call);
    const uint8_t *in = rows->rows[0];
    const size_t first = (size_t)(call->x_begin / block - rows->x_begin) * c0 * element;
    if (block == 2 && element == 1 && c0 == AC_FRACTAL && out.c0 == AC_FRACTAL &&
        (b->output.channels % AC_FRACTAL | call->x_begin % 2 | call->x_end % 2) == 0) {
        pairs_row(&out, in + first, rows->block_stride, b->output.channels / AC_FRACTAL, dy,
                  (size_t)(call->x_end - call->x_begin) / 2);
        return;
    }
    for (uint32_t c = 0; c < b->output.channels; c++)
        for (int64_t x = call->x_begin; x < call->x_end && x < call->x_begin + block; x++) {
            const uint32_t channel = (c * block + dy) * block + (uint32_t)x % block;
            const size_t column = (size_t)((uint32_t)x / block - rows->x_begin);
            const size_t to = (size_t)(x - call->x_begin) * out.c0 + c % out.c0;
            copy_channel(
                out.data + c / out.c0 * out.block_stride + to * element, block * out.c0 * element,
                in + channel / c0 * rows->block_stride + (column * c0 + channel % c0) * element,
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
    .picture = MONA_PICTURE_MOVED,
    .check = check,
    .infer = infer,
};
