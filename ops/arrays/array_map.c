// SPDX-License-Identifier: Apache-2.0
/* ARRAY_MAP: a function of the elements of up to three arrays, block by block: operands are
 * converted to numbers, and results are stored. First, dimensions that all operands traverse like a
 * single one are joined, so that rows are as long as possible. */
#include "ops/arrays/arrays.h"

static bool joins(const array_map_layout *l, const mona_array_map *m, uint32_t d, uint32_t operands)
{
    for (uint32_t k = 0; k < operands; k++)
        if (l->stride[k][l->dims - 1] != (int64_t)m->stride[k][d] * m->extent[d])
            return false;
    return true;
}

array_map_layout mona_array_map_layout(const mona_array_map *m, uint32_t operands)
{
    array_map_layout l = {0};
    for (uint32_t d = 0; d < m->dims; d++) {
        if (m->extent[d] == 1)
            continue;
        const bool joined = l.dims && joins(&l, m, d, operands);
        const uint32_t to = joined ? l.dims - 1 : l.dims++;
        l.extent[to] = joined ? l.extent[to] * m->extent[d] : m->extent[d];
        for (uint32_t k = 0; k < operands; k++)
            l.stride[k][to] = m->stride[k][d];
    }
    return l;
}

static bool is_narrowing(uint32_t function)
{
    return function == MONA_FN_NARROW || function == MONA_FN_NARROW_UP ||
           function == MONA_FN_NARROW_DOWN;
}

static bool is_whole_within(float x, float low, float high)
{
    return x >= low && x <= high && (float)(int32_t)x == x;
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_map), data))
        return MONA_ERR_MODEL;
    const mona_array_map *m = (const void *)(data->bytes + op->array.record);
    if (m->arithmetic >= MONA_ARITHMETIC_COUNT || m->conversion >= MONA_CONVERSION_COUNT)
        return MONA_ERR_MODEL;
    const bool known = m->arithmetic == MONA_FLOAT ? mona_array_has_float(m->function)
                                                   : mona_array_has_int(m->function);
    if (!known || !m->dims || m->dims > MONA_ARRAY_DIMS ||
        op->input_count != function_arity(m->function) ||
        mona_array_product(m->extent, m->dims) != mona_shape_elements(output))
        return MONA_ERR_MODEL;
    if (is_narrowing(m->function) &&
        (!is_whole_within(m->parameter[0], 0, 23) || !is_whole_within(m->parameter[1], -149, 127)))
        return MONA_ERR_MODEL;
    for (uint32_t k = 0; k < op->input_count; k++)
        if (!mona_array_inside(m->extent, m->stride[k], m->dims, m->base[k],
                               mona_shape_elements(&inputs[k])))
            return MONA_ERR_MODEL;
    return MONA_OK;
}

/* Computes elements from `first` on, at which the walks must stand. */
static void float_block(const mona_array_call *call, const mona_array_map *m, array_walk *walks,
                        uint64_t first, uint32_t count)
{
    float room[MAP_OPERANDS][ARRAY_BLOCK], y[ARRAY_BLOCK];
    const float *x[MAP_OPERANDS] = {0};
    for (uint32_t k = 0; k < call->bound->op->input_count; k++)
        x[k] = mona_array_view(room[k], source_of(call, k), &walks[k], count);
    mona_array_apply_float(m->function, m->parameter, y, x, count);
    mona_array_put_floats(call->output, call->bound->output.type, (mona_conversion)m->conversion,
                          first, y, count);
}

static void int_block(const mona_array_call *call, const mona_array_map *m, array_walk *walks,
                      uint64_t first, uint32_t count)
{
    int64_t room[MAP_OPERANDS][WIDE_BLOCK], y[WIDE_BLOCK];
    const int64_t *x[MAP_OPERANDS] = {0};
    const bool is_unsigned = call->bound->input[0].type == MONA_U64;
    for (uint32_t k = 0; k < call->bound->op->input_count; k++) {
        mona_array_ints(room[k], source_of(call, k), &walks[k], count);
        x[k] = room[k];
    }
    mona_array_apply_int(m->function, is_unsigned, y, x, count);
    mona_array_put_ints(call->output, call->bound->output.type, (mona_conversion)m->conversion,
                        is_unsigned, first, y, count);
}

static void array(const mona_array_call *call)
{
    const mona_array_map *m = array_record(call->bound);
    const uint32_t operands = call->bound->op->input_count;
    const array_map_layout l = mona_array_map_layout(m, operands);
    array_walk walks[MAP_OPERANDS];
    for (uint32_t k = 0; k < operands; k++)
        walks[k] = walk_from(l.dims, l.extent, l.stride[k], m->base[k], call->begin);
    const uint32_t block = m->arithmetic == MONA_FLOAT ? ARRAY_BLOCK : WIDE_BLOCK;
    uint32_t count;
    for (uint64_t i = call->begin; i < call->end; i += count) {
        count = call->end - i < block ? (uint32_t)(call->end - i) : block;
        if (m->arithmetic == MONA_FLOAT)
            float_block(call, m, walks, i, count);
        else
            int_block(call, m, walks, i, count);
    }
}

const mona_op_run mona_run_array_map = {
    .array = array,
};

const mona_op_class mona_op_array_map = {
    .name = "array_map",
    .run = &mona_run_array_map,
    .min_inputs = 1,
    .max_inputs = MAP_OPERANDS,
    .check = check,
};
