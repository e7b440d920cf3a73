// SPDX-License-Identifier: Apache-2.0
/* Kernels of the user's own, on whole tensors. */
#include <stdlib.h>

#include "engine/arith.h"
#include "formats/reference/operators.h"

/* The rows of line y, or a table. */
static mona_buffer line_of(const mona_kernel_operand *o, const onnx_grid *grid, const tensor *t,
                           uint32_t y)
{
    const size_t row = grid->columns * mona_kernel_cell_bytes(o);
    return (mona_buffer){(uint8_t *)t->data + (size_t)y * o->cell_rows * row, (ptrdiff_t)row,
                         (ptrdiff_t)(row * grid->rows * o->cell_rows)};
}

static bool pull(mona_kernel_lines *lines, const mona_kernel *k, const onnx_grid *grid,
                 const tensor *out, uint32_t *y)
{
    mona_buffer to[MONA_KERNEL_OPERANDS];
    bool ready;
    for (uint32_t i = 0; i < k->outputs; i++)
        to[i] = line_of(&k->operands[k->inputs + i], grid, &out[i], *y);
    const bool ok = !mona_kernel_lines_pull(lines, to, &ready) && ready;
    *y += ok;
    return ok;
}

static bool run_lines(mona_kernel_lines *lines, const mona_kernel *k, const onnx_grid *grid,
                      const tensor *const *in, const tensor *out)
{
    mona_buffer from[MONA_KERNEL_OPERANDS];
    uint32_t made = 0;
    for (uint32_t y = 0; y < grid->rows; y++) {
        for (uint32_t i = 0; i < k->inputs; i++)
            from[i] = line_of(&k->operands[i], grid, in[i], y);
        if (mona_kernel_lines_push(lines, from))
            return false;
        while (made < grid->rows && pull(lines, k, grid, out, &made))
            ;
    }
    return made == grid->rows;
}

bool reference_kernel(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                      tensor *out, format_error *error)
{
    tensor made[MONA_KERNEL_OPERANDS] = {0}, shapes[MONA_KERNEL_OPERANDS] = {0};
    onnx_grid grid;
    mona_kernel_lines *lines;
    onnx_node all = *node; /* kernels make all of their outputs */
    all.output_count = k->outputs;
    if (!onnx_kernel_grid(k, node, in, &grid, error) ||
        !onnx_kernel_shapes(k, &all, in, shapes, error))
        return false;
    const size_t bytes = mona_kernel_lines_bytes(k, grid.columns);
    void *memory = bytes ? aligned_alloc(MONA_ALIGNMENT, round_up(bytes, MONA_ALIGNMENT)) : NULL;
    bool ok = memory && !mona_kernel_lines_open(&lines, k, grid.rows, grid.columns, memory, bytes);
    for (uint32_t i = 0; ok && i < k->outputs; i++)
        ok = tensor_make(&made[i], shapes[i].type, shapes[i].rank, shapes[i].dims);
    ok = ok && run_lines(lines, k, &grid, in, made);
    for (uint32_t i = 0; i < k->outputs; i++)
        if (ok && i < node->output_count)
            out[i] = made[i];
        else
            tensor_free(&made[i]);
    free(memory);
    return ok || onnx_node_fail(node, error, "does not fit into memory");
}
