// SPDX-License-Identifier: Apache-2.0
/* The largest or the smallest elements of an axis. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef struct element {
    double number;
    int64_t whole, index;
    bool ascending;
} element;

static bool is_less(double a, double b)
{
    return a < b || (!isnan(a) && isnan(b));
}

/* In order, a NaN above every number as in NumPy and PyTorch; of equal elements the earlier
 * first. */
static int compare(const void *a, const void *b)
{
    const element *x = a, *y = b;
    int above = is_less(y->number, x->number) - is_less(x->number, y->number);
    above = above ? above : (x->whole > y->whole) - (x->whole < y->whole);
    if (above)
        return x->ascending ? above : -above;
    return (x->index > y->index) - (x->index < y->index);
}

static void take(op_call *c, const element *sorted, size_t first, size_t inner, size_t to,
                 int64_t count)
{
    const tensor *x = op_in(c, 0);
    const size_t size = element_size(x->type);
    for (int64_t r = 0; r < count; r++) {
        const size_t place = to + (size_t)r * inner;
        const size_t from = first + (size_t)sorted[r].index * inner;
        if (op_wants(c, 0))
            memcpy((uint8_t *)c->out[0].data + place * size, (uint8_t *)x->data + from * size,
                   size);
        if (op_wants(c, 1))
            ((int64_t *)c->out[1].data)[place] = sorted[r].index;
    }
}

bool op_top_k(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t count, dims[TENSOR_MAX_RANK];
    uint32_t axis, numbers;
    if (!op_axis(c, onnx_int(c->node, "axis", -1), x->rank, &axis) ||
        !op_ints(c, 1, &count, 1, &numbers))
        return false;
    if (numbers != 1 || count < 1 || count > x->dims[axis])
        return op_fail(c, "takes %" PRId64 " of %" PRId64 " elements", numbers ? count : 0,
                       x->dims[axis]);
    memcpy(dims, x->dims, sizeof dims);
    dims[axis] = count;
    if (!op_result(c, 1, ELEMENT_INT64, x->rank, dims) || !op_result(c, 0, x->type, x->rank, dims))
        return false;
    const size_t extent = (size_t)x->dims[axis];
    element *sorted = op_scratch(c, extent, sizeof *sorted);
    if (!sorted)
        return false;
    const size_t inner = tensor_split(x, axis).after;
    for (size_t i = 0; i < x->count / extent; i++) {
        const size_t first = i / inner * extent * inner + i % inner;
        for (size_t k = 0; k < extent; k++)
            sorted[k] = (element){tensor_number(x, first + k * inner),
                                  element_is_float(x->type) ? 0 : tensor_int(x, first + k * inner),
                                  (int64_t)k, !onnx_int(c->node, "largest", 1)};
        qsort(sorted, extent, sizeof *sorted, compare);
        take(c, sorted, first, inner, i / inner * (size_t)count * inner + i % inner, count);
    }
    return true;
}
