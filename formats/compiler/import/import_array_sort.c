// SPDX-License-Identifier: Apache-2.0
/* The largest or the smallest elements of an axis. */
#include "formats/compiler/import/array.h"

/* values: the elements, else their indices. */
static array sorted(importer *im, array x, uint32_t axis, const tensor *result, bool values)
{
    graph_array a = {.kind = MONA_OP_ARRAY_SORT,
                     .sort = {.outer = 1,
                              .extent = (uint32_t)x.dims[axis],
                              .inner = 1,
                              .count = (uint32_t)result->dims[axis],
                              .arithmetic = array_is_float(x.type) ? MONA_FLOAT : MONA_INT,
                              .ascending = !onnx_int(im->node, "largest", 1),
                              .values = values}};
    for (uint32_t i = 0; i < x.rank; i++)
        *(i < axis ? &a.sort.outer : &a.sort.inner) *= i == axis ? 1 : (uint32_t)x.dims[i];
    return array_add(im, values ? x.type : MONA_S64, x.rank, result->dims, &a, &x, 1);
}

bool import_array_top_k(importer *im)
{
    const array x = array_dense(im, array_in(im, 0));
    if (!array_ok(x))
        return false;
    if (x.type == MONA_U64)
        return import_fail(im, "sorts uint64, which is not supported");
    for (uint32_t i = 0; i < 2; i++) {
        const tensor *result = array_wants(im, i) ? array_result(im, i) : NULL;
        if (array_wants(im, i) &&
            (!result || !array_bind(im, i, sorted(im, x, array_axis(im, x.rank, -1), result, !i))))
            return false;
    }
    return true;
}
