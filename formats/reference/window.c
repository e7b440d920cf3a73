// SPDX-License-Identifier: Apache-2.0
#include "formats/reference/window.h"

#include <inttypes.h>
#include <string.h>

bool op_window_list(op_call *c, const char *name, uint32_t sides, int64_t fill, int64_t least,
                    int64_t *out)
{
    const onnx_attribute *a = onnx_find_attribute(c->node, name);
    for (uint32_t i = 0; i < WINDOW_SIDES; i++)
        out[i] = fill;
    if (!a || !a->wholes || !a->count)
        return true;
    if (a->count != sides)
        return op_fail(c, "has %zu numbers in %s; expected %u", a->count, name, sides);
    for (uint32_t i = 0; i < sides; i++) {
        if (a->wholes[i] < least || a->wholes[i] > WINDOW_MOST)
            return op_fail(c, "has %s %" PRId64 "; supported: %" PRId64 " to %d", name,
                           a->wholes[i], least, WINDOW_MOST);
        out[WINDOW_SIDES - sides + i] = a->wholes[i];
    }
    return true;
}

int64_t op_window_extent(const op_window *w, uint32_t side)
{
    return (w->kernel[side] - 1) * w->dilation[side] + 1;
}

/* Explicit pads: those before every side, then those after. */
static bool read_pads(op_call *c, op_window *w)
{
    const onnx_attribute *a = onnx_find_attribute(c->node, "pads");
    if (!a || !a->wholes || !a->count)
        return true;
    if (a->count != 2 * w->sides)
        return op_fail(c, "has %zu numbers in pads; expected %u", a->count, 2 * w->sides);
    for (uint32_t i = 0; i < 2 * w->sides; i++) {
        if (a->wholes[i] < 0 || a->wholes[i] > WINDOW_MOST)
            return op_fail(c, "pads by %" PRId64 "; supported: 0 to %d", a->wholes[i], WINDOW_MOST);
        const uint32_t side = WINDOW_SIDES - w->sides + i % w->sides;
        *(i < w->sides ? &w->begin[side] : &w->end[side]) = a->wholes[i];
    }
    return true;
}

/* SAME makes ceil(in / stride) outputs; an odd pad goes after (UPPER) or before (LOWER). */
static void pad_same(op_window *w, bool upper)
{
    for (uint32_t i = WINDOW_SIDES - w->sides; i < WINDOW_SIDES; i++) {
        const int64_t outputs = (w->in[i] + w->stride[i] - 1) / w->stride[i];
        const int64_t total = (outputs - 1) * w->stride[i] + op_window_extent(w, i) - w->in[i];
        const int64_t half = total > 0 ? total / 2 : 0, rest = total > 0 ? total - half : 0;
        w->begin[i] = upper ? half : rest;
        w->end[i] = upper ? rest : half;
    }
}

/* Rounded up, a last window that would begin past the samples and the padding before them does not
 * count. */
static bool find_outputs(op_call *c, op_window *w, bool round_up)
{
    for (uint32_t i = 0; i < WINDOW_SIDES; i++) {
        const int64_t before = w->in[i] + w->begin[i], stride = w->stride[i];
        const int64_t room = before + w->end[i] - op_window_extent(w, i);
        if (room < 0)
            return op_fail(c, "has a filter larger than its padded input");
        const int64_t last = (room + (round_up ? stride - 1 : 0)) / stride;
        w->out[i] = round_up && last * stride >= before ? last : last + 1;
    }
    return true;
}

bool op_window_read(op_call *c, const tensor *x, const int64_t *kernel, bool round_up, op_window *w)
{
    if (x->rank < 3 || x->rank > 2 + WINDOW_SIDES)
        return op_fail(c, "works on a tensor of %u dimensions; supported: 3 to %d", x->rank,
                       2 + WINDOW_SIDES);
    *w = (op_window){.sides = x->rank - 2};
    if (!op_window_list(c, "strides", w->sides, 1, 1, w->stride) ||
        !op_window_list(c, "dilations", w->sides, 1, 1, w->dilation) ||
        !op_window_list(c, "kernel_shape", w->sides, kernel ? 1 : 0, 1, w->kernel))
        return false;
    for (uint32_t i = 0; i < WINDOW_SIDES; i++) {
        const uint32_t skip = WINDOW_SIDES - w->sides;
        w->in[i] = i < skip ? 1 : x->dims[2 + i - skip];
        if (i < skip)
            w->kernel[i] = 1;
        else if (kernel)
            w->kernel[i] = kernel[i - skip];
    }
    if (w->kernel[2] < 1)
        return op_fail(c, "has no kernel_shape, or an empty filter");
    const char *pad = onnx_string(c->node, "auto_pad", "NOTSET");
    if (!strncmp(pad, "SAME_", 5))
        pad_same(w, !strcmp(pad, "SAME_UPPER"));
    else if (strcmp(pad, "VALID") && !read_pads(c, w))
        return false;
    return find_outputs(c, w, round_up);
}

void op_window_shape(const op_window *w, int64_t batch, int64_t channels, int64_t *dims)
{
    dims[0] = batch;
    dims[1] = channels;
    memcpy(dims + 2, w->out + WINDOW_SIDES - w->sides, w->sides * sizeof *dims);
}

window_range op_window_inside(const op_window *w, uint32_t side, int64_t at)
{
    const int64_t start = at * w->stride[side] - w->begin[side], step = w->dilation[side];
    const int64_t room = w->in[side] - 1 - start;
    window_range r = {start < 0 ? (-start + step - 1) / step : 0, room < 0 ? -1 : room / step};
    if (r.last >= w->kernel[side])
        r.last = w->kernel[side] - 1;
    return r;
}
