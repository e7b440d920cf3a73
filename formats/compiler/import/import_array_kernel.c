// SPDX-License-Identifier: Apache-2.0
/* A kernel of the user's own: an operator for each output that is wanted. */
#include "formats/compiler/import/array.h"
#include "formats/onnx/onnx_graph.h"

#include <stddef.h>
#include <string.h>

bool import_array_kernel(importer *im)
{
    const mona_kernel *k = onnx_kernel_of(im->model, im->node);
    const tensor *shapes[MONA_KERNEL_OPERANDS];
    array in[MONA_KERNEL_OPERANDS];
    onnx_grid grid;
    for (uint32_t i = 0; i < k->inputs; i++)
        if (!(shapes[i] = array_in_tensor(im, i)))
            return false;
    if (!onnx_kernel_grid(k, im->node, shapes, &grid, im->error))
        return false;
    for (uint32_t i = 0; i < k->inputs; i++)
        in[i] = array_dense(im, array_cast(im, k->operands[i].type, array_in(im, i)));
    for (uint32_t i = 0; i < im->node->output_count; i++) {
        const tensor *result = array_wants(im, i) ? array_result(im, i) : NULL;
        const graph_array a = {
            .kind = MONA_OP_ARRAY_KERNEL,
            .kernel = {.name_bytes = (uint32_t)strlen(k->name) + 1,
                       .output = i,
                       .rows = grid.rows,
                       .columns = grid.columns},
            .tables = {{k->name, strlen(k->name) + 1, offsetof(mona_array_kernel, name)}}};
        if (array_wants(im, i) &&
            (!result || !array_bind(im, i,
                                    array_add(im, k->operands[k->inputs + i].type, result->rank,
                                              result->dims, &a, in, k->inputs))))
            return false;
    }
    return true;
}
