// SPDX-License-Identifier: Apache-2.0
/* ARRAY_MATMUL: the matrices of the batch one after another, each in tiles (arrays.h). */
#include "ops/arrays/arrays.h"

enum { MATMUL_DIMS = 6 };

/* Checks the strides of operand i: those of the batch, then those of its rows and columns. */
static bool operand_ok(const mona_array_matmul *m, uint32_t i, uint64_t elements)
{
    uint32_t extent[MATMUL_DIMS + 2];
    int32_t stride[MATMUL_DIMS + 2];
    memcpy(extent, m->extent, sizeof m->extent);
    memcpy(stride, m->batch_stride[i], sizeof m->batch_stride[i]);
    extent[m->batch_dims] = i ? m->k : m->m;
    extent[m->batch_dims + 1] = i ? m->n : m->k;
    stride[m->batch_dims] = i ? m->b_k : m->a_m;
    stride[m->batch_dims + 1] = i ? m->b_n : m->a_k;
    return mona_array_inside(extent, stride, m->batch_dims + 2u, 0, elements);
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_matmul), data))
        return MONA_ERR_MODEL;
    const mona_array_matmul *m = (const void *)(data->bytes + op->array.record);
    if (m->arithmetic >= MONA_ARITHMETIC_COUNT || m->batch_dims > MATMUL_DIMS)
        return MONA_ERR_MODEL;
    const uint32_t sides[] = {(uint32_t)mona_array_product(m->extent, m->batch_dims), m->m, m->n};
    const bool sound = mona_array_product(sides, 3) == mona_shape_elements(output) &&
                       operand_ok(m, 0, mona_shape_elements(&inputs[0])) &&
                       operand_ok(m, 1, mona_shape_elements(&inputs[1]));
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static uint64_t items(const mona_bound_op *b)
{
    const mona_array_matmul *m = array_record(b);
    return mona_array_product(m->extent, m->batch_dims) * mona_panel_tiles(m->m, m->n);
}

static uint64_t macs(const mona_bound_op *b)
{
    const mona_array_matmul *m = array_record(b);
    return mona_shape_elements(&b->output) * m->k;
}

/* The element at which the tile's matrix of operand i begins. */
static int64_t matrix_at(const panel_tile *t, uint32_t i)
{
    const mona_array_matmul *m = array_record(t->call->bound);
    return walk_from(m->batch_dims, m->extent, m->batch_stride[i], 0, t->matrix).at;
}

static void read(const panel_tile *t, uint32_t i, int64_t at, int32_t stride, uint32_t count,
                 void *to)
{
    mona_array_read(t->arithmetic, to, source_of(t->call, i), at, stride, count);
}

static void row_of_a(const panel_tile *t, uint32_t row, uint32_t k, uint32_t count, void *to)
{
    const mona_array_matmul *m = array_record(t->call->bound);
    read(t, 0, matrix_at(t, 0) + (int64_t)row * m->a_m + (int64_t)k * m->a_k, m->a_k, count, to);
}

static void row_of_b(const panel_tile *t, uint32_t k, void *to)
{
    const mona_array_matmul *m = array_record(t->call->bound);
    read(t, 1, matrix_at(t, 1) + (int64_t)k * m->b_k + (int64_t)t->column * m->b_n, m->b_n,
         t->columns, to);
}

static uint64_t place(const panel_tile *t, uint32_t row)
{
    const mona_array_matmul *m = array_record(t->call->bound);
    return (t->matrix * m->m + row) * m->n + t->column;
}

static void array(const mona_array_call *call)
{
    static const panel_reader reader = {row_of_a, row_of_b, NULL, place};
    const mona_array_matmul *m = array_record(call->bound);
    const uint64_t tiles = mona_panel_tiles(m->m, m->n);
    for (uint64_t item = call->begin; item < call->end; item++) {
        panel_tile tile = {.call = call,
                           .arithmetic = (mona_arithmetic)m->arithmetic,
                           .matrix = item / tiles,
                           .depth = m->k};
        mona_panel_locate(&tile, item % tiles, m->m, m->n);
        mona_panel_run(&reader, &tile, call->scratch);
    }
}

static size_t scratch_bytes(const mona_bound_op *b)
{
    (void)b;
    return mona_panel_scratch_bytes();
}

const mona_op_run mona_run_array_matmul = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_matmul = {
    .name = "array_matmul",
    .run = &mona_run_array_matmul,
    .min_inputs = 2,
    .max_inputs = 2,
    .check = check,
    .map_scratch_bytes = scratch_bytes,
    .macs = macs,
};
