// SPDX-License-Identifier: Apache-2.0
/* ARRAY_PICK: elements in another order, row by row of the output's last axis. Within a row only
 * the position on that axis changes. If that axis also chooses the source, each stretch of one
 * source is a row of its own. */
#include "ops/arrays/arrays.h"

#include "engine/cpu/c/compiler.h"

/* ---- check --------------------------------------------------------------------------------- */

static const uint32_t *table_of(const mona_array_pick *p, const uint8_t *data, uint32_t axis)
{
    return p->table[axis] == MONA_NONE ? NULL : (const void *)(data + p->table[axis]);
}

static const uint8_t *sources_of(const mona_array_pick *p, const uint8_t *data)
{
    return p->source_axis == MONA_NONE ? NULL : data + p->source_table;
}

static bool tables_ok(const mona_array_pick *p, mona_data *data, uint32_t sources)
{
    for (uint32_t d = 0; d < p->dims; d++)
        if (p->table[d] != MONA_NONE && !mona_data_ok(data, p->table[d], p->extent[d], 4))
            return false;
    if (p->source_axis == MONA_NONE)
        return p->source_table == MONA_NONE;
    if (p->source_axis >= p->dims ||
        !mona_data_ok(data, p->source_table, p->extent[p->source_axis], 1))
        return false;
    const uint8_t *source = sources_of(p, data->bytes);
    for (uint32_t i = 0; i < p->extent[p->source_axis]; i++)
        if (source[i] >= sources)
            return false;
    return true;
}

/* The range of positions on an axis that are read from source s. Empty if begin >= end. */
static mona_span positions_of(const mona_array_pick *p, const uint8_t *data, uint32_t axis,
                              uint32_t s)
{
    const uint32_t *table = table_of(p, data, axis);
    const uint8_t *source = axis == p->source_axis ? sources_of(p, data) : NULL;
    mona_span span = {INT64_MAX, INT64_MIN};
    if (!table && !source) /* no table in the file bounds its extent, which may be large */
        return (mona_span){0, p->extent[axis]};
    for (uint32_t i = 0; i < p->extent[axis]; i++) {
        const uint32_t at = table ? table[i] : i;
        if (at == MONA_NONE || (source && source[i] != s))
            continue;
        span.begin = at < span.begin ? at : span.begin;
        span.end = at >= span.end ? (int64_t)at + 1 : span.end;
    }
    return span;
}

/* The positions read on each axis. Only on the axis that chooses the source do they depend on s. */
static void find_positions(const mona_array_pick *p, const uint8_t *data, uint32_t s,
                           mona_span *positions)
{
    for (uint32_t d = 0; d < p->dims; d++)
        if (!s || d == p->source_axis)
            positions[d] = positions_of(p, data, d, s);
}

/* Whether no element outside source s is read. Positions and strides are at most 2^30, so eight
 * products cannot overflow. That must hold for an empty axis as well, as rows are placed before it
 * is noticed. */
static bool source_ok(const mona_array_pick *p, const mona_span *positions, uint32_t s,
                      uint64_t elements)
{
    int64_t min = p->base[s], max = min;
    bool read = true;
    for (uint32_t d = 0; d < p->dims; d++) {
        const mona_span at = positions[d];
        const int64_t stride = p->stride[s][d];
        if (stride > MONA_ARRAY_MAX_STRIDE || stride < -MONA_ARRAY_MAX_STRIDE ||
            at.end > MONA_ARRAY_MAX_ELEMENTS)
            return false;
        if (at.begin >= at.end) {
            read = false;
            continue;
        }
        min += (stride < 0 ? at.end - 1 : at.begin) * stride;
        max += (stride < 0 ? at.begin : at.end - 1) * stride;
    }
    return !read || (min >= 0 && max < (int64_t)elements);
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    if (!record_ok(op, sizeof(mona_array_pick), data))
        return MONA_ERR_MODEL;
    const mona_array_pick *p = (const void *)(data->bytes + op->array.record);
    if (!p->dims || p->dims > MONA_ARRAY_DIMS ||
        mona_array_product(p->extent, p->dims) != mona_shape_elements(output) ||
        !tables_ok(p, data, op->input_count))
        return MONA_ERR_MODEL;
    mona_span positions[MONA_ARRAY_DIMS];
    for (uint32_t s = 0; s < op->input_count; s++) {
        find_positions(p, data->bytes, s, positions);
        if (mona_type_size(inputs[s].type) != mona_type_size(output->type) ||
            !source_ok(p, positions, s, mona_shape_elements(&inputs[s])))
            return MONA_ERR_MODEL;
    }
    return MONA_OK;
}

/* ---- a stretch of one source --------------------------------------------------------------- */

typedef struct stretch {
    uint8_t *to;
    const uint8_t *from;   /* the source's element 0 */
    int64_t at, stride;    /* element of position 0; elements from one position to the next */
    const uint32_t *table; /* its entries from the first element on, or NULL: positions from
                              `first` on */
    uint32_t first, count;
    uint64_t fill;
} stretch;

INLINE void pick(const stretch *s, size_t size)
{
    if (!s->table) {
        const uint8_t *from = s->from + (s->at + s->first * s->stride) * (int64_t)size;
        const ptrdiff_t step = (ptrdiff_t)s->stride * (ptrdiff_t)size;
        if (s->stride == 1)
            memcpy(s->to, from, s->count * size);
        else
            for (uint32_t i = 0; i < s->count; i++)
                memcpy(s->to + i * size, from + (ptrdiff_t)i * step, size);
        return;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const bool none = s->table[i] == MONA_NONE;
        const int64_t element = none ? 0 : s->at + s->table[i] * s->stride;
        const void *from = none ? (const void *)&s->fill : s->from + element * (int64_t)size;
        memcpy(s->to + i * size, from, size);
    }
}

INLINE void put_fill(const stretch *s, size_t size)
{
    for (uint32_t i = 0; i < s->count; i++)
        memcpy(s->to + i * size, &s->fill, size);
}

static void run_stretch(const stretch *s, size_t size, bool filled)
{
    switch (size) {
    case 1:
        filled ? put_fill(s, 1) : pick(s, 1);
        break;
    case 2:
        filled ? put_fill(s, 2) : pick(s, 2);
        break;
    case 4:
        filled ? put_fill(s, 4) : pick(s, 4);
        break;
    default:
        filled ? put_fill(s, 8) : pick(s, 8);
        break;
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* An output row: what all axes but the last have chosen. */
typedef struct row_place {
    int64_t at[MONA_OP_MAX_INPUTS]; /* by source */
    uint32_t source;
    bool filled;
} row_place;

static row_place place_of(const mona_array_call *call, const mona_array_pick *p,
                          const uint32_t *index)
{
    const uint8_t *data = call->bound->data;
    row_place place = {.source = 0};
    for (uint32_t s = 0; s < call->bound->op->input_count; s++)
        place.at[s] = p->base[s];
    for (uint32_t d = 0; d + 1 < p->dims; d++) {
        const uint32_t *table = table_of(p, data, d);
        const uint32_t at = table ? table[index[d]] : index[d];
        if (d == p->source_axis)
            place.source = sources_of(p, data)[index[d]];
        place.filled |= at == MONA_NONE;
        for (uint32_t s = 0; s < call->bound->op->input_count; s++)
            place.at[s] += (int64_t)(at == MONA_NONE ? 0 : at) * p->stride[s][d];
    }
    return place;
}

/* Computes elements [first, first + count) of a row. */
static void run_row(const mona_array_call *call, const mona_array_pick *p, const uint32_t *index,
                    uint8_t *to, uint32_t count)
{
    const uint32_t last = p->dims - 1;
    const size_t size = mona_type_size(call->bound->output.type);
    const uint8_t *source = p->source_axis == last ? sources_of(p, call->bound->data) : NULL;
    const uint32_t *table = table_of(p, call->bound->data, last);
    const row_place place = place_of(call, p, index);
    const uint32_t end = index[last] + count;
    for (uint32_t i = index[last], next; i < end; i = next) {
        const uint32_t s = source ? source[i] : place.source;
        next = source ? i + 1 : end;
        while (next < end && source[next] == s)
            next++;
        const stretch one = {.to = to + (i - index[last]) * size,
                             .from = call->input[s],
                             .at = place.at[s],
                             .stride = p->stride[s][last],
                             .table = table ? table + i : NULL,
                             .first = i,
                             .count = next - i,
                             .fill = p->fill};
        run_stretch(&one, size, place.filled);
    }
}

static void array(const mona_array_call *call)
{
    static const int32_t no_strides[MONA_ARRAY_DIMS];
    const mona_array_pick *p = array_record(call->bound);
    const size_t size = mona_type_size(call->bound->output.type);
    array_walk walk = walk_from(p->dims, p->extent, no_strides, 0, call->begin);
    uint32_t count;
    for (uint64_t i = call->begin; i < call->end; i += count) {
        const uint64_t left = call->end - i;
        count = walk_run(&walk, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
        run_row(call, p, walk.index, call->output + i * size, count);
        walk_pass(&walk, count);
    }
}

const mona_op_run mona_run_array_pick = {
    .array = array,
};

const mona_op_class mona_op_array_pick = {
    .name = "array_pick",
    .run = &mona_run_array_pick,
    .min_inputs = 1,
    .max_inputs = MONA_OP_MAX_INPUTS,
    .check = check,
};
