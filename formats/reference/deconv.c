// SPDX-License-Identifier: Apache-2.0
/* ConvTranspose: each sample adds the filter, times its value, to the result. Along each axis,
 *
 *   out = stride (in - 1) + output_padding + extent - pads. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef struct deconvolution {
    op_convolution n;
    const float *x, *weights;
} deconvolution;

/* Derives pads and outputs from the whole extent: pads are given explicitly, or by the size of the
 * result. */
static bool find_outputs(op_call *c, op_window *w)
{
    int64_t more[WINDOW_DIMS], shape[WINDOW_DIMS];
    const char *pad = onnx_string(c->node, "auto_pad", "NOTSET");
    const bool same = !strncmp(pad, "SAME_", 5), upper = !strcmp(pad, "SAME_UPPER");
    if (!op_window_list(c, "output_padding", w->spatial_dims, 0, 0, more) ||
        !op_window_list(c, "output_shape", w->spatial_dims, 0, 1, shape))
        return false;
    for (uint32_t i = 0; i < WINDOW_DIMS; i++) {
        const int64_t whole = w->stride[i] * (w->in[i] - 1) + more[i] + op_window_extent(w, i);
        const bool sized = shape[i] || (same && i >= WINDOW_DIMS - w->spatial_dims);
        w->out[i] = whole - w->begin[i] - w->end[i];
        if (!sized)
            continue;
        w->out[i] = shape[i] ? shape[i] : w->in[i] * w->stride[i];
        const int64_t total = whole > w->out[i] ? whole - w->out[i] : 0;
        w->begin[i] = upper ? total / 2 : total - total / 2;
        w->end[i] = total - w->begin[i];
    }
    return true;
}

bool op_convolution_read_transposed(op_call *c, op_convolution *v)
{
    const tensor *x = op_in(c, 0), *w = op_in(c, 1);
    v->groups = onnx_int(c->node, "group", 1);
    if (x->rank < 3 || w->rank != x->rank)
        return op_fail(c,
                       "has an input of %u dimensions and weights of %u; expected the same, 3 to 5",
                       x->rank, w->rank);
    v->batch = x->dims[0];
    v->inputs = x->dims[1];
    if (v->groups < 1 || v->inputs % v->groups || w->dims[0] != v->inputs ||
        (w->dims[1] && v->groups > TENSOR_MAX_COUNT / w->dims[1]))
        return op_fail(c,
                       "has %" PRId64 " groups and weights for %" PRId64
                       " inputs; its input has %" PRId64 " channels",
                       v->groups, w->dims[0], v->inputs);
    v->outputs = w->dims[1] * v->groups;
    /* The window is read as for a convolution whose input is large enough for the filter. */
    tensor large = *x;
    for (uint32_t i = 2; i < x->rank; i++)
        large.dims[i] = (int64_t)1 << 50;
    if (!op_window_read(c, &large, w->dims + 2, &v->w))
        return false;
    for (uint32_t i = 2; i < x->rank; i++)
        v->w.in[WINDOW_DIMS - x->rank + i] = x->dims[i];
    return find_outputs(c, &v->w);
}

/* Adds the filter, times the sample at (z, y, x), to the plane of sums. */
static void scatter(const op_window *w, const int64_t at[3], double sample, const float *filter,
                    double *sums)
{
    int64_t start[3];
    for (int i = 0; i < 3; i++)
        start[i] = at[i] * w->stride[i] - w->begin[i];
    for (int64_t kz = 0; kz < w->kernel[0]; kz++)
        for (int64_t ky = 0; ky < w->kernel[1]; ky++)
            for (int64_t kx = 0; kx < w->kernel[2]; kx++, filter++) {
                const int64_t z = start[0] + kz * w->dilation[0];
                const int64_t y = start[1] + ky * w->dilation[1];
                const int64_t x = start[2] + kx * w->dilation[2];
                if (z >= 0 && z < w->out[0] && y >= 0 && y < w->out[1] && x >= 0 && x < w->out[2])
                    sums[(z * w->out[1] + y) * w->out[2] + x] += sample * (double)*filter;
            }
}

static void scatter_plane(const deconvolution *v, int64_t plane, const float *filter, double *sums)
{
    const op_window *w = &v->n.w;
    const float *in = v->x + plane * w->in[0] * w->in[1] * w->in[2];
    int64_t at[3];
    for (at[0] = 0; at[0] < w->in[0]; at[0]++)
        for (at[1] = 0; at[1] < w->in[1]; at[1]++)
            for (at[2] = 0; at[2] < w->in[2]; at[2]++)
                scatter(w, at, (double)*in++, filter, sums);
}

static bool deconvolve(op_call *c, const deconvolution *v, const float *bias)
{
    const op_window *w = &v->n.w;
    const int64_t area = w->kernel[0] * w->kernel[1] * w->kernel[2];
    const int64_t depth = v->n.inputs / v->n.groups, each = v->n.outputs / v->n.groups;
    const size_t plane = (size_t)(w->out[0] * w->out[1] * w->out[2]);
    double *sums = op_scratch(c, plane, sizeof *sums);
    for (int64_t n = 0; sums && n < v->n.batch; n++)
        for (int64_t o = 0; o < v->n.outputs; o++) {
            const int64_t first = o / each * depth;
            for (size_t i = 0; i < plane; i++)
                sums[i] = bias ? (double)bias[o] : 0;
            for (int64_t k = first; k < first + depth; k++)
                scatter_plane(v, n * v->n.inputs + k, v->weights + (k * each + o % each) * area,
                              sums);
            for (size_t i = 0; i < plane; i++)
                tensor_set_number(c->out, (size_t)(n * v->n.outputs + o) * plane + i, sums[i]);
        }
    return sums;
}

bool op_conv_transpose(op_call *c)
{
    const tensor *x = op_in(c, 0), *b = op_in(c, 2);
    deconvolution v;
    int64_t dims[TENSOR_MAX_RANK];
    if (!op_convolution_read_transposed(c, &v.n))
        return false;
    if (b && b->count != (size_t)v.n.outputs)
        return op_fail(c, "has %zu biases for %" PRId64 " outputs", b->count, v.n.outputs);
    op_window_shape(&v.n.w, v.n.batch, v.n.outputs, dims);
    if (!op_result(c, 0, x->type, x->rank, dims))
        return false;
    v.x = op_floats(c, 0);
    v.weights = op_floats(c, 1);
    const float *bias = b ? op_floats(c, 2) : NULL;
    return v.x && v.weights && (bias || !b) && deconvolve(c, &v, bias);
}
