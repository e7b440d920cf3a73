// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/passes/passes.h"

/* An epilogue has only one pair of bounds for both of its activations. */
static bool bounds_fit(const graph_activation *a, const graph_activation *b)
{
    return a->kind != MONA_ACT_CLIP || b->kind != MONA_ACT_CLIP ||
           (a->low == b->low && a->high == b->high);
}

/* Node p moves to the place of node i, which comes later, so that all its inputs have been
 * computed. */
static void replace(graph *g, uint32_t i, graph_node merged, uint32_t p)
{
    merged.output = g->nodes[i].output;
    graph_replace_node(g, i, merged);
    graph_remove_node(g, p);
}

const char *fuse_activation(graph *g, uint32_t i, fusion_rule *rule)
{
    const uint32_t p = graph_private_producer(g, i, 0);
    *rule = FUSION_ACTIVATION;
    if (g->fusion.off[FUSION_ACTIVATION])
        return FUSION_IS_OFF;
    if (p == UINT32_MAX || kind_of(&g->nodes[p])->merges == MERGES_NOTHING)
        return "its input does not come from a convolution, sum or product that only it reads";
    graph_node merged = g->nodes[p];
    const graph_activation *activation = &g->nodes[i].activation;
    const bool filter = kind_has_filter(&merged), residual = filter && merged.input_count == 2;
    if (mona_is_function(activation->kind)) {
        if (!filter || merged.activation.kind || merged.after_add.kind)
            return "the operator before it has no room for a function";
        merged.after_add = *activation;
        merged.before = g->nodes[i].inputs[0];
    } else if (!residual && !merged.activation.kind && !merged.after_add.kind)
        merged.activation = *activation;
    else if (!merged.after_add.kind && activation->kind != MONA_ACT_PRELU &&
             bounds_fit(&merged.activation, activation))
        merged.after_add = *activation;
    else
        return "the operator before it has no room for one more";
    replace(g, i, merged, p);
    return NULL;
}

/* A residual may have more channels than the sum: a slice from channel 0 needs no copy. */
static uint32_t residual_source(const graph *g, uint32_t value, uint32_t channels)
{
    const uint32_t p = graph_producer(g, value);
    const bool view = p != UINT32_MAX && g->nodes[p].kind == GRAPH_SLICE &&
                      !g->nodes[p].slice.first && g->nodes[p].slice.count == channels;
    return view ? g->nodes[p].inputs[0] : value;
}

/* Whether the sum of these two needs no other pixel of one than of the other. */
static bool same_pixels(const graph_value *a, const graph_value *b)
{
    return a->height == b->height && a->width == b->width;
}

/* The operand of sum i that comes from a convolution which only i reads; the later one if both do;
 * 2: neither. */
static uint32_t summed_conv(const graph *g, uint32_t i)
{
    const graph_node *add = &g->nodes[i];
    uint32_t best = UINT32_MAX, operand = 2;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t p = graph_private_producer(g, i, k);
        if (p == UINT32_MAX || !kind_has_filter(&g->nodes[p]) || g->nodes[p].input_count != 1 ||
            g->nodes[p].after_add.kind ||
            g->values[add->inputs[k]].channels != g->values[add->output].channels ||
            !same_pixels(&g->values[add->inputs[0]], &g->values[add->inputs[1]]))
            continue;
        if (best == UINT32_MAX || p > best) {
            best = p;
            operand = k;
        }
    }
    return operand;
}

const char *fuse_add(graph *g, uint32_t i, fusion_rule *rule)
{
    const graph_node *add = &g->nodes[i];
    const uint32_t operand = summed_conv(g, i);
    *rule = FUSION_ADD;
    if (operand == 2)
        return "no operand comes from a convolution that only it reads";
    const uint32_t p = graph_producer(g, add->inputs[operand]), other = add->inputs[1 - operand];
    const uint32_t source = residual_source(g, other, g->values[add->output].channels);
    *rule = source == other ? FUSION_ADD : FUSION_ADD_SLICE;
    if (g->fusion.off[*rule])
        return FUSION_IS_OFF;
    if (!bounds_fit(&g->nodes[p].activation, &add->activation) ||
        add->activation.kind == MONA_ACT_PRELU)
        return "the convolution has no room for its activation";
    graph_node merged = g->nodes[p];
    merged.input_count = 2;
    merged.inputs[1] = source;
    merged.after_add = add->activation;
    replace(g, i, merged, p);
    return NULL;
}

/* Merges node i into one before it if possible, and logs the result. */
static void fuse_node(graph *g, uint32_t i)
{
    const graph_node node = g->nodes[i];
    fusion_rule rule;
    if (!kind_of(&node)->fuse)
        return;
    const char *why_not = kind_of(&node)->fuse(g, i, &rule);
    graph_log(g, rule, &node, why_not);
}

static void remove_unused_slices(graph *g)
{
    for (uint32_t i = g->node_count; i-- > 0;)
        if (g->nodes[i].kind == GRAPH_SLICE && !g->values[g->nodes[i].output].uses)
            graph_remove_node(g, i);
}

/* Makes an activation that was not merged a convolution that only activates. */
static bool activate_copy(graph *g, graph_node *node)
{
    if (mona_is_function(node->activation.kind)) {
        node->after_add = node->activation;
        node->activation = (graph_activation){0};
        node->before = node->inputs[0];
    }
    return graph_become_copy(g, node);
}

bool pass_fuse(graph *g, format_error *error)
{
    for (uint32_t i = 0; i < g->node_count; i++)
        fuse_node(g, i);
    remove_unused_slices(g);
    graph_sweep(g);
    for (uint32_t i = 0; i < g->node_count; i++)
        if (g->nodes[i].kind == GRAPH_ACTIVATION && !activate_copy(g, &g->nodes[i]))
            return format_fail(error, "out of memory");
    return true;
}
