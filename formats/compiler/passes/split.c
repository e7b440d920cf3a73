// SPDX-License-Identifier: Apache-2.0
/* Turns slices of a convolution's results into convolutions with some of its outputs if they would
 * have to be copied otherwise. */
#include "formats/compiler/passes/passes.h"

#include "formats/compiler/quantize/weights.h"

static bool is_slice_of(const graph *g, const graph_node *node, uint32_t value)
{
    return node->kind == GRAPH_SLICE && node->inputs[0] == value &&
           !graph_is_output(g, node->output);
}

/* Which slices read a value. */
typedef struct readers {
    uint32_t slices;
    bool copied; /* a slice of it would be copied */
} readers;

/* The readers of all values; NULL: out of memory. */
static readers *readers_of(graph *g)
{
    readers *all = graph_alloc(g, g->value_count, sizeof *all);
    if (!all)
        return NULL;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        if (node->kind != GRAPH_SLICE || graph_is_output(g, node->output))
            continue;
        readers *source = &all[node->inputs[0]];
        source->slices++;
        source->copied |= !graph_are_blocks(node->slice.first, node->slice.count,
                                            g->values[node->inputs[0]].channels);
    }
    return all;
}

/* Whether the node is a convolution that only slices read, of which one would be copied. */
static bool splits(const graph *g, const graph_node *node, const readers *r)
{
    return kind_has_filter(node) && node->conv.groups == 1 && node->input_count == 1 && r->copied &&
           r->slices == g->values[node->output].uses;
}

/* The convolution with the outputs that the slice keeps. */
static graph_node part_of(const graph *g, graph_node conv, const graph_node *slice)
{
    const uint32_t first = slice->slice.first;
    conv.output = slice->output;
    conv.conv.weights += first * weights_filter(g, &conv);
    conv.conv.bias += first;
    if (conv.conv.weight_scales)
        conv.conv.weight_scales += first;
    if (conv.activation.slopes)
        conv.activation.slopes += first;
    return conv;
}

/* A part that calibration does not see, since it is no value of the model, shares the format of the
 * others of its kind. It covers the range of the whole. */
static void share_range(graph *g, uint32_t whole, uint32_t part)
{
    if (g->values[part].source != UINT32_MAX)
        return;
    const uint32_t first = g->values[whole].joined == whole ? part : g->values[whole].joined;
    g->values[whole].joined = g->values[part].joined = first;
}

/* Parts are convolutions of the same source, so that a value keeps the slices that it had. */
bool pass_split(graph *g, format_error *error)
{
    const readers *all = readers_of(g);
    if (!all)
        return format_fail(error, "out of memory");
    for (uint32_t c = 0; c < g->node_count; c++) {
        const graph_node conv = g->nodes[c];
        uint32_t left = all[conv.output].slices;
        if (!splits(g, &conv, &all[conv.output]))
            continue;
        if (g->fusion.off[FUSION_SPLIT]) {
            graph_log(g, FUSION_SPLIT, &conv, FUSION_IS_OFF);
            continue;
        }
        for (uint32_t i = c + 1; left; i++)
            if (is_slice_of(g, &g->nodes[i], conv.output)) {
                left--;
                g->values[g->nodes[i].output].prequantised = g->values[conv.output].prequantised;
                share_range(g, conv.output, g->nodes[i].output);
                graph_replace_node(g, i, part_of(g, conv, &g->nodes[i]));
            }
        graph_log(g, FUSION_SPLIT, &conv, NULL);
        graph_remove_node(g, c);
    }
    graph_sweep(g);
    return true;
}
