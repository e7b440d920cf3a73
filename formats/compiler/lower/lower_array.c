// SPDX-License-Identifier: Apache-2.0
/* Operators on arrays: their records, tables and constants. */
#include "formats/compiler/lower/lowering.h"

#include <string.h>

static const size_t record_sizes[] = {
    [MONA_OP_ARRAY_MAP] = sizeof(mona_array_map),
    [MONA_OP_ARRAY_PICK] = sizeof(mona_array_pick),
    [MONA_OP_ARRAY_REDUCE] = sizeof(mona_array_reduce),
    [MONA_OP_ARRAY_MATMUL] = sizeof(mona_array_matmul),
    [MONA_OP_ARRAY_WINDOW] = sizeof(mona_array_window),
    [MONA_OP_ARRAY_RESAMPLE] = sizeof(mona_array_resample),
    [MONA_OP_ARRAY_GATHER] = sizeof(mona_array_gather),
    [MONA_OP_ARRAY_SORT] = sizeof(mona_array_sort),
    [MONA_OP_ARRAY_NORMALISE] = sizeof(mona_array_normalise),
    [MONA_OP_ARRAY_KERNEL] = sizeof(mona_array_kernel),
};

/* The dims of an input. */
static void put_dims(lowering *l, const graph_value *v, mona_file_tensor *t)
{
    uint32_t dims[GRAPH_MAX_RANK];
    for (uint32_t i = 0; i < v->rank; i++)
        dims[i] = (uint32_t)v->dims[i];
    t->shape.rank = v->rank;
    t->shape.dims = v->rank ? mona_writer_data(&l->w, dims, v->rank * sizeof *dims) : 0;
}

uint32_t lower_array_tensor(lowering *l, uint32_t value)
{
    const graph_value *v = &l->g->values[value];
    mona_file_tensor t = {
        .name = mona_writer_string(&l->w, v->name),
        .type = (uint8_t)v->type,
        .array = 1,
        .channels = v->channels,
        .height = v->height,
        .width = v->width,
        .scale = 1,
    };
    if (graph_is_input(l->g, value))
        put_dims(l, v, &t);
    return mona_writer_tensor(&l->w, &t);
}

bool lower_array(lowering *l, const graph_node *node)
{
    const uint32_t output = lower_result(l, node->output);
    graph_array a = *node->array;
    mona_file_op op = {.kind = a.kind,
                       .name = mona_writer_string(&l->w, node->name),
                       .input_count = node->input_count,
                       .output = output};
    for (uint32_t i = 0; i < node->input_count; i++) {
        const graph_value *v = &l->g->values[node->inputs[i]];
        op.inputs[i] = v->elements ? MONA_NONE : l->tensors[node->inputs[i]];
        if (!v->elements)
            continue;
        op.array.offset[i] =
            mona_writer_data(&l->w, v->elements, v->count * mona_type_size(v->type));
        op.array.elements[i] = (uint32_t)v->count;
        op.array.type[i] = (uint8_t)v->type;
    }
    for (uint32_t i = 0; i < GRAPH_TABLES; i++)
        if (a.tables[i].data) {
            const uint32_t at = mona_writer_data(&l->w, a.tables[i].data, a.tables[i].bytes);
            memcpy((uint8_t *)&a.map + a.tables[i].field, &at, sizeof at);
        }
    op.array.record = mona_writer_data(&l->w, &a.map, record_sizes[a.kind]);
    mona_writer_op(&l->w, &op);
    return true;
}
