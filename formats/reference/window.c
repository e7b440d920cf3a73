// SPDX-License-Identifier: Apache-2.0
#include "formats/reference/operators.h"

#include <inttypes.h>
#include <string.h>

bool op_window_list(op_call *c, const char *name, uint32_t spatial_dims, int64_t fill, int64_t min,
                    int64_t *out)
{
    const onnx_attribute *a = onnx_find_attribute(c->node, name);
    for (uint32_t i = 0; i < WINDOW_DIMS; i++)
        out[i] = fill;
    if (!a || !a->ints || !a->count)
        return true;
    if (a->count != spatial_dims)
        return op_fail(c, "has %zu numbers in %s; expected %u", a->count, name, spatial_dims);
    for (uint32_t i = 0; i < spatial_dims; i++) {
        if (a->ints[i] < min || a->ints[i] > WINDOW_MAX)
            return op_fail(c, "has %s %" PRId64 "; supported: %" PRId64 " to %d", name, a->ints[i],
                           min, WINDOW_MAX);
        out[WINDOW_DIMS - spatial_dims + i] = a->ints[i];
    }
    return true;
}

int64_t op_window_extent(const op_window *w, uint32_t axis)
{
    return (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

/* Explicit pads: first those before, along every axis, then those after. */
static bool read_pads(op_call *c, op_window *w)
{
    const onnx_attribute *a = onnx_find_attribute(c->node, "pads");
    if (!a || !a->ints || !a->count)
        return true;
    if (a->count != 2 * w->spatial_dims)
        return op_fail(c, "has %zu numbers in pads; expected %u", a->count, 2 * w->spatial_dims);
    for (uint32_t i = 0; i < 2 * w->spatial_dims; i++) {
        if (a->ints[i] < 0 || a->ints[i] > WINDOW_MAX)
            return op_fail(c, "pads by %" PRId64 "; supported: 0 to %d", a->ints[i], WINDOW_MAX);
        const uint32_t axis = WINDOW_DIMS - w->spatial_dims + i % w->spatial_dims;
        *(i < w->spatial_dims ? &w->begin[axis] : &w->end[axis]) = a->ints[i];
    }
    return true;
}

/* SAME gives ceil(in / stride) outputs; the odd one of the pads goes after (UPPER) or before
 * (LOWER). */
static bool pad_same(op_call *c, op_window *w, bool upper)
{
    for (uint32_t i = WINDOW_DIMS - w->spatial_dims; i < WINDOW_DIMS; i++) {
        if (w->in[i] < 0 && w->stride[i] > 1)
            return op_fail(c, "pads by auto_pad with a stride, which needs a fixed input size");
        const int64_t outputs = (w->in[i] + w->stride[i] - 1) / w->stride[i];
        const int64_t total = (outputs - 1) * w->stride[i] + op_window_extent(w, i) - w->in[i];
        const int64_t half = total > 0 ? total / 2 : 0, rest = total > 0 ? total - half : 0;
        w->begin[i] = upper ? half : rest;
        w->end[i] = upper ? rest : half;
    }
    return true;
}

/* With round_up, a last window that would begin after the samples and the padding before them does
 * not count. */
static bool find_outputs(op_call *c, op_window *w)
{
    for (uint32_t i = 0; i < WINDOW_DIMS; i++) {
        const int64_t before = w->in[i] + w->begin[i], stride = w->stride[i];
        const int64_t room = before + w->end[i] - op_window_extent(w, i);
        w->out[i] = -1;
        if (w->in[i] < 0)
            continue;
        if (room < 0)
            return op_fail(c, "has a filter larger than its padded input");
        const int64_t last = (room + (w->round_up ? stride - 1 : 0)) / stride;
        w->out[i] = w->round_up && last * stride >= before ? last : last + 1;
    }
    return true;
}

bool op_window_read(op_call *c, const tensor *x, const int64_t *kernel, op_window *w)
{
    if (x->rank < 3 || x->rank > 2 + WINDOW_DIMS)
        return op_fail(c, "works on a tensor of %u dimensions; supported: 3 to %d", x->rank,
                       2 + WINDOW_DIMS);
    *w = (op_window){
        .spatial_dims = x->rank - 2,
        .round_up = !kernel && onnx_int(c->node, "ceil_mode", 0),
        .counts_padding = !kernel && onnx_int(c->node, "count_include_pad", 0),
        .by_columns = !kernel && onnx_int(c->node, "storage_order", 0),
    };
    if (!op_window_list(c, "strides", w->spatial_dims, 1, 1, w->stride) ||
        !op_window_list(c, "dilations", w->spatial_dims, 1, 1, w->dilation) ||
        !op_window_list(c, "kernel_shape", w->spatial_dims, kernel ? 1 : 0, 1, w->kernel))
        return false;
    for (uint32_t i = 0; i < WINDOW_DIMS; i++) {
        const uint32_t skip = WINDOW_DIMS - w->spatial_dims;
        w->in[i] = i < skip ? 1 : x->dims[2 + i - skip];
        if (i < skip)
            w->kernel[i] = 1;
        else if (kernel)
            w->kernel[i] = kernel[i - skip];
    }
    if (w->kernel[2] < 1)
        return op_fail(c, "has no kernel_shape, or an empty filter");
    const char *pad = onnx_string(c->node, "auto_pad", "NOTSET");
    const bool same = !strncmp(pad, "SAME_", 5);
    return (same ? pad_same(c, w, !strcmp(pad, "SAME_UPPER"))
                 : !strcmp(pad, "VALID") || read_pads(c, w)) &&
           find_outputs(c, w);
}

void op_window_shape(const op_window *w, int64_t batch, int64_t channels, int64_t *dims)
{
    dims[0] = batch;
    dims[1] = channels;
    memcpy(dims + 2, w->out + WINDOW_DIMS - w->spatial_dims, w->spatial_dims * sizeof *dims);
}

window_range op_window_inside(const op_window *w, uint32_t axis, int64_t at)
{
    const int64_t start = at * w->stride[axis] - w->begin[axis], step = w->dilation[axis];
    const int64_t room = w->in[axis] - 1 - start;
    window_range r = {start < 0 ? (-start + step - 1) / step : 0, room < 0 ? -1 : room / step};
    if (r.last >= w->kernel[axis])
        r.last = w->kernel[axis] - 1;
    return r;
}
