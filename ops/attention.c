// SPDX-License-Identifier: Apache-2.0
/* ATTENTION: for each pixel of the queries, values of all pixels weighted by how well their keys
 * fit it, head by head. model_format.h defines the arithmetic. */
#include "engine/cpu/isa_table.h"
#include "ops/helpers.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    const mona_file_attention *a = &op->attention;
    const bool heads =
        a->heads && inputs[0].channels % a->heads == 0 && inputs[2].channels % a->heads == 0;
    return heads && inputs[0].channels == inputs[1].channels &&
                   inputs[2].channels == output->channels && f32_finite(a->scale) &&
                   f32_finite(a->value_scale)
               ? MONA_OK
               : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    return have_same_pixels(&inputs[1], &inputs[2]) ? same_pixels(op, inputs, output)
                                                    : MONA_ERR_SHAPE;
}

/* All rows of keys and values; rows before the first are only requested to pace a warm-up. */
static mona_span rows(const mona_bound_op *b, uint32_t i, mona_span out)
{
    return i ? (mona_span){0, out.end > 0 ? b->input[i].height : 0} : out;
}

static mona_span columns(const mona_bound_op *b, uint32_t i, mona_span out)
{
    return i ? (mona_span){0, b->input[i].width} : out;
}

/* Pointers to rows, then what the kernel needs. */
static size_t pointers_bytes(const mona_bound_op *b)
{
    return align_up(2 * b->input[1].height * sizeof(uint8_t *));
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t width)
{
    (void)width;
    const uint32_t heads = b->op->attention.heads;
    const size_t pixels = (size_t)b->input[1].height * b->input[1].width;
    return pointers_bytes(b) + MONA_ATTENTION_SCRATCH(pixels, b->input[1].channels / heads,
                                                      b->output.channels / heads) *
                                   sizeof(float);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_file_attention *file = &b->op->attention;
    const uint8_t **pointers = (const uint8_t **)(void *)call->scratch;
    const uint32_t height = b->input[1].height;
    const mona_row first[2] = {input_row_from(call, 1, 0), input_row_from(call, 2, 0)};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t y = 0; y < height; y++)
            pointers[i * height + y] =
                call->input[i + 1].rows[y] + (first[i].data - call->input[i + 1].rows[0]);
    const mona_attention_row a = {
        .queries = input_row(call, 0),
        .output = output_row(call),
        .keys = first[0],
        .values = first[1],
        .key_rows = pointers,
        .value_rows = pointers + height,
        .rows = height,
        .columns = b->input[1].width,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .heads = file->heads,
        .size = b->input[0].channels / file->heads,
        .value_size = b->output.channels / file->heads,
        .scale = file->scale,
        .value_scale = file->value_scale,
        .scratch = (float *)(void *)(call->scratch + pointers_bytes(b)),
    };
    b->isa->attention_row(&a);
}

static uint64_t macs(const mona_bound_op *b)
{
    const uint64_t keys = (uint64_t)b->input[1].height * b->input[1].width;
    return (uint64_t)b->output.height * b->output.width * keys *
           (b->input[0].channels + b->output.channels);
}

const mona_op_run mona_run_attention = {
    .rows = rows,
    .columns = columns,
    .row = row,
};

const mona_op_class mona_op_attention = {
    .name = "attention",
    .run = &mona_run_attention,
    .kernels = MONA_KERNEL(attention_row),
    .min_inputs = 3,
    .max_inputs = 3,
    .check = check,
    .infer = infer,
    .scratch_bytes = scratch_bytes,
    .macs = macs,
};
