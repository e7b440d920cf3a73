// SPDX-License-Identifier: Apache-2.0
/* Operators on arrays: their records, tables and constants. */
#include "formats/compiler/lower/lowering.h"

/* The table of axis i, at the place of its offset in the record. */
static uint32_t *table_field(graph_array *a, uint32_t i)
{
    if (a->kind == MONA_OP_ARRAY_PICK)
        return i < MONA_ARRAY_DIMS ? &a->pick.table[i] : &a->pick.source_table;
    uint32_t *const fields[] = {&a->resample.first, &a->resample.index, &a->resample.weight};
    return fields[i];
}

static size_t record_size(mona_op_kind kind)
{
    switch (kind) {
    case MONA_OP_ARRAY_MAP:
        return sizeof(mona_array_map);
    case MONA_OP_ARRAY_PICK:
        return sizeof(mona_array_pick);
    case MONA_OP_ARRAY_REDUCE:
        return sizeof(mona_array_reduce);
    case MONA_OP_ARRAY_MATMUL:
        return sizeof(mona_array_matmul);
    case MONA_OP_ARRAY_WINDOW:
        return sizeof(mona_array_window);
    case MONA_OP_ARRAY_RESAMPLE:
        return sizeof(mona_array_resample);
    case MONA_OP_ARRAY_SORT:
        return sizeof(mona_array_sort);
    case MONA_OP_ARRAY_NORMALISE:
        return sizeof(mona_array_normalise);
    default:
        return sizeof(mona_array_gather);
    }
}

static mona_file_tensor tensor_of(mona_writer *w, const graph_value *v)
{
    return (mona_file_tensor){
        .name = mona_writer_string(w, v->name),
        .type = (uint8_t)v->type,
        .array = 1,
        .channels = v->channels,
        .height = v->height,
        .width = v->width,
        .scale = 1,
    };
}

uint32_t lower_array_tensor(mona_writer *w, const graph *g, uint32_t value)
{
    const mona_file_tensor t = tensor_of(w, &g->values[value]);
    return mona_writer_tensor(w, &t);
}

void lower_array(mona_writer *w, const graph *g, const graph_node *node, const uint32_t *tensors,
                 uint32_t output)
{
    graph_array a = *node->array;
    mona_file_op op = {.kind = a.kind,
                       .name = mona_writer_string(w, node->name),
                       .input_count = node->input_count,
                       .output = output};
    for (uint32_t i = 0; i < node->input_count; i++) {
        const graph_value *v = &g->values[node->inputs[i]];
        op.inputs[i] = v->elements ? MONA_NONE : tensors[node->inputs[i]];
        if (!v->elements)
            continue;
        op.array.offset[i] = mona_writer_data(w, v->elements, v->count * mona_type_size(v->type));
        op.array.elements[i] = (uint32_t)v->count;
        op.array.type[i] = (uint8_t)v->type;
    }
    for (uint32_t i = 0; i < GRAPH_TABLES; i++)
        if (a.tables[i].data)
            *table_field(&a, i) = mona_writer_data(w, a.tables[i].data, a.tables[i].bytes);
    op.array.record = mona_writer_data(w, &a.map, record_size(a.kind));
    mona_writer_op(w, &op);
}
