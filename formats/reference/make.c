// SPDX-License-Identifier: Apache-2.0
/* Operators that create tensors from shapes and numbers. */
#include <inttypes.h>
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

/* Ones on a diagonal of a matrix like x. */
bool op_eye_like(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const int64_t k = onnx_int(c->node, "k", 0);
    const int64_t type = onnx_int(c->node, "dtype", x->type);
    if (!element_size(type))
        return op_fail(c, "asks for type %s (%" PRId64 "), which is not supported",
                       element_name(type), type);
    if (x->rank != 2)
        return op_fail(c, "works on a tensor of %u dimensions; expected 2", x->rank);
    if (!op_result(c, 0, (element_type)type, 2, x->dims))
        return false;
    for (int64_t i = 0; i < x->dims[0]; i++)
        if (k >= -i && k < x->dims[1] - i)
            tensor_set_number(c->out, (size_t)(i * x->dims[1] + i + k), 1);
    return true;
}

/* The indices of all elements that are not 0: those of each axis, one after another. */
bool op_non_zero(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t dims[2] = {x->rank, 0};
    if (!op_known(c, 0))
        return false;
    for (size_t i = 0; i < x->count; i++)
        dims[1] += tensor_number(x, i) != 0;
    if (!op_result(c, 0, ELEMENT_INT64, 2, dims))
        return false;
    for (size_t i = 0, n = 0; i < x->count; i++) {
        if (tensor_number(x, i) == 0)
            continue;
        size_t rest = i;
        for (uint32_t k = x->rank; k-- > 0; rest /= (size_t)x->dims[k])
            tensor_set_int(c->out, k * (size_t)dims[1] + n, (int64_t)(rest % (size_t)x->dims[k]));
        n++;
    }
    return true;
}

bool op_one_hot(op_call *c)
{
    const tensor *indices = op_in(c, 0), *depth = op_in(c, 1), *values = op_in(c, 2);
    int64_t dims[TENSOR_MAX_RANK + 1];
    uint32_t axis;
    if (depth->count != 1 || values->count != 2)
        return op_fail(c, "has %zu depths and %zu values; expected 1 and 2", depth->count,
                       values->count);
    if (!op_axis(c, onnx_int(c->node, "axis", -1), indices->rank + 1, &axis) || !op_known(c, 1))
        return false;
    const double deep = tensor_number(depth, 0);
    if (!(deep >= 1 && deep <= TENSOR_MAX_COUNT))
        return op_fail(c, "has a depth of %g", deep);
    for (uint32_t i = 0; i <= indices->rank; i++)
        dims[i] = i == axis ? (int64_t)deep : indices->dims[i - (i > axis)];
    if (!op_result(c, 0, values->type, indices->rank + 1, dims))
        return false;
    const tensor_dims s = tensor_split(c->out, axis);
    for (size_t i = 0; i < c->out->count; i++) {
        const double at =
            trunc(tensor_number(indices, i / s.after / s.along * s.after + i % s.after));
        const bool on = (at < 0 ? at + deep : at) == (double)(i / s.after % s.along);
        memcpy(tensor_at(c->out, i), tensor_at(values, on), element_size(values->type));
    }
    return true;
}

/* One of both triangles, with the diagonal that is k to the right. */
bool op_trilu(op_call *c)
{
    const bool upper = onnx_int(c->node, "upper", 1);
    const tensor *x = op_in(c, 0);
    int64_t k = 0;
    uint32_t count;
    if (x->rank < 2)
        return op_fail(c, "works on a tensor of %u dimensions; expected 2 or more", x->rank);
    if (!op_result_like(c, 0, x) || !op_ints(c, 1, &k, 1, &count))
        return false;
    const int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1];
    for (size_t i = 0; i < x->count; i++) {
        const int64_t row = (int64_t)i / columns % rows, column = (int64_t)i % columns;
        if (upper ? column - row >= k : column - row <= k)
            memcpy(tensor_at(c->out, i), tensor_at(x, i), element_size(x->type));
    }
    return true;
}
