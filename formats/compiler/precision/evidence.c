// SPDX-License-Identifier: Apache-2.0
/* Measures the effect of INT8 on the sums of each layer alone, with its source and weights rounded
 * as in lowering. */
#include <math.h>
#include <stdlib.h>

#include "formats/element.h"
#include "formats/compiler/precision/layers.h"
#include "formats/reference/execute.h"
#include "formats/compiler/quantize/weights.h"

typedef struct evidence {
    graph *g;
    layers *l;
    const compiler_options *options;
    value_format *formats; /* if all layers are INT8 */
} evidence;

/* A copy of x rounded to 8 bits; NULL: out of memory. */
static float *quantised_copy(const reference_array *x, value_format f, layer *about)
{
    const size_t count = reference_count(x);
    const double low = f.type == MONA_U8 ? 0 : -128, high = f.type == MONA_U8 ? 255 : 127;
    float *rounded = malloc(count * sizeof *rounded);
    for (size_t i = 0; rounded && i < count; i++) {
        const double q = nearbyint((double)x->data[i] / (double)f.scale + f.zero);
        about->beyond += q < low || q > high ? 1 : 0;
        rounded[i] = (float)((fmax(low, fmin(q, high)) - f.zero) * (double)f.scale);
    }
    about->seen += (double)count;
    return rounded;
}

/* The node with weights rounded to 8 bits. Release conv.weights and conv.bias with free. */
static bool round_weights(const evidence *e, const graph_node *node, graph_node *rounded,
                          format_error *error)
{
    int8_weights q;
    const double in = (double)e->formats[node->inputs[0]].scale;
    const double unit = quantize_unit(e->g, node, e->formats);
    if (!weights_quantize(e->g, node, in, unit, e->options->correct_bias, &q, error))
        return false;
    *rounded = *node;
    rounded->conv.weights = malloc(q.outputs * q.filter * sizeof(float));
    rounded->conv.bias = malloc(q.outputs * sizeof(float));
    const bool ok = rounded->conv.weights && rounded->conv.bias;
    for (uint32_t o = 0; ok && o < q.outputs; o++) {
        const double factor = half_value(q.scales[o]) * unit;
        for (size_t i = o * q.filter; i < (o + 1) * q.filter; i++)
            rounded->conv.weights[i] = (float)(q.weights[i] * (factor / in));
        rounded->conv.bias[o] = (float)(q.bias[o] * factor);
    }
    weights_free(&q);
    if (!ok) {
        free(rounded->conv.weights);
        free(rounded->conv.bias);
        format_fail(error, "out of memory");
    }
    return ok;
}

static void compare(layer *about, const tensor *exact, const tensor *rounded)
{
    for (size_t i = 0; i < exact->count; i++) {
        const double x = tensor_number(exact, i), y = tensor_number(rounded, i);
        about->product += x * y;
        about->squares += x * x;
        about->squares8 += y * y;
        about->error += (x - y) * (x - y);
    }
}

/* The sums of a CONV, by the reference. */
static bool convolve(const graph *g, const graph_node *node, const reference_array *x, tensor *sums,
                     format_error *error)
{
    const graph_window *w = &node->conv.window;
    const int64_t strides[] = {w->stride[0], w->stride[1]}, group = node->conv.groups;
    const int64_t dilations[] = {w->dilation[0], w->dilation[1]};
    const int64_t pads[] = {w->pad_begin[0], w->pad_begin[1], w->pad_end[0], w->pad_end[1]};
    onnx_attribute attributes[] = {
        {.name = "strides", .kind = ONNX_INTS, .count = 2, .ints = strides},
        {.name = "dilations", .kind = ONNX_INTS, .count = 2, .ints = dilations},
        {.name = "pads", .kind = ONNX_INTS, .count = 4, .ints = pads},
        {.name = "group", .kind = ONNX_INTS, .count = 1, .ints = &group}};
    const int64_t outputs = g->values[node->output].channels;
    const int64_t in_dims[] = {1, x->channels, x->height, x->width};
    const int64_t dims[] = {outputs, x->channels / group, w->kernel[0], w->kernel[1]};
    tensor in[3];
    if (!tensor_shape(&in[0], ELEMENT_FLOAT32, 4, in_dims) ||
        !tensor_shape(&in[1], ELEMENT_FLOAT32, 4, dims) ||
        !tensor_shape(&in[2], ELEMENT_FLOAT32, 1, dims))
        return graph_fail(node, error, "is too large");
    in[0].data = x->data;
    in[1].data = node->conv.weights;
    in[2].data = node->conv.bias;
    const onnx_node conv = {.name = node->name,
                            .op_type = "Conv",
                            .attributes = attributes,
                            .attribute_count = 4,
                            .outputs = &(uint32_t){0},
                            .input_count = 3,
                            .output_count = 1};
    const tensor *const inputs[3] = {&in[0], &in[1], &in[2]};
    return reference_node_run(&(onnx_graph){.opset = ONNX_OPSET_MAX}, &conv, inputs, false, sums,
                              error) == REFERENCE_DONE;
}

/* A copy of x with its padding for the window around it. data NULL: out of memory. */
static reference_array surrounded(const reference_array *x, const float *padding,
                                  const graph_window *w)
{
    reference_array a = {x->channels, x->height + w->pad_begin[0] + w->pad_end[0],
                         x->width + w->pad_begin[1] + w->pad_end[1], NULL};
    float *to = a.data = malloc(reference_count(&a) * sizeof *a.data);
    for (uint32_t c = 0; to && c < a.channels; c++)
        for (uint32_t y = 0; y < a.height; y++)
            for (uint32_t z = 0; z < a.width; z++) {
                const uint32_t row = y - w->pad_begin[0], column = z - w->pad_begin[1];
                const bool inside = row < x->height && column < x->width;
                *to++ = inside ? x->data[((size_t)c * x->height + row) * x->width + column]
                               : padding[c];
            }
    return a;
}

/* With the padding of its input among it, if that is not 0. */
static bool measure_on(const evidence *e, layer *about, graph_node node, const reference_array *x,
                       format_error *error)
{
    graph_node rounded;
    tensor exact = {0}, sums = {0};
    if (!round_weights(e, &node, &rounded, error))
        return false;
    reference_array x8 = *x;
    x8.data = quantised_copy(x, e->formats[node.inputs[0]], about);
    const bool ok = (x8.data || format_fail(error, "out of memory")) &&
                    convolve(e->g, &node, x, &exact, error) &&
                    convolve(e->g, &rounded, &x8, &sums, error);
    if (ok)
        compare(about, &exact, &sums);
    tensor_free(&exact);
    tensor_free(&sums);
    free(x8.data);
    free(rounded.conv.weights);
    free(rounded.conv.bias);
    return ok;
}

static bool measure(const evidence *e, layer *about, const reference_array *x, format_error *error)
{
    graph_node node = e->g->nodes[about->node];
    const float *padding = e->g->values[node.inputs[0]].padding;
    graph_window *w = &node.conv.window;
    if (!padding)
        return measure_on(e, about, node, x, error);
    reference_array around = surrounded(x, padding, w);
    for (int i = 0; i < 2; i++)
        w->pad_begin[i] = w->pad_end[i] = 0;
    const bool ok = (around.data || format_fail(error, "out of memory")) &&
                    measure_on(e, about, node, &around, error);
    free(around.data);
    return ok;
}

static bool see(void *context, uint32_t value, const reference_array *a, format_error *error)
{
    const evidence *e = context;
    bool ok = true;
    for (unsigned i = 0; ok && i < e->l->count; i++)
        if (e->g->nodes[e->l->items[i].node].inputs[0] == value &&
            !format_is_half(e->formats[value]))
            ok = measure(e, &e->l->items[i], a, error);
    return ok;
}

static void conclude(layer *a)
{
    if (!(a->seen > 0))
        return;
    a->about.cosine = a->squares > 0 && a->squares8 > 0
                          ? a->product / sqrt(a->squares * a->squares8)
                          : a->squares == a->squares8;
    a->about.sqnr = a->error > 0 ? 10 * log10(a->squares / a->error) : INFINITY;
    a->about.saturated = a->beyond / a->seen;
}

bool layers_formats(graph *g, const compiler_options *options, value_format *formats,
                    format_error *error)
{
    compiler_options all = *options;
    bool *half = calloc(g->value_count, sizeof *half);
    if (!half)
        return format_fail(error, "out of memory");
    for (uint32_t i = 0; i < g->value_count; i++) {
        half[i] = g->values[i].half;
        g->values[i].half = false;
    }
    all.int8 = true;
    const bool ok = quantize_values(g, &all, formats, error);
    for (uint32_t i = 0; i < g->value_count; i++)
        g->values[i].half = half[i];
    free(half);

    return ok;
}

bool layers_measure(layers *l, const onnx_graph *model, graph *g, const compiler_options *options,
                    const reference_array *inputs, format_error *error)
{
    evidence e = {g, l, options, calloc(g->value_count, sizeof(value_format))};
    const reference_observer observer = {see, &e};
    bool ok = e.formats || format_fail(error, "out of memory");
    ok = ok && layers_formats(g, options, e.formats, error) &&
         reference_run(model, g, inputs, NULL, &observer, error);
    for (unsigned i = 0; ok && i < l->count; i++)
        conclude(&l->items[i]);
    free(e.formats);
    return ok;
}
