// SPDX-License-Identifier: Apache-2.0
/* NORMALISE: the channels of each pixel to a mean of 0 and a variance of 1, then a gain and a shift
 * for each channel, as in LayerNormalization. model_format.h defines the arithmetic. */
#include "engine/cpu/isa_table.h"
#include "ops/helpers.h"

#include "engine/libc.h"

static bool finite(mona_data *data, uint32_t offset, uint32_t count)
{
    return mona_data_ok(data, offset, count, sizeof(float)) &&
           all_finite(data->bytes + offset, count);
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    const mona_file_normalise *n = &op->normalise;
    return inputs[0].channels == output->channels && n->epsilon >= 0x1p-100f &&
                   n->epsilon <= 0x1p100f && finite(data, n->gain, output->channels) &&
                   finite(data, n->shift, output->channels)
               ? MONA_OK
               : MONA_ERR_MODEL;
}

/* Constants: gains, then shifts, both with zeros to the end of a channel block. */
static size_t padded(const mona_bound_op *b)
{
    return ((size_t)b->output.channels + 15) / 16 * 16;
}

static size_t constants_bytes(const mona_bound_op *b)
{
    return 2 * padded(b) * sizeof(float);
}

static void bind(const mona_bound_op *b)
{
    const mona_file_normalise *n = &b->op->normalise;
    float *gain = b->constants;
    const size_t bytes = b->output.channels * sizeof *gain;
    memset(gain, 0, constants_bytes(b));
    memcpy(gain, b->data + n->gain, bytes);
    memcpy(gain + padded(b), b->data + n->shift, bytes);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const float *gain = b->constants;
    const mona_normalise_row n = {
        .source = input_row(call, 0),
        .output = output_row(call),
        .channels = b->output.channels,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .epsilon = b->op->normalise.epsilon,
        .gain = gain,
        .shift = gain + padded(b),
    };
    b->isa->normalise_row(&n);
}

const mona_op_run mona_run_normalise = {
    .rows = same_span,
    .columns = same_span,
    .row = row,
};

const mona_op_class mona_op_normalise = {
    .name = "normalise",
    .run = &mona_run_normalise,
    .kernels = MONA_KERNEL(normalise_row),
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check,
    .infer = same_pixels,
    .constants_bytes = constants_bytes,
    .bind = bind,
};
