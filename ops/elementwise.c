// SPDX-License-Identifier: Apache-2.0
/* ADD and MUL: two tensors of one size, element by element, then the epilogue. The second may have
 * a single channel, which is combined with all of the first's. */
#include "ops/elementwise.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    const bool channels = inputs[0].channels == output->channels &&
                          (inputs[1].channels == output->channels || inputs[1].channels == 1);
    return channels && f16_finite(op->elementwise.scale[0]) &&
                   f16_finite(op->elementwise.scale[1]) &&
                   mona_epilogue_check(&op->epilogue, output->channels, data)
               ? MONA_OK
               : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    (void)op;
    output->height = inputs[0].height;
    output->width = inputs[0].width;
    return inputs[0].height == inputs[1].height && inputs[0].width == inputs[1].width
               ? MONA_OK
               : MONA_ERR_SHAPE;
}

/* Constants: the bound epilogue, then its arrays. */
static size_t constants_bytes(const mona_bound_op *b)
{
    return align_up(sizeof(ac_epilogue)) + mona_epilogue_bytes(b->output.channels);
}

static void bind(const mona_bound_op *b)
{
    uint8_t *arrays = (uint8_t *)b->constants + align_up(sizeof(ac_epilogue));
    mona_epilogue_bind(b->constants, &b->op->epilogue, b->output.channels, b->data, NULL, arrays);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    if (mona_elementwise_has_program(b)) {
        mona_elementwise_by_instructions(call, 1);
        return;
    }
    const ac_elementwise_row e = {
        .multiply = b->op->kind == MONA_OP_MUL,
        .a = input_row(call, 0),
        .b = input_row(call, 1),
        .output = output_row(call),
        .channels = b->output.channels,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .scale_a = ac_f32_from_f16(b->op->elementwise.scale[0]),
        .scale_b = ac_f32_from_f16(b->op->elementwise.scale[1]),
        .broadcast_b = b->input[1].channels == 1 && b->output.channels > 1,
        .epilogue = *(const ac_epilogue *)b->constants,
    };
    mona_row_kernels(b)->elementwise_row(&e);
}

static void some_rows(const mona_row_call *calls, uint32_t count)
{
    if (mona_elementwise_has_program(calls->bound))
        mona_elementwise_by_instructions(calls, count);
    else
        for (uint32_t i = 0; i < count; i++)
            row(&calls[i]);
}

const mona_op_class mona_op_add = {
    .name = "add",
    .min_inputs = 2,
    .max_inputs = 2,
    .check = check,
    .infer = infer,
    .rows = same_span,
    .columns = same_span,
    .constants_bytes = constants_bytes,
    .bind = bind,
    .row = row,
    .some_rows = some_rows,
    .has_program = mona_elementwise_has_program,
};

const mona_op_class mona_op_mul = {
    .name = "mul",
    .min_inputs = 2,
    .max_inputs = 2,
    .check = check,
    .infer = infer,
    .rows = same_span,
    .columns = same_span,
    .constants_bytes = constants_bytes,
    .bind = bind,
    .row = row,
    .some_rows = some_rows,
    .has_program = mona_elementwise_has_program,
};
