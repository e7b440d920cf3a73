// SPDX-License-Identifier: Apache-2.0
#include "formats/reference/operators.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool op_fail(op_call *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_fail_node(c->error, c->node->name, c->node->op_type, format, arguments);
    va_end(arguments);
    return false;
}

bool op_out_of_memory(op_call *c)
{
    return op_fail(c, "needs more memory than there is");
}

/* ---- inputs ------------------------------------------------------------------------------- */

const tensor *op_in(const op_call *c, uint32_t i)
{
    return i < c->in_count ? c->in[i] : NULL;
}

bool op_known(op_call *c, uint32_t i)
{
    const tensor *t = op_in(c, i);
    const bool known = !t || t->data;
    c->unknown = c->unknown || !known;
    return known;
}

void *op_scratch(op_call *c, size_t count, size_t size)
{
    void *memory = c->scratch_count < OP_SCRATCH ? calloc(count ? count : 1, size) : NULL;
    if (memory)
        c->scratch[c->scratch_count++] = memory;
    else
        op_out_of_memory(c);
    return memory;
}

void op_scratch_free(op_call *c, void *memory)
{
    if (memory)
        free(c->scratch[--c->scratch_count]);
}

const float *op_floats(op_call *c, uint32_t i)
{
    const tensor *t = op_in(c, i);
    if (t->type == ELEMENT_FLOAT32)
        return t->data;
    float *data = op_scratch(c, t->count, sizeof *data);
    for (size_t k = 0; data && k < t->count; k++)
        data[k] = (float)tensor_number(t, k);
    return data;
}

bool op_ints(op_call *c, uint32_t i, int64_t *numbers, uint32_t max, uint32_t *count)
{
    const tensor *t = op_in(c, i);
    *count = 0;
    if (!op_known(c, i))
        return false;
    if (!t)
        return true;
    if (element_is_float(t->type))
        return op_fail(c, "has input %u of %s; expected integers", i, element_name(t->type));
    if (t->rank > 1 || t->count > max)
        return op_fail(c, "has input %u with %zu numbers; expected a list of at most %u", i,
                       t->count, max);
    *count = (uint32_t)t->count;
    for (uint32_t k = 0; k < *count; k++)
        numbers[k] = tensor_int(t, k);
    return true;
}

bool op_axis(op_call *c, int64_t axis, uint32_t rank, uint32_t *out)
{
    const int64_t from = axis < 0 ? axis + rank : axis;
    if (from < 0 || from >= rank)
        return op_fail(c, "asks for axis %" PRId64 " of %u dimensions", axis, rank);
    *out = (uint32_t)from;
    return true;
}

bool op_axes(op_call *c, uint32_t i, uint32_t rank, uint32_t *mask)
{
    int64_t axes[TENSOR_MAX_RANK];
    uint32_t count, axis = 0;
    *mask = 0;
    if (!op_ints(c, i, axes, TENSOR_MAX_RANK, &count))
        return false;
    for (uint32_t k = 0; k < count; k++) {
        if (!op_axis(c, axes[k], rank, &axis))
            return false;
        *mask |= 1u << axis;
    }
    return true;
}

/* ---- outputs ------------------------------------------------------------------------------ */

bool op_wants(const op_call *c, uint32_t i)
{
    return i < c->out_count && c->node->outputs[i] != ONNX_NONE;
}

bool op_result(op_call *c, uint32_t i, element_type type, uint32_t rank, const int64_t *dims)
{
    tensor *t = &c->out[i];
    if (!op_wants(c, i))
        return i ? true : op_fail(c, "has no output");
    if (!tensor_shape(t, type, rank, dims))
        return op_fail(c, "makes a tensor that is too large (at most 2^28 elements) or has a "
                          "negative dimension");
    if (!c->shapes_only)
        return tensor_make(t, type, rank, dims) || op_out_of_memory(c);
    c->shaped |= !i;
    return i;
}

bool op_result_like(op_call *c, uint32_t i, const tensor *like)
{
    return op_result(c, i, like->type, like->rank, like->dims);
}

/* ---- broadcasting ------------------------------------------------------------------------- */

/* Dimension i of `rank`; the last dimensions of all operands are aligned. */
static int64_t dim_of(const tensor *t, uint32_t rank, uint32_t i)
{
    return i + t->rank < rank ? 1 : t->dims[i + t->rank - rank];
}

bool op_broadcast(op_call *c, const tensor *a, const tensor *b, uint32_t *rank, int64_t *dims)
{
    const uint32_t max = a->rank > b->rank ? a->rank : b->rank;
    int64_t joined[TENSOR_MAX_RANK];
    for (uint32_t i = 0; i < max; i++) {
        const int64_t x = dim_of(a, max, i), y = dim_of(b, max, i);
        if (x != y && x != 1 && y != 1) {
            char first[128], second[128];
            tensor_text(a, first, sizeof first);
            tensor_text(b, second, sizeof second);
            return op_fail(c, "combines %s and %s, whose dimensions do not match", first, second);
        }
        joined[i] = x == 1 ? y : x;
    }
    *rank = max;
    memcpy(dims, joined, max * sizeof *dims);
    return true;
}

/* Joins dimensions over which the steps are the same. */
static void join_dims(op_walk *w)
{
    const op_walk from = *w;
    w->rank = 0;
    for (uint32_t i = 0; i < from.rank; i++) {
        const uint32_t last = w->rank - 1;
        if (from.dims[i] == 1)
            continue;
        if (w->rank && w->stride[last] == from.stride[i] * (size_t)from.dims[i]) {
            w->dims[last] *= from.dims[i];
            w->stride[last] = from.stride[i];
        } else {
            w->dims[w->rank] = from.dims[i];
            w->stride[w->rank++] = from.stride[i];
        }
    }
}

op_walk op_walk_start(const tensor *t, uint32_t rank, const int64_t *dims)
{
    op_walk w = {.rank = rank};
    size_t step = 1;
    for (uint32_t i = rank; i-- > 0;) {
        const int64_t dim = dim_of(t, rank, i);
        w.dims[i] = dims[i];
        w.stride[i] = dim == 1 ? 0 : step;
        step *= (size_t)dim;
    }
    join_dims(&w);
    return w;
}

void op_move(const tensor *x, op_walk w, tensor *out)
{
    const size_t size = element_size(x->type);
    size_t run = 1;
    join_dims(&w);
    if (w.rank && w.stride[w.rank - 1] == 1)
        run = (size_t)w.dims[--w.rank];
    for (size_t i = 0; i < out->count; i += run, op_walk_next(&w))
        if (run == 1 && size == sizeof(float))
            memcpy(tensor_at(out, i), tensor_at(x, w.offset), sizeof(float));
        else
            memcpy(tensor_at(out, i), tensor_at(x, w.offset), run * size);
}
