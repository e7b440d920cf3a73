// SPDX-License-Identifier: Apache-2.0
/* Convolutions of floats, and of integers, which doubles represent exactly. */
#include <inttypes.h>
#include <math.h>

#include "formats/reference/operators.h"
#include "formats/reference/requantize.h"
#include "formats/reference/window.h"

typedef struct convolution {
    op_window w;
    int64_t batch, inputs, outputs, groups;
    const float *x, *weights;
    const float *bias; /* NULL: none */
} convolution;

/* Stores sums of one row of outputs: channel `o` of frame `n`, elements first .. first + count -
 * 1. */
typedef void row_function(void *to, int64_t o, size_t first, const double *sums, int64_t count);

static bool read_convolution(op_call *c, const tensor *x, const tensor *w, convolution *v)
{
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
    return op_window_read(c, x, w->dims + 2, false, &v->w);
}

static bool make_result(op_call *c, const convolution *v, element_type type)
{
    int64_t dims[TENSOR_MAX_RANK];
    op_window_shape(&v->w, v->batch, v->outputs, dims);
    return op_result(c, 0, type, v->w.spatial_dims + 2, dims);
}

/* Adds weight times one row of samples, as seen through one position of the filter. */
static void add_row(const op_window *w, int64_t kx, double weight, const float *in, double *sums)
{
    const int64_t stride = w->stride[2], at = kx * w->dilation[2] - w->begin[2];
    const int64_t begin = at < 0 ? (-at + stride - 1) / stride : 0;
    const int64_t last = w->in[2] - 1 - at;
    int64_t end = last < 0 ? 0 : last / stride + 1;
    end = end < w->out[2] ? end : w->out[2];
    for (int64_t x = begin; x < end; x++)
        sums[x] += weight * (double)in[x * stride + at];
}

static void convolve_row(const convolution *v, int64_t n, int64_t o, int64_t z, int64_t y,
                         double *sums)
{
    const op_window *w = &v->w;
    const int64_t depth = v->inputs / v->groups, group = o / (v->outputs / v->groups);
    const window_range rz = op_window_inside(w, 0, z), ry = op_window_inside(w, 1, y);
    for (int64_t x = 0; x < w->out[2]; x++)
        sums[x] = v->bias ? (double)v->bias[o] : 0;
    for (int64_t c = 0; c < depth; c++)
        for (int64_t kz = rz.first; kz <= rz.last; kz++)
            for (int64_t ky = ry.first; ky <= ry.last; ky++) {
                const int64_t iz = z * w->stride[0] - w->begin[0] + kz * w->dilation[0];
                const int64_t iy = y * w->stride[1] - w->begin[1] + ky * w->dilation[1];
                const int64_t plane = n * v->inputs + group * depth + c;
                const float *in = v->x + ((plane * w->in[0] + iz) * w->in[1] + iy) * w->in[2];
                const int64_t filter = ((o * depth + c) * w->kernel[0] + kz) * w->kernel[1] + ky;
                const float *weights = v->weights + filter * w->kernel[2];
                for (int64_t kx = 0; kx < w->kernel[2]; kx++)
                    add_row(w, kx, (double)weights[kx], in, sums);
            }
}

static bool convolve(op_call *c, const convolution *v, row_function *row, void *to)
{
    const op_window *w = &v->w;
    double *sums = op_scratch(c, (size_t)w->out[2], sizeof *sums);
    if (!sums)
        return false;
    size_t first = 0;
    for (int64_t n = 0; n < v->batch; n++)
        for (int64_t o = 0; o < v->outputs; o++)
            for (int64_t z = 0; z < w->out[0]; z++)
                for (int64_t y = 0; y < w->out[1]; y++, first += (size_t)w->out[2]) {
                    convolve_row(v, n, o, z, y, sums);
                    row(to, o, first, sums, w->out[2]);
                }
    return true;
}

/* ---- fp32 --------------------------------------------------------------------------------- */

static void store_row(void *to, int64_t o, size_t first, const double *sums, int64_t count)
{
    (void)o;
    for (int64_t i = 0; i < count; i++)
        tensor_set_number(to, first + (size_t)i, sums[i]);
}

bool op_conv(op_call *c)
{
    const tensor *x = op_in(c, 0), *w = op_in(c, 1), *b = op_in(c, 2);
    convolution v;
    if (!read_convolution(c, x, w, &v))
        return false;
    if (b && b->count != (size_t)v.outputs)
        return op_fail(c, "has %zu biases for %" PRId64 " outputs", b->count, v.outputs);
    if (!make_result(c, &v, x->type))
        return false;
    if (op_only_shapes(c))
        return true;
    v.x = op_floats(c, 0);
    v.weights = op_floats(c, 1);
    v.bias = b ? op_floats(c, 2) : NULL;
    return v.x && v.weights && (v.bias || !b) && convolve(c, &v, store_row, c->out);
}

/* ---- integers ----------------------------------------------------------------------------- */

bool op_conv_integer(op_call *c)
{
    const tensor *x = op_in(c, 0), *w = op_in(c, 1);
    convolution v;
    if (!read_convolution(c, x, w, &v) || !make_result(c, &v, ELEMENT_INT32))
        return false;
    if (op_only_shapes(c))
        return true;
    v.bias = NULL;
    v.x = requantize_centred(c, 0, 2);
    v.weights = requantize_centred(c, 1, 3);
    return v.x && v.weights && convolve(c, &v, store_row, c->out);
}

typedef struct qlinear {
    tensor *out;
    const requantize *rule;
    const tensor *bias; /* int32; NULL: none */
} qlinear;

static void requantize_row(void *to, int64_t o, size_t first, const double *sums, int64_t count)
{
    const qlinear *q = to;
    const double bias = q->bias ? (double)tensor_int(q->bias, (size_t)o) : 0;
    for (int64_t i = 0; i < count; i++)
        requantize_store(q->rule, q->out, first + (size_t)i, sums[i] + bias, (size_t)o);
}

bool op_qlinear_conv(op_call *c)
{
    const tensor *x = op_in(c, 0), *w = op_in(c, 3), *bias = op_in(c, 8);
    convolution v;
    requantize rule;
    if (!read_convolution(c, x, w, &v) || !requantize_read(c, (size_t)v.outputs, &rule) ||
        !make_result(c, &v, op_in(c, 7)->type))
        return false;
    if (bias && bias->count != (size_t)v.outputs)
        return op_fail(c, "has %zu biases for %" PRId64 " outputs", bias->count, v.outputs);
    if (op_only_shapes(c))
        return true;
    v.bias = NULL;
    v.x = requantize_centred(c, 0, 2);
    v.weights = requantize_centred(c, 3, 5);
    qlinear q = {c->out, &rule, bias};
    return v.x && v.weights && convolve(c, &v, requantize_row, &q);
}
