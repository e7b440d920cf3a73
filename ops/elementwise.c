// SPDX-License-Identifier: Apache-2.0
/* ADD and MUL: two tensors of one size, element by element, then the epilogue. The second may have
 * a single channel or a single pixel, which is combined with all of the first's. */
#include "engine/cpu/isa_table.h"
#include "ops/helpers.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    const bool channels = inputs[0].channels == output->channels &&
                          (inputs[1].channels == output->channels || inputs[1].channels == 1);
    const bool zero = !output->zero || !mona_is_function(op->epilogue.activation_after_add);
    return channels && zero && f16_finite(op->elementwise.scale[0]) &&
                   f16_finite(op->elementwise.scale[1]) &&
                   mona_epilogue_check(&op->epilogue, output, data)
               ? MONA_OK
               : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    const bool one = inputs[1].height == 1 && inputs[1].width == 1;
    const mona_status status = same_pixels(op, inputs, output);
    return one || have_same_pixels(&inputs[0], &inputs[1]) ? status : MONA_ERR_SHAPE;
}

/* Whether every row reads the only pixel of the second operand. */
static bool one_pixel(const mona_bound_op *b, uint32_t i)
{
    return i == 1 && b->input[1].height == 1 && b->input[1].width == 1;
}

static mona_span span_of(const mona_bound_op *b, uint32_t i, mona_span out)
{
    return one_pixel(b, i) ? (mona_span){0, 1} : out;
}

/* Constants: the bound epilogue, then its arrays. */
static size_t constants_bytes(const mona_bound_op *b)
{
    return align_up(sizeof(mona_epilogue)) +
           mona_epilogue_bytes(&b->op->epilogue, b->output.channels);
}

static void bind(const mona_bound_op *b)
{
    uint8_t *arrays = (uint8_t *)b->constants + align_up(sizeof(mona_epilogue));
    mona_epilogue_bind(b->constants, &b->op->epilogue, b->output.channels, b->data, NULL, arrays);
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const bool one = one_pixel(b, 1);
    mona_elementwise_row e = {
        .multiply = b->op->kind == MONA_OP_MUL,
        .a = input_row(call, 0),
        .b = input_row_from(call, 1, one ? 0 : call->x_begin),
        .output = output_row(call),
        .channels = b->output.channels,
        .pixels = (uint32_t)(call->x_end - call->x_begin),
        .scale_a = mona_f32_from_f16(b->op->elementwise.scale[0]),
        .scale_b = mona_f32_from_f16(b->op->elementwise.scale[1]),
        .zero_a = b->input[0].zero,
        .zero_b = b->input[1].zero,
        .zero = b->output.zero,
        .broadcast_b = b->input[1].channels == 1 && b->output.channels > 1,
        .one_pixel_b = one,
        .epilogue = *(const mona_epilogue *)b->constants,
    };
    e.output.type = mona_epilogue_type(b);
    b->isa->elementwise_row(&e);
    mona_epilogue_function(b, &e.epilogue, e.output, e.channels, e.pixels);
}

/* Its kind says which of the two an operator is. */
#define OPERATOR(operation)                                                                        \
    const mona_op_run mona_run_##operation = {                                                     \
        .rows = span_of,                                                                           \
        .columns = span_of,                                                                        \
        .row = row,                                                                                \
    };                                                                                             \
    const mona_op_class mona_op_##operation = {                                                    \
        .name = #operation,                                                                        \
        .run = &mona_run_##operation,                                                              \
        .kernels = MONA_KERNEL(elementwise_row) | MONA_KERNEL(function_row),                       \
        .min_inputs = 2,                                                                           \
        .max_inputs = 2,                                                                           \
        .zeros = MONA_ZEROS_ANY,                                                                   \
        .picture = MONA_PICTURE_SUMMED,                                                            \
        .has_epilogue = true,                                                                      \
        .check = check,                                                                            \
        .infer = infer,                                                                            \
        .constants_bytes = constants_bytes,                                                        \
        .bind = bind,                                                                              \
    };
OPERATOR(add)
OPERATOR(mul)
