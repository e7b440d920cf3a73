// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/element.h"
#include "formats/compiler/quantize/observation.h"

/* scale16 of an output whose largest weight is `largest`, for in_scale / unit = ratio; too small
 * for it where fp16 ends. */
static uint16_t choose_scale(double largest, double ratio)
{
    enum { LARGEST_HALF = 0x7bff };
    const double wanted = largest / WEIGHT_MAX * ratio;
    uint16_t bits = half_from_double(wanted < 0x1p-14 ? 0x1p-14 : wanted);
    if (largest * ratio / half_value(bits) > WEIGHT_MAX + 0.49 && bits < LARGEST_HALF)
        bits++;
    return bits;
}

static float *copied(graph *g, const float *numbers, size_t count)
{
    float *copy = graph_alloc(g, count, sizeof *copy);
    return copy ? memcpy(copy, numbers, count * sizeof *copy) : NULL;
}

bool weights_own(graph *g, graph_node *node, format_error *error)
{
    graph_conv *c = &node->conv;
    const uint32_t outputs = g->values[node->output].channels;
    const bool scaled = c->weight_scales;
    c->weights = copied(g, c->weights, outputs * weights_filter(g, node));
    c->bias = copied(g, c->bias, outputs);
    c->weight_scales = scaled ? copied(g, c->weight_scales, outputs) : NULL;
    return (c->weights && c->bias && (c->weight_scales || !scaled)) ||
           format_fail(error, "out of memory");
}

size_t weights_filter(const graph *g, const graph_node *node)
{
    return g->values[node->inputs[0]].channels / node->conv.groups *
           graph_window_area(&node->conv.window);
}

double weights_largest(const float *w, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)w[i]));
    return largest;
}

/* Rounds one plane of a filter, w / scale, such that its sum is also kept to within 1/2. Where the
 * input is flat, such as a noise level or a smooth surface, only the sum matters, and roundings
 * that happen to agree would shift the result. The weights closest to the next integer are rounded
 * the other way. */
static void round_plane(const float *w, double scale, size_t area, int8_t *q)
{
    double left = 0; /* sum of w / scale - q */
    for (size_t i = 0; i < area; i++) {
        const double v = (double)w[i] / scale;
        q[i] = (int8_t)fmax(-WEIGHT_MAX, fmin(nearbyint(v), WEIGHT_MAX));
        left += v - q[i];
    }
    for (size_t moves = 0; moves < area && fabs(left) > 0.5; moves++) {
        const int direction = left > 0 ? 1 : -1;
        size_t best = area;
        double max = 0;
        for (size_t i = 0; i < area; i++) {
            const double gain = ((double)w[i] / scale - q[i]) * direction;
            if (gain > max && q[i] * direction < WEIGHT_MAX) {
                max = gain;
                best = i;
            }
        }
        if (best == area)
            return;
        q[best] = (int8_t)(q[best] + direction);
        left -= direction;
    }
}

/* The mean of (w - scale q) x over what calibration saw of the input, ignoring borders. */
static double mean_loss(const graph *g, const graph_node *node, uint32_t o, double scale,
                        const int8_weights *q)
{
    const observation *in = g->values[node->inputs[0]].seen;
    const size_t area = graph_window_area(&node->conv.window);
    const uint32_t per_group = q->outputs / node->conv.groups;
    const uint32_t first = o / per_group * (uint32_t)(q->filter / area);
    double sum = 0;
    for (size_t i = 0; i < q->filter && in && in->count; i++) {
        const size_t at = o * q->filter + i;
        const double lost = (double)node->conv.weights[at] - scale * q->weights[at];
        sum += lost * in->sums[first + i / area] / (double)in->count;
    }
    return sum;
}

size_t weights_clamped(const graph *g, const graph_node *node, uint32_t o)
{
    const size_t filter = weights_filter(g, node);
    size_t count = 0;
    for (size_t i = o * filter; i < (o + 1) * filter && node->conv.weight_scales; i++)
        count += fabs((double)node->conv.weights[i]) >
                 (WEIGHT_MAX + 0.5) * (double)node->conv.weight_scales[o];
    return count;
}

bool weights_keep_scales(const graph *g, const graph_node *node, uint32_t o, double in_scale,
                         double unit)
{
    const size_t filter = weights_filter(g, node);
    const double scale = node->conv.weight_scales ? (double)node->conv.weight_scales[o] : 0;
    const double factor = in_scale * scale / unit;
    const double largest = weights_largest(node->conv.weights + o * filter, filter);
    return largest > 0 && largest < (WEIGHT_MAX + 1.5) * scale && factor >= 0x1p-14 &&
           factor <= 65504;
}

/* What a bias loses that counts in these units. */
static double bias_loss(double bias, double unit)
{
    return fabs(bias - nearbyint(bias / unit) * unit);
}

double weights_kept_scale(const graph *g, const graph_node *node, uint32_t o, double bias,
                          double in_scale, double unit)
{
    const size_t filter = weights_filter(g, node);
    const double largest = weights_largest(node->conv.weights + o * filter, filter);
    double scale = (double)node->conv.weight_scales[o];
    while (bias_loss(bias, in_scale * scale) > unit / 64 &&
           in_scale * scale / 2 >= unit * 0x1p-14 && 2 * largest < (WEIGHT_MAX + 0.5) * scale)
        scale /= 2;
    return scale;
}

/* The same for weights that keep their scales. */
static void keep_scales(const graph *g, const graph_node *node, uint32_t o, double in_scale,
                        double unit, int8_weights *q)
{
    const double scale = weights_kept_scale(g, node, o, (double)node->conv.bias[o], in_scale, unit);
    for (size_t i = o * q->filter; i < (o + 1) * q->filter; i++)
        q->weights[i] = (int8_t)fmax(
            -WEIGHT_MAX, fmin(nearbyint((double)node->conv.weights[i] / scale), WEIGHT_MAX));
    q->scales[o] = half_from_double(in_scale * scale / unit);
    const double bias = nearbyint((double)node->conv.bias[o] / (in_scale * scale));
    q->bias[o] = (int32_t)fmax(-BIAS_MAX, fmin(bias, BIAS_MAX));
}

void weights_round(const float *w, double scale, size_t filter, size_t area, int8_t *q)
{
    for (size_t i = 0; i < filter; i += area)
        round_plane(w + i, scale, area, q + i);
}

/* Takes what output o has learnt. False: nothing, or its scale does not suit this ratio of in_scale
 * and unit. */
static bool take_learnt(const graph_node *node, uint32_t o, double ratio, int8_weights *q)
{
    const graph_rounding *r = node->conv.learnt;
    const double factor = r ? r->scales[o] * ratio : 0;
    if (!(factor >= 0x1p-14 && factor <= 65504))
        return false;
    q->scales[o] = half_from_double(factor);
    memcpy(q->weights + o * q->filter, r->weights + o * q->filter, q->filter);
    return true;
}

/* For output o, an input of scale in_scale and results in unit. */
static bool quantize_output(const graph *g, const graph_node *node, uint32_t o, double in_scale,
                            double unit, bool correct, int8_weights *q, format_error *error)
{
    const size_t area = graph_window_area(&node->conv.window);
    const float *w = node->conv.weights + o * q->filter;
    const double largest = weights_largest(w, q->filter);
    if (weights_keep_scales(g, node, o, in_scale, unit)) {
        keep_scales(g, node, o, in_scale, unit, q);
        return true;
    }
    const bool learnt = take_learnt(node, o, in_scale / unit, q);
    if (!learnt)
        q->scales[o] = choose_scale(largest, in_scale / unit);
    const double factor = half_value(q->scales[o]), scale = factor * unit / in_scale;
    if (!learnt && largest / scale > WEIGHT_MAX + 1)
        return graph_fail(node, error,
                          "has weights up to %g, too large for INT8 between scales of %g and %g",
                          largest, in_scale, unit);
    if (!learnt)
        weights_round(w, scale, q->filter, area, q->weights + o * q->filter);
    const double lost = correct ? mean_loss(g, node, o, scale, q) : 0;
    const double bias = nearbyint(((double)node->conv.bias[o] + lost) / (factor * unit));
    q->bias[o] = (int32_t)fmax(-BIAS_MAX, fmin(bias, BIAS_MAX));
    return true;
}

bool weights_quantize(const graph *g, const graph_node *node, double in_scale, double unit,
                      bool correct, int8_weights *q, format_error *error)
{
    const uint32_t outputs = g->values[node->output].channels;
    const size_t filter = weights_filter(g, node);
    if (filter > WEIGHTS_MAX)
        return graph_fail(node, error, "sums %zu products for each output, too many for INT8",
                          filter);
    *q = (int8_weights){outputs, filter, malloc(outputs * filter),
                        malloc(outputs * sizeof(int32_t)), malloc(outputs * sizeof(uint16_t))};
    bool ok = (q->weights && q->bias && q->scales) || format_fail(error, "out of memory");
    for (uint32_t o = 0; ok && o < outputs; o++)
        ok = quantize_output(g, node, o, in_scale, unit, correct, q, error);
    if (!ok)
        weights_free(q);
    return ok;
}

void weights_free(int8_weights *q)
{
    free(q->weights);
    free(q->bias);
    free(q->scales);
    *q = (int8_weights){0};
}
