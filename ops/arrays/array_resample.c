// SPDX-License-Identifier: Apache-2.0
/* ARRAY_RESAMPLE: weighted sums along one axis. Items are output positions [outer][out]; the
 * `inner` elements of one are processed in blocks. With inner 1 a block is one number, as its
 * neighbours along the axis have other weights. */
#include "ops/arrays/arrays.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_resample), data))
        return MONA_ERR_MODEL;
    const mona_array_resample *r = (const void *)(data->bytes + op->array.record);
    const uint32_t from[] = {r->outer, r->in, r->inner}, to[] = {r->outer, r->out, r->inner};
    if (mona_array_product(from, 3) != mona_shape_elements(&inputs[0]) ||
        mona_array_product(to, 3) != mona_shape_elements(output) ||
        !mona_data_ok(data, r->first, (uint64_t)r->out + 1, 4))
        return MONA_ERR_MODEL;
    const uint32_t *first = (const void *)(data->bytes + r->first);
    for (uint32_t o = 0; o < r->out; o++)
        if (first[o] > first[o + 1])
            return MONA_ERR_MODEL;
    if (first[0] || !mona_data_ok(data, r->index, first[r->out], 4) ||
        !mona_data_ok(data, r->weight, first[r->out], 4))
        return MONA_ERR_MODEL;
    const uint32_t *index = (const void *)(data->bytes + r->index);
    for (uint32_t e = 0; e < first[r->out]; e++)
        if (index[e] >= r->in)
            return MONA_ERR_MODEL;
    return MONA_OK;
}

static uint64_t items(const mona_bound_op *b)
{
    const mona_array_resample *r = array_record(b);
    return (uint64_t)r->outer * r->out;
}

static uint64_t macs(const mona_bound_op *b)
{
    const mona_array_resample *r = array_record(b);
    const uint32_t *first = (const void *)(b->data + r->first);
    return (uint64_t)r->outer * r->inner * first[r->out];
}

/* Reads count numbers of the operand from element `at` on. */
static void read(const mona_array_call *call, int64_t at, uint32_t count, float *to)
{
    mona_array_read_floats(to, source_of(call, 0), at, 1, count);
}

/* Computes elements [inner, inner + count) of output position `item`. */
static void run_block(const mona_array_call *call, const mona_array_resample *r, uint64_t item,
                      uint32_t inner, uint32_t count)
{
    float sum[ARRAY_BLOCK], x[ARRAY_BLOCK];
    const uint8_t *data = call->bound->data;
    const uint32_t *first = (const void *)(data + r->first);
    const uint32_t *index = (const void *)(data + r->index);
    const float *weight = (const void *)(data + r->weight);
    const uint32_t o = (uint32_t)(item % r->out);
    const uint64_t row = item / r->out * r->in;
    for (uint32_t i = 0; i < count; i++)
        sum[i] = first[o] == first[o + 1] ? r->fill : 0;
    for (uint32_t e = first[o]; e < first[o + 1]; e++) {
        read(call, (int64_t)((row + index[e]) * r->inner + inner), count, x);
        for (uint32_t i = 0; i < count; i++)
            sum[i] += weight[e] * x[i];
    }
    mona_array_put_floats(call->output, call->bound->output.type, MONA_WRAP,
                          item * r->inner + inner, sum, count);
}

static void array(const mona_array_call *call)
{
    const mona_array_resample *r = array_record(call->bound);
    for (uint64_t item = call->begin; item < call->end; item++)
        for (uint32_t i = 0; i < r->inner; i += ARRAY_BLOCK)
            run_block(call, r, item, i, r->inner - i < ARRAY_BLOCK ? r->inner - i : ARRAY_BLOCK);
}

const mona_op_run mona_run_array_resample = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_resample = {
    .name = "array_resample",
    .run = &mona_run_array_resample,
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check,
    .macs = macs,
};
