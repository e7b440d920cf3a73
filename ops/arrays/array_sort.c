// SPDX-License-Identifier: Apache-2.0
/* ARRAY_SORT: the first elements of an axis in order. Items are pairs of an index of the outer and
 * one of the inner dimensions; the best so far are kept in order. */
#include "ops/arrays/arrays.h"

typedef struct candidate {
    array_number number;
    int64_t index;
} candidate;

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_sort), data))
        return MONA_ERR_MODEL;
    const mona_array_sort *s = (const void *)(data->bytes + op->array.record);
    const uint32_t from[] = {s->outer, s->extent, s->inner}, to[] = {s->outer, s->count, s->inner};
    const bool sound = s->arithmetic < MONA_ARITHMETIC_COUNT && s->count <= s->extent &&
                       mona_array_product(from, 3) == mona_shape_elements(&inputs[0]) &&
                       mona_array_product(to, 3) == mona_shape_elements(output) &&
                       output->type == (s->values ? inputs[0].type : MONA_S64);
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static uint64_t items(const mona_bound_op *b)
{
    const mona_array_sort *s = array_record(b);
    return (uint64_t)s->outer * s->inner;
}

static size_t scratch_bytes(const mona_bound_op *b)
{
    const mona_array_sort *s = array_record(b);
    return array_scratch(s->count, sizeof(candidate));
}

/* A NaN is larger than every number. */
static bool is_less(float a, float b)
{
    return a < b || (a == a && b != b);
}

static bool is_before(const mona_array_sort *s, array_number a, array_number b)
{
    if (s->arithmetic == MONA_FLOAT)
        return s->ascending ? is_less(a.as_float, b.as_float) : is_less(b.as_float, a.as_float);
    return s->ascending ? a.as_int < b.as_int : a.as_int > b.as_int;
}

/* Puts an element among the `kept` first ones, where it comes after its equals. */
static uint32_t insert(const mona_array_sort *s, candidate *best, uint32_t kept, candidate c)
{
    if (kept == s->count && !is_before(s, c.number, best[kept - 1].number))
        return kept;
    uint32_t at = kept < s->count ? kept : kept - 1;
    for (; at && is_before(s, c.number, best[at - 1].number); at--)
        best[at] = best[at - 1];
    best[at] = c;
    return kept < s->count ? kept + 1 : kept;
}

/* The best of the axis whose first element is `first`. */
static void find(const mona_array_call *call, const mona_array_sort *s, uint64_t first,
                 candidate *best)
{
    union {
        float floats[ARRAY_BLOCK];
        int64_t ints[ARRAY_BLOCK];
    } block;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->extent; i += ARRAY_BLOCK) {
        const uint32_t left = s->extent - i, count = left < ARRAY_BLOCK ? left : ARRAY_BLOCK;
        mona_array_read((mona_arithmetic)s->arithmetic, &block, source_of(call, 0),
                        (int64_t)(first + (uint64_t)i * s->inner), (int32_t)s->inner, count);
        for (uint32_t k = 0; k < count; k++) {
            candidate c = {.index = i + k};
            if (s->arithmetic == MONA_FLOAT)
                c.number.as_float = block.floats[k];
            else
                c.number.as_int = block.ints[k];
            kept = insert(s, best, kept, c);
        }
    }
}

static void array(const mona_array_call *call)
{
    const mona_array_sort *s = array_record(call->bound);
    const size_t size = mona_type_size(call->bound->input[0].type);
    candidate *best = (candidate *)(void *)call->scratch;
    for (uint64_t i = call->begin; i < call->end; i++) {
        const uint64_t outer = i / s->inner, inner = i % s->inner;
        const uint64_t first = outer * s->extent * s->inner + inner;
        find(call, s, first, best);
        for (uint32_t r = 0; r < s->count; r++) {
            const uint64_t to = (outer * s->count + r) * s->inner + inner;
            const uint64_t from = first + (uint64_t)best[r].index * s->inner;
            if (s->values)
                memcpy(call->output + to * size, call->input[0] + from * size, size);
            else
                memcpy(call->output + to * sizeof(int64_t), &best[r].index, sizeof(int64_t));
        }
    }
}

const mona_op_run mona_run_array_sort = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_sort = {
    .name = "array_sort",
    .run = &mona_run_array_sort,
    .min_inputs = 1,
    .max_inputs = 1,
    .check = check,
    .map_scratch_bytes = scratch_bytes,
};
