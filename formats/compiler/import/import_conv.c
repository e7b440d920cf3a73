// SPDX-License-Identifier: Apache-2.0
/* Convolution, windows, which pools have too, and the batch normalisation that follows it. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>
#include <math.h>

/* ---- windows ------------------------------------------------------------------------------ */

static bool within(importer *im, const char *name, int64_t number, int max)
{
    return number <= max ||
           import_fail(im, "has %s %" PRId64 "; supported: 1 to %d", name, number, max);
}

bool import_window(importer *im, const op_window *from, graph_window *w)
{
    for (int i = 0; i < 2; i++) {
        const int k = WINDOW_DIMS - 2 + i;
        const int64_t pad = from->begin[k] > from->end[k] ? from->begin[k] : from->end[k];
        if (!within(im, "kernel_shape", from->kernel[k], GRAPH_MAX_KERNEL) ||
            !within(im, "strides", from->stride[k], GRAPH_MAX_STRIDE) ||
            !within(im, "dilations", from->dilation[k], GRAPH_MAX_KERNEL))
            return false;
        if (pad > GRAPH_MAX_PAD)
            return import_fail(im, "pads by %" PRId64 "; supported: 0 to %d", pad, GRAPH_MAX_PAD);
        w->kernel[i] = (uint32_t)from->kernel[k];
        w->stride[i] = (uint32_t)from->stride[k];
        w->dilation[i] = (uint32_t)from->dilation[k];
        w->pad_begin[i] = (uint32_t)from->begin[k];
        w->pad_end[i] = (uint32_t)from->end[k];
    }
    return true;
}

bool import_window_size(importer *im, const graph_window *w, const graph_value *source,
                        bool round_up, uint32_t size[2])
{
    const uint32_t in[2] = {source->height, source->width};
    for (int i = 0; i < 2; i++) {
        size[i] = in[i] ? graph_window_outputs(w, i, in[i], round_up) : 0;
        if (in[i] && !size[i])
            return import_fail(im, "has a filter larger than its padded input");
    }
    return true;
}

/* ---- convolution -------------------------------------------------------------------------- */

bool import_read_bias(importer *im, size_t i, const graph_value *w, uint32_t outputs, float **bias)
{
    const graph_value *b = import_constant(im, i);
    if (b && b->count != outputs)
        return import_fail(im, "has %zu biases for %u outputs", b->count, outputs);
    for (size_t k = 0; k < w->count; k++)
        if (!isfinite(w->data[k]) || (b && k < b->count && !isfinite(b->data[k])))
            return import_fail(im, "has a weight that is infinite or not a number");
    *bias = b ? b->data : graph_fill(im->g, outputs, 0);
    return *bias || format_fail(im->error, "out of memory");
}

bool import_add_conv(importer *im, const graph_conv *conv, uint32_t x, uint32_t outputs)
{
    uint32_t size[2];
    if (!import_window_size(im, &conv->window, &im->g->values[x], false, size))
        return false;
    graph_node *made = import_node(im, 0, GRAPH_CONV, x, outputs, size[0], size[1]);
    if (made)
        made->conv = *conv;
    return made;
}

bool import_read_conv(importer *im, uint32_t w, uint32_t b, graph_conv *conv, uint32_t *outputs)
{
    const graph_value *weights = import_constant(im, w);
    op_convolution n;
    if (!weights || !weights->count || (import_has(im, b) && !import_constant(im, b)))
        return import_fail(im, "has computed weights; expected constants");
    if (!op_convolution_read(&im->call, w, &n) ||
        !import_read_bias(im, b, weights, (uint32_t)n.outputs, &conv->bias))
        return false;
    *outputs = (uint32_t)n.outputs;
    conv->groups = (uint32_t)n.groups;
    conv->weights = weights->data;
    return import_window(im, &n.w, &conv->window);
}

bool import_conv(importer *im)
{
    uint32_t x, outputs = 0;
    graph_conv conv = {0};
    if (!import_channels(im, 0, &x) || !import_read_conv(im, 1, 2, &conv, &outputs))
        return false;
    conv.weight_scales = import_weight_scales(im, 1, 0, outputs);
    return import_add_conv(im, &conv, x, outputs);
}

/* y = scale * (x - mean) / sqrt(variance + epsilon) + bias as one multiply-add per channel. */
bool import_batch_norm(importer *im)
{
    uint32_t x;
    if (!import_elements(im, 0, &x))
        return false;
    if (!import_trailing(im, 0) || !import_is_channel_axis(im, 0, 1))
        return import_fail(im, "normalises an axis that is not that of the channels");
    const uint32_t channels = im->g->values[x].channels;
    const float *parts[4]; /* scale, bias, mean, variance */
    for (size_t i = 0; i < 4; i++) {
        const graph_value *v = import_constant(im, i + 1);
        if (!v || v->count != channels)
            return import_fail(
                im, "needs constants of %u elements for scale, bias, mean and variance", channels);
        parts[i] = v->data;
    }
    if (onnx_int(im->node, "training_mode", 0))
        return import_fail(im, "is in training mode; export the model for inference");
    float *scale = graph_alloc(im->g, channels, sizeof *scale);
    float *shift = graph_alloc(im->g, channels, sizeof *shift);
    graph_node *made = scale && shift ? import_node_like(im, GRAPH_AFFINE, x) : NULL;
    if (!made)
        return format_fail(im->error, "out of memory");
    const double epsilon = onnx_float(im->node, "epsilon", 1e-5f);
    for (uint32_t c = 0; c < channels; c++) {
        const double factor = parts[0][c] / sqrt(parts[3][c] + epsilon);
        scale[c] = (float)factor;
        shift[c] = (float)(parts[1][c] - factor * parts[2][c]);
        if (!isfinite(scale[c]) || !isfinite(shift[c]))
            return import_fail(im, "gives a factor that is infinite or not a number");
    }
    made->affine.scale = scale;
    made->affine.shift = shift;
    return true;
}
