// SPDX-License-Identifier: Apache-2.0
/* Depth-first order. Channels of a block lie as (place, c) in depth-first DepthToSpace (mode DCR)
 * and SpaceToDepth, and as (c, place) in the engine. Convolutions beside them take the other order:
 * those that compute what a DepthToSpace reads permute their outputs, one that reads planes in
 * blocks its inputs. If there is none, a 1x1 convolution moves the channels. */
#include "formats/compiler/passes/passes.h"

#include <string.h>

#include "formats/compiler/quantize/quantize.h"
#include "formats/compiler/quantize/weights.h"

static uint32_t channels_of(const graph *g, uint32_t value)
{
    return g->values[value].channels;
}

/* For each channel of the engine's order, that of depth-first order. NULL: out of memory. */
static uint32_t *depth_first_order(graph *g, const graph_node *depth, uint32_t channels)
{
    const uint32_t area = depth->depth.block * depth->depth.block, planes = channels / area;
    uint32_t *from = graph_alloc(g, channels, sizeof *from);
    for (uint32_t i = 0; from && i < channels; i++)
        from[i] = i % area * planes + i / area;
    return from;
}

/* Permutes items of `each` numbers. False: out of memory. */
static bool permute(graph *g, float **numbers, const uint32_t *from, uint32_t count, size_t each)
{
    const float *old = *numbers;
    float *made = old ? graph_alloc(g, count * each, sizeof *made) : NULL;
    for (uint32_t i = 0; made && i < count; i++)
        memcpy(made + i * each, old + from[i] * each, each * sizeof *made);
    *numbers = made;
    return made || !old;
}

/* ---- what a DepthToSpace reads ------------------------------------------------------------- */

/* The convolution that computes a value of this many channels, which only one node reads, and can
 * do so in another order of channels. A residual must allow the same. UINT32_MAX: it cannot. */
static uint32_t ordering_conv(const graph *g, uint32_t value, uint32_t channels)
{
    const uint32_t p = g->values[value].uses == 1 ? graph_producer(g, value) : UINT32_MAX;
    return p != UINT32_MAX && kind_has_filter(&g->nodes[p]) && g->nodes[p].conv.groups == 1 &&
                   channels_of(g, value) == channels
               ? p
               : UINT32_MAX;
}

/* Whether the convolution adds a residual with a number for each of its outputs. */
static bool adds_channels(const graph *g, const graph_node *conv)
{
    return conv->input_count == 2 && channels_of(g, conv->inputs[1]) > 1;
}

static bool can_order(const graph *g, uint32_t value)
{
    const uint32_t channels = channels_of(g, value);
    for (;;) {
        const uint32_t p = ordering_conv(g, value, channels);
        if (p == UINT32_MAX)
            return false;
        if (!adds_channels(g, &g->nodes[p]))
            return true;
        value = g->nodes[p].inputs[1];
    }
}

static bool order_outputs(graph *g, uint32_t value, const uint32_t *from, format_error *error)
{
    const uint32_t channels = channels_of(g, value);
    for (;;) {
        graph_node *node = &g->nodes[ordering_conv(g, value, channels)];
        float *slopes = (float *)node->activation.slopes;
        if (!permute(g, &node->conv.weights, from, channels, weights_filter(g, node)) ||
            !permute(g, &node->conv.bias, from, channels, 1) ||
            !permute(g, &node->conv.weight_scales, from, channels, 1) ||
            !permute(g, &slopes, from, channels, 1))
            return format_fail(error, "out of memory");
        node->activation.slopes = slopes;
        if (!adds_channels(g, node))
            return true;
        value = node->inputs[1];
    }
}

/* ---- what reads planes in blocks ----------------------------------------------------------- */

/* The convolution that alone reads a value and can do so in another order of channels. UINT32_MAX:
 * there is none. */
static uint32_t ordering_reader(const graph *g, uint32_t value)
{
    const uint32_t r = graph_only_reader(g, value);
    return r != UINT32_MAX && kind_has_filter(&g->nodes[r]) && g->nodes[r].conv.groups == 1 &&
                   g->nodes[r].inputs[0] == value
               ? r
               : UINT32_MAX;
}

/* from: for each channel of the engine's order, the one that a filter has there. */
static bool order_inputs(graph *g, graph_node *node, const uint32_t *from, format_error *error)
{
    const uint32_t channels = channels_of(g, node->inputs[0]);
    const size_t area = graph_window_area(&node->conv.window), filter = weights_filter(g, node);
    if (!weights_own(g, node, error))
        return false;
    for (uint32_t o = 0; o < channels_of(g, node->output); o++) {
        float *weights = node->conv.weights + o * filter, *permuted = weights;
        if (!permute(g, &permuted, from, channels, area))
            return format_fail(error, "out of memory");
        memcpy(weights, permuted, filter * sizeof *weights);
    }
    return true;
}

/* ---- the pass ------------------------------------------------------------------------------ */

static const char moved[] =
    "no convolution beside it can take the other order, so one of 1x1 moves the channels";
static const char too_many[] = "it has more channels than a 1x1 convolution can move";

/* Adds a 1x1 convolution at place i whose output o is channel from[o] of value x. Returns its
 * result; UINT32_MAX: out of memory or too many nodes. */
static uint32_t move_channels(graph *g, uint32_t i, uint32_t x, const uint32_t *from,
                              const graph_node *depth)
{
    graph_node node = {.name = depth->name, .op_type = depth->op_type, .input_count = 1};
    const value_format format = g->values[quantize_root(g, x)].prequantised;
    const uint32_t channels = channels_of(g, x);
    if (!graph_become_shuffle(g, &node, channels, channels, from))
        return UINT32_MAX;
    const uint32_t made = graph_insert_node(g, i, node, x);
    if (made != UINT32_MAX)
        g->values[made].prequantised = format;
    return made;
}

/* Moves the channels that DepthToSpace *i reads. */
static bool move_before(graph *g, uint32_t *i, const uint32_t *from)
{
    const graph_node depth = g->nodes[*i];
    const uint32_t made = move_channels(g, *i, depth.inputs[0], from, &depth);
    if (made != UINT32_MAX)
        graph_set_input(g, ++*i, 0, made);
    return made != UINT32_MAX;
}

/* Moves the channels that SpaceToDepth *i makes. */
static bool move_after(graph *g, uint32_t *i, const uint32_t *from, uint32_t channels)
{
    const graph_node depth = g->nodes[*i];
    uint32_t *to = graph_alloc(g, channels, sizeof *to);
    for (uint32_t c = 0; to && c < channels; c++)
        to[from[c]] = c;
    const uint32_t made = to ? move_channels(g, *i + 1, depth.output, to, &depth) : UINT32_MAX;
    if (made == UINT32_MAX)
        return false;
    graph_set_result(g, (*i)++, made);
    graph_set_input(g, *i, 0, made);
    graph_set_result(g, *i, depth.output);
    return true;
}

/* Puts node *i into the engine's order, and moves *i if nodes are added before it. *why_not: why no
 * other node does it at no cost. */
static bool reorder(graph *g, uint32_t *i, const char **why_not, format_error *error)
{
    graph_node *depth = &g->nodes[*i];
    const bool up = depth->kind == GRAPH_DEPTH_TO_SPACE;
    const uint32_t x = depth->inputs[0], deep = up ? x : depth->output;
    const uint32_t channels = channels_of(g, deep);
    const uint32_t reader = up ? UINT32_MAX : ordering_reader(g, deep);
    const bool free = up ? can_order(g, x) : reader != UINT32_MAX;
    *why_not = free ? NULL : channels > GRAPH_MAX_SHUFFLED ? too_many : moved;
    if (*why_not == too_many)
        return true;
    const uint32_t *from = depth_first_order(g, depth, channels);
    if (!from)
        return format_fail(error, "out of memory");
    depth->depth.depth_first = false;
    if (free)
        return up ? order_outputs(g, x, from, error)
                  : order_inputs(g, &g->nodes[reader], from, error);
    return (up ? move_before(g, i, from) : move_after(g, i, from, channels)) ||
           format_fail(error, "out of memory");
}

/* Whether a LOAD could do the work of a SpaceToDepth if it were in the engine's order. */
static bool could_load(const graph *g, const graph_node *node)
{
    return kind_of(node)->packs == PACKS_BLOCKS && graph_is_input(g, node->inputs[0]) &&
           node->depth.block <= GRAPH_MAX_BLOCK;
}

bool pass_reorder_depth(graph *g, format_error *error)
{
    if (!graph_spread(g))
        return format_fail(error, "out of memory");
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node node = g->nodes[i];
        const char *why_not = NULL;
        if ((node.kind != GRAPH_DEPTH_TO_SPACE && !could_load(g, &node)) || !node.depth.depth_first)
            continue;
        if (!reorder(g, &i, &why_not, error))
            return false;
        graph_log(g, FUSION_DEPTH_ORDER, &node, why_not);
    }
    return graph_sweep(g) || format_fail(error, "out of memory");
}
