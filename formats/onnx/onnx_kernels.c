// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_graph.h"

#include <stdio.h>
#include <string.h>

const mona_kernel *onnx_kernel_of(const onnx_graph *g, const onnx_node *node)
{
    for (const mona_kernel *const *k = g->kernels; k && *k; k++)
        if (!strcmp((*k)->name, node->op_type))
            return *k;
    return NULL;
}

static bool refuse(const onnx_node *node, uint32_t i, const mona_kernel_operand *o,
                   const tensor *found, const onnx_grid *grid, format_error *error)
{
    char text[128], wanted[128];
    tensor_text(found, text, sizeof text);
    if (!o->planes)
        snprintf(wanted, sizeof wanted, "%u elements", o->elements);
    else if (grid)
        snprintf(wanted, sizeof wanted, "%u planes of %u x %u", o->planes,
                 grid->rows * o->cell_rows, grid->columns * o->cell_columns);
    else
        snprintf(wanted, sizeof wanted, "%u planes of rows and columns in cells of %u x %u",
                 o->planes, o->cell_rows, o->cell_columns);
    return onnx_node_fail(node, error, "reads %s as input %u: expected %s, %s", text, i,
                          element_name(element_of(o->type)), wanted);
}

/* Planes, rows and columns are the last three dimensions; those before them are 1. A single plane
 * needs no dimension of its own. */
static bool planes_fit(const mona_kernel_operand *o, const tensor *t)
{
    const uint32_t rank = t->rank;
    if (rank < 2 || t->dims[rank - 2] % o->cell_rows || t->dims[rank - 1] % o->cell_columns)
        return false;
    const int64_t rows = t->dims[rank - 2] / o->cell_rows;
    const int64_t columns = t->dims[rank - 1] / o->cell_columns;
    return rows > 0 && columns > 0 && rows <= MONA_MAX_SIDE && columns <= MONA_MAX_SIDE &&
           t->count == (uint64_t)o->planes * (uint64_t)(t->dims[rank - 2] * t->dims[rank - 1]) &&
           (rank > 2 ? t->dims[rank - 3] == o->planes : o->planes == 1);
}

bool onnx_kernel_grid(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                      onnx_grid *grid, format_error *error)
{
    if (node->attribute_count)
        return onnx_node_fail(node, error,
                              "has the attribute '%.40s': expected none; a kernel takes numbers as "
                              "tables, which are inputs",
                              node->attributes[0].name);
    if (node->input_count != k->inputs || node->output_count > k->outputs)
        return onnx_node_fail(node, error, "has %u inputs and %u outputs: expected %u and up to %u",
                              node->input_count, node->output_count, k->inputs, k->outputs);
    *grid = (onnx_grid){0};
    for (uint32_t i = 0; i < k->inputs; i++) {
        const mona_kernel_operand *o = &k->operands[i];
        const tensor *t = in[i];
        if (!t)
            return onnx_node_fail(node, error, "leaves out input %u", i);
        const bool fits = t->type == element_of(o->type) &&
                          (o->planes ? planes_fit(o, t) : t->count == o->elements);
        if (!fits)
            return refuse(node, i, o, t, grid->rows ? grid : NULL, error);
        if (!o->planes)
            continue;
        const onnx_grid own = {(uint32_t)(t->dims[t->rank - 2] / o->cell_rows),
                               (uint32_t)(t->dims[t->rank - 1] / o->cell_columns)};
        if (grid->rows && (own.rows != grid->rows || own.columns != grid->columns))
            return refuse(node, i, o, t, grid, error);
        *grid = own;
    }
    return grid->rows || onnx_node_fail(node, error, "reads tables alone");
}

/* Results have as many dimensions as the first input that is none of the tables; three at least if
 * they have several planes. */
bool onnx_kernel_shapes(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                        tensor *out, format_error *error)
{
    onnx_grid grid;
    uint32_t first = 0;
    if (!onnx_kernel_grid(k, node, in, &grid, error))
        return false;
    while (!k->operands[first].planes)
        first++;
    for (uint32_t i = 0; i < node->output_count; i++) {
        const mona_kernel_operand *o = &k->operands[k->inputs + i];
        const uint32_t rank = in[first]->rank + (in[first]->rank == 2 && o->planes > 1);
        int64_t dims[TENSOR_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        if (rank > 2)
            dims[rank - 3] = o->planes;
        dims[rank - 2] = (int64_t)grid.rows * o->cell_rows;
        dims[rank - 1] = (int64_t)grid.columns * o->cell_columns;
        if (!tensor_shape(&out[i], element_of(o->type), rank, dims))
            return onnx_node_fail(node, error, "makes more elements than a tensor may have");
    }
    return true;
}
