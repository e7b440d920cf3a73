// SPDX-License-Identifier: Apache-2.0
/* The largest or the smallest elements of an axis. */
#include "formats/compiler/import/array.h"

/* values: the elements, else their indices. */
static array sorted(const array_maker *m, array x, uint32_t axis, const tensor *result, bool values)
{
    graph_array a = {.kind = MONA_OP_ARRAY_SORT,
                     .sort = {.outer = 1,
                              .extent = (uint32_t)x.dims[axis],
                              .inner = 1,
                              .count = (uint32_t)result->dims[axis],
                              .arithmetic = array_is_float(x.type) ? MONA_FLOAT : MONA_INT,
                              .ascending = !onnx_int(m->node, "largest", 1),
                              .values = values}};
    for (uint32_t i = 0; i < x.rank; i++)
        *(i < axis ? &a.sort.outer : &a.sort.inner) *= i == axis ? 1 : (uint32_t)x.dims[i];
    return array_add(m, values ? x.type : MONA_S64, x.rank, result->dims, &a, &x, 1);
}

bool import_array_top_k(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    const int64_t axis = onnx_int(node, "axis", -1);
    const array x = array_dense(&m, array_in(&m, 0));
    if (!array_ok(x))
        return false;
    if (x.type == MONA_U64)
        return array_ok(array_fail(&m, "sorts uint64, which is not supported"));
    for (uint32_t i = 0; i < 2; i++) {
        const tensor *result = array_wants(&m, i) ? array_result(&m, i) : NULL;
        if (array_wants(&m, i) &&
            (!result ||
             !array_bind(&m, i,
                         sorted(&m, x, (uint32_t)(axis < 0 ? axis + x.rank : axis), result, !i))))
            return false;
    }
    return true;
}
