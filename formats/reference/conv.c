// SPDX-License-Identifier: Apache-2.0
/* Convolutions of floats and of integers, as products of the filters and their windows. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef struct convolution {
    op_convolution n;
    const float *x, *weights;
    const float *bias; /* NULL: none */
    bool exact;        /* integers */
} convolution;

bool op_convolution_read(op_call *c, uint32_t i, op_convolution *v)
{
    const tensor *x = op_in(c, 0), *w = op_in(c, i);
    v->groups = onnx_int(c->node, "group", 1);
    if (x->rank < 3 || w->rank != x->rank)
        return op_fail(c,
                       "has an input of %u dimensions and weights of %u; expected the same, 3 to 5",
                       x->rank, w->rank);
    v->batch = x->dims[0];
    v->inputs = x->dims[1];
    v->outputs = w->dims[0];
    if (v->groups < 1 || v->groups > v->inputs || w->dims[1] > v->inputs ||
        w->dims[1] * v->groups != v->inputs || v->outputs % v->groups)
        return op_fail(c,
                       "has %" PRId64 " groups and weights for %" PRId64 " inputs and %" PRId64
                       " outputs; its input has %" PRId64 " channels",
                       v->groups, w->dims[1], v->outputs, v->inputs);
    const onnx_attribute *shape = onnx_find_attribute(c->node, "kernel_shape");
    for (uint32_t i = 2; shape && shape->ints && i < w->rank; i++)
        if (shape->count != w->rank - 2 || shape->ints[i - 2] != w->dims[i])
            return op_fail(c, "has a kernel_shape that is not that of its weights");
    return op_window_read(c, x, w->dims + 2, &v->w);
}

static bool make_result(op_call *c, const convolution *v, element_type type)
{
    int64_t dims[TENSOR_MAX_RANK];
    op_window_shape(&v->n.w, v->n.batch, v->n.outputs, dims);
    return op_result(c, 0, type, v->n.w.spatial_dims + 2, dims);
}

/* The samples of one group of channels of one frame. */
typedef struct group_samples {
    const op_window *w;
    const float *x;
} group_samples;

/* The samples that one term of the filters, [channel][kernel], sees at some positions of the
 * result; 0 beyond the edges. */
static void see(const void *context, size_t term, size_t first, size_t count, float *seen)
{
    const group_samples *s = context;
    const op_window *w = s->w;
    const int64_t row = w->kernel[2], area = w->kernel[1] * row, filter = w->kernel[0] * area;
    const int64_t k = (int64_t)term % filter, plane = (int64_t)term / filter, step = w->stride[2];
    for (size_t i = 0; i < count;) {
        const int64_t at = (int64_t)(first + i), x = at % w->out[2], y = at / w->out[2];
        const int64_t iz = y / w->out[1] * w->stride[0] - w->begin[0] + k / area * w->dilation[0];
        const int64_t iy =
            y % w->out[1] * w->stride[1] - w->begin[1] + k % area / row * w->dilation[1];
        const bool inside = iz >= 0 && iz < w->in[0] && iy >= 0 && iy < w->in[1];
        const int64_t width = inside ? w->in[2] : 0;
        const float *from = s->x + (inside ? ((plane * w->in[0] + iz) * w->in[1] + iy) * width : 0);
        const size_t left = (size_t)(w->out[2] - x), end = left < count - i ? i + left : count;
        int64_t ix = x * step - w->begin[2] + k % row * w->dilation[2];
        for (; i < end && ix < 0; ix += step)
            seen[i++] = 0;
        for (; i < end && ix < width && step > 1; ix += step)
            seen[i++] = from[ix];
        if (i < end && ix < width) {
            const size_t run = (size_t)(width - ix) < end - i ? (size_t)(width - ix) : end - i;
            memcpy(seen + i, from + ix, run * sizeof *seen);
            i += run;
        }
        while (i < end)
            seen[i++] = 0;
    }
}

static bool convolve(op_call *c, const convolution *v, op_store *store, void *to)
{
    const op_window *w = &v->n.w;
    const size_t depth = (size_t)(v->n.inputs / v->n.groups),
                 outputs = (size_t)(v->n.outputs / v->n.groups);
    const size_t samples = (size_t)(w->in[0] * w->in[1] * w->in[2]);
    op_product p = {.rows = outputs,
                    .depth = depth * (size_t)(w->kernel[0] * w->kernel[1] * w->kernel[2]),
                    .columns = (size_t)(w->out[0] * w->out[1] * w->out[2]),
                    .row = see,
                    .exact = v->exact,
                    .store = store,
                    .to = to};
    bool ok = true;
    for (size_t i = 0; ok && i < (size_t)(v->n.batch * v->n.groups); i++) {
        const size_t group = i % (size_t)v->n.groups;
        p.a = v->weights + group * outputs * p.depth;
        p.start = v->bias ? v->bias + group * outputs : NULL;
        p.context = &(group_samples){w, v->x + i * depth * samples};
        p.index = i * outputs * p.columns;
        ok = op_multiply(c, &p);
    }
    return ok;
}

/* ---- fp32 --------------------------------------------------------------------------------- */

bool op_conv(op_call *c)
{
    const tensor *b = op_in(c, 2);
    convolution v;
    if (!op_convolution_read(c, 1, &v.n))
        return false;
    if (b && b->count != (size_t)v.n.outputs)
        return op_fail(c, "has %zu biases for %" PRId64 " outputs", b->count, v.n.outputs);
    if (!make_result(c, &v, op_in(c, 0)->type))
        return false;
    v.x = op_floats(c, 0);
    v.weights = op_floats(c, 1);
    v.bias = b ? op_floats(c, 2) : NULL;
    v.exact = false;
    return v.x && v.weights && (v.bias || !b) && convolve(c, &v, op_store_numbers, c->out);
}

/* ---- integers ----------------------------------------------------------------------------- */

bool op_conv_integer(op_call *c)
{
    convolution v;
    if (!op_convolution_read(c, 1, &v.n) || !make_result(c, &v, ELEMENT_INT32))
        return false;
    v.bias = NULL;
    v.exact = true;
    v.x = requantize_centred(c, 0, 2, 0);
    v.weights = requantize_centred(c, 1, 3, 0);
    return v.x && v.weights && convolve(c, &v, op_store_numbers, c->out);
}

bool op_qlinear_conv(op_call *c)
{
    const tensor *bias = op_in(c, 8);
    convolution v;
    requantize rule;
    if (!op_convolution_read(c, 3, &v.n) || !requantize_read(c, (size_t)v.n.outputs, &rule))
        return false;
    if (bias && bias->count != (size_t)v.n.outputs)
        return op_fail(c, "has %zu biases for %" PRId64 " outputs", bias->count, v.n.outputs);
    if (!make_result(c, &v, op_in(c, 7)->type))
        return false;
    v.bias = NULL;
    v.exact = true;
    v.x = requantize_centred(c, 0, 2, 0);
    v.weights = requantize_centred(c, 3, 5, 0);
    rule.bias = bias;
    rule.samples = tensor_split(c->out, 1).after;
    return v.x && v.weights && convolve(c, &v, requantize_store, &rule);
}
