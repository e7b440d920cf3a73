// SPDX-License-Identifier: Apache-2.0
/* Slices of a convolution's results become convolutions with some of its outputs, where they would
 * have to be copied otherwise. */
#include "formats/compiler/passes/passes.h"

enum { BLOCK = 16 };

static bool is_slice_of(const graph *g, const graph_node *node, uint32_t value)
{
    return node->kind == GRAPH_SLICE && node->inputs[0] == value &&
           !graph_is_output(g, node->output);
}

/* Whether a slice begins or ends inside a block of channels. */
static bool is_copied(const graph_node *slice, uint32_t channels)
{
    const uint32_t end = slice->slice.first + slice->slice.count;
    return slice->slice.first % BLOCK || (end % BLOCK && end != channels);
}

/* Whether the node is a convolution that only slices read, of which one would be copied. */
static bool splits(const graph *g, const graph_node *node)
{
    bool copied = false;
    uint32_t slices = 0;
    if (node->kind != GRAPH_CONV || node->conv.groups != 1 || node->input_count != 1)
        return false;
    for (uint32_t i = 0; i < g->node_count; i++)
        if (is_slice_of(g, &g->nodes[i], node->output)) {
            slices++;
            copied = copied || is_copied(&g->nodes[i], g->values[node->output].channels);
        }
    return copied && slices == graph_uses(g, node->output);
}

/* The convolution with the outputs that the slice keeps. */
static graph_node part_of(const graph *g, graph_node conv, const graph_node *slice)
{
    const graph_window *w = &conv.conv.window;
    const uint32_t first = slice->slice.first;
    const size_t filter = (size_t)g->values[conv.inputs[0]].channels * w->kernel[0] * w->kernel[1];
    conv.output = slice->output;
    conv.conv.weights += first * filter;
    conv.conv.bias += first;
    conv.conv.weight_scales += conv.conv.weight_scales ? first : 0;
    conv.activation.slopes += conv.activation.slopes ? first : 0;
    return conv;
}

void pass_split(graph *g)
{
    for (uint32_t c = 0; c < g->node_count; c++) {
        const graph_node conv = g->nodes[c];
        if (!splits(g, &conv))
            continue;
        if (g->fusion.off[FUSION_SPLIT]) {
            graph_log(g, FUSION_SPLIT, &conv, FUSION_IS_OFF);
            continue;
        }
        for (uint32_t i = c + 1; i < g->node_count; i++)
            if (is_slice_of(g, &g->nodes[i], conv.output)) {
                g->values[g->nodes[i].output].prequantised = g->values[conv.output].prequantised;
                g->nodes[i] = part_of(g, conv, &g->nodes[i]);
            }
        graph_log(g, FUSION_SPLIT, &conv, NULL);
        graph_remove_node(g, c--);
    }
}
