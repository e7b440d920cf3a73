// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/quantize.h"

#include <math.h>

#include "formats/compiler/graph/kinds.h"
#include "formats/compiler/quantize/observation.h"
#include "formats/compiler/quantize/weights.h"

#define MAX_FACTOR 64.0 /* limits the scale of a channel; beyond it, a channel hardly matters */

static bool scales_through(const graph_node *node)
{
    return node->activation.kind < MONA_ACT_CLIP && node->after_add.kind < MONA_ACT_CLIP;
}

/* The CONV that is the only reader of node i's result, if both may be equalised; UINT32_MAX:
 * none. */
static uint32_t partner(const graph *g, uint32_t i)
{
    const graph_node *a = &g->nodes[i];
    const uint32_t reader = graph_only_reader(g, a->output);
    if (!kind_has_filter(a) || a->input_count != 1 || !scales_through(a) ||
        !g->values[a->output].seen || reader == UINT32_MAX)
        return UINT32_MAX;
    const graph_node *b = &g->nodes[reader];
    const bool reads = kind_has_filter(b) && b->inputs[0] == a->output &&
                       (b->input_count == 1 || b->inputs[1] != a->output);
    const bool quantised = a->conv.weight_scales || b->conv.weight_scales ||
                           g->values[a->output].prequantised.scale > 0;
    return reads && !quantised ? reader : UINT32_MAX;
}

/* The first of `area` weights of output o that read channel c; NULL: none do. */
static float *weights_of(const graph *g, const graph_node *b, uint32_t o, uint32_t c)
{
    const size_t filter = weights_filter(g, b);
    const size_t area = graph_window_area(&b->conv.window);
    const uint32_t depth = g->values[b->inputs[0]].channels / b->conv.groups;
    const uint32_t first = o / (g->values[b->output].channels / b->conv.groups) * depth;
    const bool reads = c >= first && c < first + depth;
    return reads ? b->conv.weights + o * filter + (c - first) * area : NULL;
}

/* Room to note what the channels of a value were divided by. */
static bool add_divisors(graph *g, graph_value *v)
{
    v->divisors = v->divisors ? v->divisors : graph_fill(g, v->channels, 1);
    return v->divisors;
}

static void equalise(graph *g, graph_node *a, graph_node *b, uint32_t c)
{
    const size_t area = graph_window_area(&b->conv.window);
    const size_t filter = weights_filter(g, a);
    const double range = (double)g->values[a->output].seen->largest[c];
    double largest = 0;
    for (uint32_t o = 0; o < g->values[b->output].channels; o++) {
        const float *w = weights_of(g, b, o, c);
        largest = w ? fmax(largest, weights_largest(w, area)) : largest;
    }
    if (!(range > 0 && largest > 0))
        return;
    const float s = (float)fmax(1 / MAX_FACTOR, fmin(sqrt(range / largest), MAX_FACTOR));
    for (size_t i = 0; i < filter; i++)
        a->conv.weights[c * filter + i] /= s;
    a->conv.bias[c] /= s;
    g->values[a->output].divisors[c] *= s;
    for (uint32_t o = 0; o < g->values[b->output].channels; o++) {
        float *w = weights_of(g, b, o, c);
        for (size_t i = 0; w && i < area; i++)
            w[i] *= s;
    }
}

bool equalise_graph(graph *g, unsigned *pairs, format_error *error)
{
    *pairs = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const uint32_t k = partner(g, i);
        if (k == UINT32_MAX)
            continue;
        if (!weights_own(g, &g->nodes[i], error) || !weights_own(g, &g->nodes[k], error))
            return false;
        if (!add_divisors(g, &g->values[g->nodes[i].output]))
            return format_fail(error, "out of memory");
        for (uint32_t c = 0; c < g->values[g->nodes[i].output].channels; c++)
            equalise(g, &g->nodes[i], &g->nodes[k], c);
        ++*pairs;
    }
    return true;
}
