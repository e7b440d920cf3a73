// SPDX-License-Identifier: Apache-2.0
/* Operators that keep all elements and change only their order or the shape. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

/* The same elements in another shape. */
static bool reshaped(op_call *c, uint32_t rank, const int64_t *dims)
{
    const tensor *x = op_in(c, 0);
    tensor shape;
    if (!tensor_shape(&shape, x->type, rank, dims) || shape.count != x->count) {
        char text[128];
        shape = (tensor){.type = x->type, .rank = rank};
        memcpy(shape.dims, dims, rank * sizeof *dims);
        tensor_text(&shape, text, sizeof text);
        return op_fail(c, "reshapes %zu elements to %s", x->count, text);
    }
    if (!op_result(c, 0, x->type, rank, dims))
        return false;
    memcpy(c->out->data, x->data, tensor_bytes(x));
    return true;
}

bool op_identity(op_call *c)
{
    return reshaped(c, op_in(c, 0)->rank, op_in(c, 0)->dims);
}

/* The result of the branch that the condition takes. */
bool op_if(op_call *c)
{
    const tensor *taken = op_in(c, 1), *other = op_in(c, 2);
    if (op_known(c, 0)) {
        if (op_in(c, 0)->count != 1)
            return op_fail(c, "has a condition of %zu values; expected one", op_in(c, 0)->count);
        taken = tensor_int(op_in(c, 0), 0) ? taken : other;
    } else if (taken->type != other->type || !tensor_same_shape(taken, other)) {
        return false;
    }
    c->unknown = false;
    if (!op_result_like(c, 0, taken))
        return false;
    memcpy(c->out->data, taken->data, tensor_bytes(taken));
    return true;
}

/* Dropout has an effect only in training. */
bool op_dropout(op_call *c)
{
    const tensor *x = op_in(c, 0), *training = op_in(c, 2);
    if (training && (!op_known(c, 2) || training->count != 1))
        return !c->unknown && op_fail(c, "has a training_mode that is not one value");
    if (training && tensor_int(training, 0))
        return op_fail(c, "is in training mode; export the model for inference");
    if (!op_result(c, 1, ELEMENT_BOOL, x->rank, x->dims))
        return false;
    if (!op_identity(c))
        return false;
    if (op_wants(c, 1))
        memset(c->out[1].data, 1, x->count);
    return true;
}

bool op_reshape(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t dims[TENSOR_MAX_RANK], product = 1, open = -1;
    uint32_t rank;
    const bool zero_is_zero = onnx_int(c->node, "allowzero", 0);
    if (!op_ints(c, 1, dims, TENSOR_MAX_RANK, &rank))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i] == 0 && !zero_is_zero)
            dims[i] = i < x->rank ? x->dims[i] : 0;
        if (dims[i] == -1 && open < 0)
            open = i;
        else if (dims[i] < 0 || (dims[i] && product > TENSOR_MAX_COUNT / dims[i]))
            return op_fail(c, "asks for a dimension of %" PRId64, dims[i]);
        else
            product *= dims[i];
    }
    if (open >= 0)
        dims[open] = product ? (int64_t)x->count / product : 0;
    return reshaped(c, rank, dims);
}

bool op_flatten(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t axis = onnx_int(c->node, "axis", 1), dims[2] = {1, 1};
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis > x->rank)
        return op_fail(c, "asks for axis %" PRId64 " of %u dimensions", axis, x->rank);
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i >= axis] *= x->dims[i];
    return reshaped(c, 2, dims);
}

bool op_squeeze(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t mask, rank = 0;
    if (!op_axes(c, 1, x->rank, &mask))
        return false;
    for (uint32_t i = 0; i < x->rank; i++) {
        const bool named = mask >> i & 1;
        if (named && x->dims[i] != 1)
            return op_fail(c, "removes axis %u, whose size is %" PRId64, i, x->dims[i]);
        if (!named && (mask || x->dims[i] != 1))
            dims[rank++] = x->dims[i];
    }
    return reshaped(c, rank, dims);
}

bool op_unsqueeze(op_call *c)
{
    const tensor *x = op_in(c, 0), *axes = op_in(c, 1);
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t mask, from = 0;
    if (!axes || axes->count + x->rank > TENSOR_MAX_RANK)
        return op_fail(c, "makes more than %d dimensions, or has no axes", TENSOR_MAX_RANK);
    const uint32_t rank = x->rank + (uint32_t)axes->count;
    if (!op_axes(c, 1, rank, &mask))
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (!(mask >> i & 1) && from == x->rank)
            return op_fail(c, "names an axis twice");
        dims[i] = mask >> i & 1 ? 1 : x->dims[from++];
    }
    return reshaped(c, rank, dims);
}

/* The strides of a tensor's dimensions. */
static void strides_of(const tensor *t, size_t *stride)
{
    size_t step = 1;
    for (uint32_t i = t->rank; i-- > 0;) {
        stride[i] = step;
        step *= (size_t)t->dims[i];
    }
}

bool op_transpose(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const onnx_attribute *perm = onnx_find_attribute(c->node, "perm");
    int64_t dims[TENSOR_MAX_RANK] = {0};
    size_t stride[TENSOR_MAX_RANK];
    op_walk w = {.rank = x->rank};
    uint32_t seen = 0, axis;
    strides_of(x, stride);
    if (perm && (!perm->ints || perm->count != x->rank))
        return op_fail(c, "has %zu numbers in perm; expected %u", perm->count, x->rank);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (!op_axis(c, perm ? perm->ints[i] : (int64_t)(x->rank - 1 - i), x->rank, &axis))
            return false;
        seen |= 1u << axis;
        dims[i] = w.dims[i] = x->dims[axis];
        w.stride[i] = stride[axis];
    }
    if (seen != (1u << x->rank) - 1)
        return op_fail(c, "has a perm that names an axis twice");
    if (!op_result(c, 0, x->type, x->rank, dims))
        return false;
    op_move(x, w, c->out);
    return true;
}

bool op_expand(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t dims[TENSOR_MAX_RANK];
    tensor shape = {0};
    if (!op_ints(c, 1, shape.dims, TENSOR_MAX_RANK, &shape.rank) ||
        !op_broadcast(c, x, &shape, &shape.rank, dims) ||
        !op_result(c, 0, x->type, shape.rank, dims))
        return false;
    op_move(x, op_walk_start(x, shape.rank, dims), c->out);
    return true;
}

bool op_tile(op_call *c)
{
    const tensor *x = op_in(c, 0);
    int64_t repeats[TENSOR_MAX_RANK], dims[TENSOR_MAX_RANK];
    uint32_t count;
    if (!op_ints(c, 1, repeats, TENSOR_MAX_RANK, &count))
        return false;
    if (count != x->rank)
        return op_fail(c, "has %u repeats for %u dimensions", count, x->rank);
    for (uint32_t i = 0; i < count; i++) {
        if (repeats[i] < 0 || repeats[i] > TENSOR_MAX_COUNT)
            return op_fail(c, "repeats %" PRId64 " times", repeats[i]);
        dims[i] = x->dims[i] * repeats[i];
    }
    if (!op_result(c, 0, x->type, x->rank, dims))
        return false;
    for (size_t i = 0; i < c->out->count; i++) {
        size_t rest = i, from = 0, step = 1;
        for (uint32_t k = x->rank; k-- > 0;) {
            from += rest % (size_t)dims[k] % (size_t)x->dims[k] * step;
            rest /= (size_t)dims[k];
            step *= (size_t)x->dims[k];
        }
        memcpy(tensor_at(c->out, i), tensor_at(x, from), element_size(x->type));
    }
    return true;
}

bool op_concat(op_call *c)
{
    const tensor *first = op_in(c, 0);
    uint32_t axis;
    tensor shape = *first;
    if (!op_axis(c, onnx_int(c->node, "axis", 1), first->rank, &axis))
        return false;
    for (uint32_t i = 1; i < c->in_count; i++) {
        const tensor *t = op_in(c, i);
        for (uint32_t k = 0; t && k < first->rank; k++)
            if (t->rank != first->rank || t->type != first->type ||
                (k != axis && t->dims[k] != first->dims[k]))
                t = NULL;
        if (!t)
            return op_fail(
                c, "concatenates tensors whose types or other dimensions differ (input %u)", i);
        shape.dims[axis] += t->dims[axis];
    }
    if (!op_result_like(c, 0, &shape))
        return false;
    const size_t size = element_size(first->type), row = tensor_split(c->out, axis).after * size;
    const size_t frames = tensor_split(c->out, axis).before;
    uint8_t *to = c->out->data;
    for (size_t n = 0; n < frames; n++)
        for (uint32_t i = 0; i < c->in_count; i++) {
            const size_t part = (size_t)op_in(c, i)->dims[axis] * row;
            memcpy(to, (const uint8_t *)op_in(c, i)->data + n * part, part);
            to += part;
        }
    return true;
}

/* ---- depth and space ---------------------------------------------------------------------- */

/* Splits the deep tensor's dimensions by the block: frames, then channels and block in one of two
 * orders, then rows and columns. Copies to or from the wide one. */
bool op_move_depth(op_call *c)
{
    const bool to_wide = !strcmp(c->node->op_type, "DepthToSpace");
    const bool depth_first = strcmp(onnx_string(c->node, "mode", "DCR"), "CRD");
    const tensor *x = op_in(c, 0);
    const int64_t b = onnx_int(c->node, "blocksize", 0);
    if (x->rank != 4 || b < 1 || b > 1 << 14)
        return op_fail(c, "has %u dimensions and blocks of %" PRId64 "; expected 4 and 1 or more",
                       x->rank, b);
    if (to_wide ? x->dims[1] % (b * b) : x->dims[2] % b || x->dims[3] % b)
        return op_fail(c,
                       "cannot rearrange %" PRId64 " channels of %" PRId64 "x%" PRId64
                       " by blocks of %" PRId64,
                       x->dims[1], x->dims[3], x->dims[2], b);
    const int64_t area = b * b;
    const int64_t deep[4] = {x->dims[0], to_wide ? x->dims[1] : x->dims[1] * area,
                             to_wide ? x->dims[2] : x->dims[2] / b,
                             to_wide ? x->dims[3] : x->dims[3] / b};
    const int64_t planes = deep[1] / area, height = deep[2] * b, width = deep[3] * b;
    const int64_t wide[4] = {deep[0], planes, height, width};
    if (!op_result(c, 0, x->type, 4, to_wide ? wide : deep))
        return false;
    const size_t size = element_size(x->type);
    size_t i = 0;
    for (int64_t n = 0; n < deep[0] * planes; n++)
        for (int64_t row = 0; row < height; row++)
            for (int64_t column = 0; column < width; column++, i++) {
                const int64_t place = row % b * b + column % b, p = n % planes;
                const int64_t channel = depth_first ? place * planes + p : p * area + place;
                const int64_t at =
                    ((n / planes * deep[1] + channel) * deep[2] + row / b) * deep[3] + column / b;
                if (to_wide)
                    memcpy(tensor_at(c->out, i), tensor_at(x, (size_t)at), size);
                else
                    memcpy(tensor_at(c->out, (size_t)at), tensor_at(x, i), size);
            }
    return true;
}
