// SPDX-License-Identifier: Apache-2.0
/* Operators that create tensors from shapes and numbers. */
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

static int64_t clamp_axis(int64_t axis, uint32_t rank)
{
    const int64_t from = axis < 0 ? axis + rank : axis;
    return from < 0 ? 0 : from > rank ? rank : from;
}

/* The data does not matter, so the result is a constant if the shape is known. */
bool op_shape(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const int64_t start = clamp_axis(onnx_int(c->node, "start", 0), x->rank);
    const int64_t end = clamp_axis(onnx_int(c->node, "end", x->rank), x->rank);
    const int64_t count = end > start ? end - start : 0;
    if (!op_result(c, 0, ELEMENT_INT64, 1, &count))
        return false;
    for (int64_t i = 0; i < count; i++)
        tensor_set_int(c->out, (size_t)i, x->dims[start + i]);
    return true;
}

bool op_size(op_call *c)
{
    if (!op_result(c, 0, ELEMENT_INT64, 0, NULL))
        return false;
    tensor_set_int(c->out, 0, (int64_t)op_in(c, 0)->count);
    return true;
}

bool op_constant_of_shape(op_call *c)
{
    const onnx_attribute *a = onnx_find_attribute(c->node, "value");
    const tensor *value = a ? a->tensor : NULL;
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t rank;
    if (value && value->count != 1)
        return op_fail(c, "has a value of %zu numbers; expected one", value->count);
    if (!op_ints(c, 0, dims, TENSOR_MAX_RANK, &rank) ||
        !op_result(c, 0, value ? value->type : ELEMENT_FLOAT32, rank, dims))
        return false;
    for (size_t i = 0; value && i < c->out->count; i++)
        memcpy(tensor_at(c->out, i), value->data, element_size(value->type));
    return true;
}

bool op_range(op_call *c)
{
    const tensor *start = op_in(c, 0), *limit = op_in(c, 1), *delta = op_in(c, 2);
    if (start->count != 1 || limit->count != 1 || delta->count != 1)
        return op_fail(c, "has a start, limit or delta that is not one number");
    if (!op_known(c, 0) || !op_known(c, 1) || !op_known(c, 2))
        return false;
    const double step = tensor_number(delta, 0), first = tensor_number(start, 0);
    const double steps = ceil((tensor_number(limit, 0) - first) / step);
    if (!(steps <= TENSOR_MAX_COUNT))
        return op_fail(c, "makes %g numbers", steps);
    const int64_t count = steps > 0 ? (int64_t)steps : 0;
    if (!op_result(c, 0, start->type, 1, &count))
        return false;
    for (int64_t i = 0; i < count; i++)
        tensor_set_number(c->out, (size_t)i, first + (double)i * step);
    return true;
}
