// SPDX-License-Identifier: Apache-2.0
/* What INT8 does to each layer by itself: its source and its weights are rounded as lowering does;
 * sums and residual stay in fp32. */
#include <math.h>
#include <stdlib.h>

#include "formats/half.h"
#include "formats/compiler/lower/layers.h"
#include "formats/compiler/reference_nodes.h"
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
        const double q = nearbyint((double)x->data[i] / (double)f.scale);
        about->beyond += q < low || q > high ? 1 : 0;
        rounded[i] = (float)(fmax(low, fmin(q, high)) * (double)f.scale);
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

static void compare(layer *about, const reference_array *exact, const float *rounded)
{
    for (size_t i = 0; i < reference_count(exact); i++) {
        const double x = (double)exact->data[i], y = (double)rounded[i];
        about->product += x * y;
        about->squares += x * x;
        about->squares8 += y * y;
        about->error += (x - y) * (x - y);
    }
}

static bool measure(const evidence *e, layer *about, const graph_node *node,
                    const reference_array *const *in, const reference_array *out,
                    format_error *error)
{
    graph_node rounded;
    if (!round_weights(e, node, &rounded, error))
        return false;
    reference_array x = *in[0], y = *out;
    const reference_array *const inputs[2] = {&x, node->input_count == 2 ? in[1] : NULL};
    x.data = quantised_copy(in[0], e->formats[node->inputs[0]], about);
    y.data = malloc(reference_count(out) * sizeof *y.data);
    const bool ok = (x.data && y.data) || format_fail(error, "out of memory");
    if (ok) {
        reference_node(&rounded, inputs, &y);
        compare(about, out, y.data);
    }
    free(x.data);
    free(y.data);
    free(rounded.conv.weights);
    free(rounded.conv.bias);
    return ok;
}

static bool see(void *context, uint32_t value, const reference_array *a, const graph_node *node,
                const reference_array *const *in, format_error *error)
{
    const evidence *e = context;
    (void)value;
    for (unsigned i = 0; node && i < e->l->count; i++)
        if (&e->g->nodes[e->l->items[i].node] == node &&
            !format_is_half(e->formats[node->inputs[0]]))
            return measure(e, &e->l->items[i], node, in, a, error);
    return true;
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

bool layers_measure(layers *l, graph *g, const compiler_options *options,
                    const reference_array *inputs, format_error *error)
{
    evidence e = {g, l, options, calloc(g->value_count, sizeof(value_format))};
    const reference_observer observer = {see, &e};
    reference_array outputs[MONA_MAX_IO] = {0};
    bool ok = e.formats || format_fail(error, "out of memory");
    ok = ok && layers_formats(g, options, e.formats, error) &&
         reference_run(g, inputs, outputs, &observer, error);
    reference_arrays_free(outputs, MONA_MAX_IO);
    for (unsigned i = 0; ok && i < l->count; i++)
        conclude(&l->items[i]);
    free(e.formats);
    return ok;
}
