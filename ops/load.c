// SPDX-License-Identifier: Apache-2.0
/* LOAD: input planes -> one tensor. Space-to-depth, concatenation of inputs and conversion to the
 * tensor's type happen in one pass: channel (i, c, dy, dx) of pixel (x, y) is the sample of input
 * i, plane c, at column x * block + dx of row y * block + dy. */
#include "engine/cpu/isa_table.h"
#include "ops/helpers.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    uint64_t channels = 0;
    for (uint32_t i = 0; i < op->input_count; i++) {
        const uint32_t block = op->load.block[i];
        if (block < 1 || block > 4 || inputs[i].type > MONA_U16 ||
            inputs[i].type != inputs[0].type || !f16_finite(op->load.scale[i]))
            return MONA_ERR_MODEL;
        const bool narrowed = output->type == MONA_U8 && inputs[i].type == MONA_U16;
        if (narrowed ? op->load.scale[i] > F16_ONE
                     : output->type != MONA_F16 &&
                           (output->type != inputs[i].type || op->load.scale[i] != F16_ONE))
            return MONA_ERR_MODEL;
        channels += (uint64_t)inputs[i].channels * block * block;
    }
    return channels == output->channels && output->type != MONA_U16 ? MONA_OK : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    output->height = inputs[0].height / op->load.block[0];
    output->width = inputs[0].width / op->load.block[0];
    for (uint32_t i = 0; i < op->input_count; i++)
        if (inputs[i].height != output->height * op->load.block[i] ||
            inputs[i].width != output->width * op->load.block[i])
            return MONA_ERR_SHAPE;
    return MONA_OK;
}

/* In scratch, for a row of the call: the address of each channel's first sample. In constants, for
 * every call: the step between its samples and its scale. */
typedef struct load_constants {
    uint32_t *step;
    float *scale;
} load_constants;

static load_constants constants_of(const mona_bound_op *b)
{
    uint8_t *p = b->constants;
    return (load_constants){(uint32_t *)(void *)p,
                            (float *)(void *)(p + align_up(b->output.channels * sizeof(uint32_t)))};
}

static size_t constants_bytes(const mona_bound_op *b)
{
    return align_up(b->output.channels * sizeof(uint32_t)) + b->output.channels * sizeof(float);
}

static void bind(const mona_bound_op *b)
{
    const load_constants k = constants_of(b);
    uint32_t channel = 0;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const uint32_t block = b->op->load.block[i];
        const uint32_t end = channel + b->input[i].channels * block * block;
        for (; channel < end; channel++) {
            k.step[channel] = block * (uint32_t)mona_type_size(b->input[i].type);
            k.scale[channel] = mona_f32_from_f16(b->op->load.scale[i]);
        }
    }
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t columns)
{
    (void)columns;
    return b->output.channels * sizeof(uint8_t *);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const load_constants k = constants_of(b);
    const uint8_t **source = (const uint8_t **)(void *)call->scratch;
    uint32_t channel = 0;
    for (uint32_t i = 0; i < b->op->input_count; i++) {
        const mona_buffer *planes = &call->planes[i];
        const int64_t block = b->op->load.block[i];
        const ptrdiff_t element = (ptrdiff_t)mona_type_size(b->input[i].type);
        for (uint32_t c = 0; c < b->input[i].channels; c++)
            for (int64_t dy = 0; dy < block; dy++)
                for (int64_t dx = 0; dx < block; dx++)
                    source[channel++] = (const uint8_t *)planes->data +
                                        (ptrdiff_t)c * planes->channel_stride +
                                        (ptrdiff_t)(call->y * block + dy) * planes->row_stride +
                                        (ptrdiff_t)(call->x_begin * block + dx) * element;
    }
    const mona_pack_row pack = {
        .channels = b->output.channels,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .source = source,
        .step = k.step,
        .scale = k.scale,
        .source_type = b->input[0].type,
        .output = output_row(call),
    };
    b->isa->pack_row(&pack);
}

const mona_op_run mona_run_load = {
    .reads_planes = true,
    .rows = same_span,
    .columns = same_span,
    .row = row,
};

const mona_op_class mona_op_load = {
    .name = "load",
    .run = &mona_run_load,
    .kernels = MONA_KERNEL(pack_row),
    .min_inputs = 1,
    .max_inputs = MONA_OP_MAX_INPUTS,
    .check = check,
    .infer = infer,
    .constants_bytes = constants_bytes,
    .bind = bind,
    .scratch_bytes = scratch_bytes,
};
