// SPDX-License-Identifier: Apache-2.0
/* Small functions that several operators share. Private to ops/. */
#ifndef MONA_OPS_HELPERS_H
#define MONA_OPS_HELPERS_H

#include "engine/cpu/c/f16.h"
#include "engine/arith.h"
#include "engine/op/op.h"

/* In a partly filled channel block, channels beyond the last one are zero in every tensor that is
 * read several elements at a time. Operators that write element by element leave the zeros that a
 * ring holds from the beginning. But they are any finite numbers in tensors with a zero other than
 * 0 (model_format.h), and in means of these. */

static inline bool f16_finite(uint16_t bits)
{
    return (bits & 0x7c00) != 0x7c00;
}

static inline bool f32_finite(float x)
{
    return (mona_bits(x) & 0x7f800000) != 0x7f800000;
}

static inline bool all_finite(const uint8_t *floats, uint32_t count)
{
    const float *values = (const float *)(const void *)floats;
    for (uint32_t i = 0; i < count; i++)
        if (!f32_finite(values[i]))
            return false;
    return true;
}

/* mona_op_run.rows and columns of an operator that reads exactly the pixel it writes. */
static inline mona_span same_span(const mona_bound_op *bound, uint32_t i, mona_span out)
{
    (void)bound, (void)i;
    return out;
}

/* mona_op_class.infer of an operator whose result has as many pixels as its first input. */
static inline mona_status same_pixels(const mona_file_op *op, const mona_shape *inputs,
                                      mona_shape *output)
{
    (void)op;
    output->height = inputs[0].height;
    output->width = inputs[0].width;
    return MONA_OK;
}

static inline bool have_same_pixels(const mona_shape *a, const mona_shape *b)
{
    return a->height == b->height && a->width == b->width;
}

/* The row that a call writes, from its first pixel on. */
static inline mona_row output_row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const size_t column = (size_t)(call->x_begin - call->output.x_begin);
    return (mona_row){call->output.rows[0] + column * b->output_c0 * mona_type_size(b->output.type),
                      call->output.block_stride, b->output_c0, b->output.type};
}

/* The first row of the window of input i, from column x on. */
static inline mona_row input_row_from(const mona_row_call *call, uint32_t i, int64_t x)
{
    const mona_bound_op *b = call->bound;
    const size_t column = (size_t)(x - call->input[i].x_begin);
    return (mona_row){call->input[i].rows[0] +
                          column * b->input_c0[i] * mona_type_size(b->input[i].type),
                      call->input[i].block_stride, b->input_c0[i], b->input[i].type};
}

/* The same from the call's first pixel on. */
static inline mona_row input_row(const mona_row_call *call, uint32_t i)
{
    return input_row_from(call, i, call->x_begin);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Where a program finds a row of a tensor: what mona_row is to row kernels. */
typedef struct mona_row_at {
    ac_address at; /* pixel 0 */
    size_t block_stride;
    uint32_t c0;
    mona_type type;
} mona_row_at;

/* Row k of a window of input i, from column x of the first channel block on. */
static inline ac_address mona_window_at(const mona_row_call *call, uint32_t i, size_t k, int64_t x)
{
    const mona_bound_op *b = call->bound;
    const mona_rows *in = &call->input[i];
    return in->at[k] +
           (uint64_t)(x - in->x_begin) * b->input_c0[i] * mona_type_size(b->input[i].type);
}

static inline mona_row_at mona_input_at(const mona_row_call *call, uint32_t i)
{
    const mona_bound_op *b = call->bound;
    return (mona_row_at){mona_window_at(call, i, 0, call->x_begin), call->input[i].block_stride,
                         b->input_c0[i], b->input[i].type};
}

static inline mona_row_at mona_output_at(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const size_t column = b->output_c0 * mona_type_size(b->output.type);
    return (mona_row_at){call->output.at[0] +
                             (uint64_t)(call->x_begin - call->output.x_begin) * column,
                         call->output.block_stride, b->output_c0, b->output.type};
}

/* Channel c, row y and `bytes` bytes before the sample of planes that the call reads or writes. */
static inline ac_address mona_plane_at(const mona_row_call *call, uint32_t i, int64_t c, int64_t y,
                                       int64_t bytes)
{
    const mona_buffer *p = &call->planes[i];
    return call->planes_at[i] + (uint64_t)(c * p->channel_stride + y * p->row_stride + bytes);
}

/* Channel c of the row's first pixel. */
static inline ac_address mona_channel_at(const mona_row_at *row, uint32_t c)
{
    return row->at + c / row->c0 * row->block_stride + c % row->c0 * mona_type_size(row->type);
}

/* ---- epilogues ------------------------------------------------------------------------------- */

/* The epilogue of an operator with `channels` output channels.
 *   check  whether parameters and data are in range; checks the residual only if the operator has
 *          one
 *   bytes  memory for the arrays of the bound epilogue
 *   bind   fills *e; its arrays go to `constants`. scales: [channels], fp16 bits, or NULL */
bool mona_epilogue_check(const mona_file_epilogue *file, const mona_shape *output, mona_data *data);
size_t mona_epilogue_bytes(const mona_file_epilogue *file, uint32_t channels);
void mona_epilogue_bind(mona_epilogue *e, const mona_file_epilogue *file, uint32_t channels,
                        const uint8_t *data, const uint16_t *scales, void *constants);

/* The type of results before their function; and that function, for a row of them that begins at
 * the first channel of a channel block. */
mona_type mona_epilogue_type(const mona_bound_op *b);
void mona_epilogue_function(const mona_bound_op *b, const mona_epilogue *e, mona_row row,
                            uint32_t channels, uint32_t pixels);

/* CONV's check, see mona_op_class. */
mona_status mona_conv_check(const mona_file_op *op, const mona_shape *inputs,
                            const mona_shape *output, mona_data *data);

/* Of ARRAY_KERNEL and KERNEL. Whether the record names a kernel of the application's, whose table
 * keeps to its limits, with as many inputs and such an output; then *kernel is it. The other is
 * mona_op_class.kernel. */
mona_status mona_kernel_check(const mona_file_op *op, mona_data *data, const mona_kernel **kernel);
const mona_kernel *mona_kernel_of(const mona_model *model, const mona_file_op *op);

/* What a call of a kernel points at, at the front of their scratch. */
typedef struct mona_kernel_scratch {
    const void *inputs[MONA_KERNEL_ROWS];
    void *outputs[MONA_KERNEL_ROWS];
} mona_kernel_scratch;

/* The planes that STORE `bound` writes for row y of its input, from column x_begin on. rows: room
 * for as many pointers as the planes have channels, times the block. */
mona_planes mona_store_planes(const mona_bound_op *bound, const mona_buffer *planes, int64_t y,
                              int64_t x_begin, uint8_t **rows);

#endif
