// SPDX-License-Identifier: Apache-2.0
/* ARRAY_GATHER: elements by computed indices. Items are positions of [outer][count], each `inner`
 * elements. */
#include "ops/arrays/arrays.h"

static bool is_whole(mona_type type)
{
    return type != MONA_F16 && type != MONA_F32;
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_gather), data))
        return MONA_ERR_MODEL;
    const mona_array_gather *g = (const void *)(data->bytes + op->array.record);
    const uint32_t from[] = {g->outer, g->extent, g->inner}, to[] = {g->outer, g->count, g->inner};
    const bool sound = mona_array_product(from, 3) == mona_shape_elements(&inputs[0]) &&
                       mona_array_product(to, 3) == mona_shape_elements(output) &&
                       g->count == mona_shape_elements(&inputs[1]) && is_whole(inputs[1].type) &&
                       inputs[0].type == output->type;
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static uint64_t items(const mona_bound_op *b)
{
    const mona_array_gather *g = array_record(b);
    return (uint64_t)g->outer * g->count;
}

static void array(const mona_array_call *call)
{
    static const int32_t stride = 1;
    const mona_array_gather *g = array_record(call->bound);
    const size_t bytes = g->inner * mona_type_size(call->bound->output.type);
    for (uint64_t i = call->begin; i < call->end; i++) {
        array_walk walk = walk_from(1, &g->count, &stride, 0, i % g->count);
        int64_t index;
        mona_array_ints(&index, source_of(call, 1), &walk, 1);
        index = clip_to(index < 0 ? index + g->extent : index, 0, (int64_t)g->extent - 1);
        const uint64_t from = i / g->count * g->extent + (uint64_t)index;
        memcpy(call->output + i * bytes, call->input[0] + from * bytes, bytes);
    }
}

const mona_op_run mona_run_array_gather = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_gather = {
    .name = "array_gather",
    .run = &mona_run_array_gather,
    .min_inputs = 2,
    .max_inputs = 2,
    .check = check,
};
