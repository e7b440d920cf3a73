// SPDX-License-Identifier: Apache-2.0
/* Combines constants that are added around a sum:
 *
 *   (a + p) + (b + q) + r = (a + (p + q + r)) + b
 *
 * One multiply-add remains. It is folded into the convolution that computes a, or becomes a 1x1
 * convolution that takes the sum as its residual. */
#include "formats/compiler/passes/passes.h"

static bool only_shifts(const graph *g, uint32_t i)
{
    const graph_node *node = i == UINT32_MAX ? NULL : &g->nodes[i];
    bool only = node && node->kind == GRAPH_AFFINE;
    for (uint32_t c = 0; only && c < g->values[node->output].channels; c++)
        only = node->affine.scale[c] == 1;
    return only;
}

/* Removes node i and adds its shift to those of the sum; a single channel counts for all. */
static void take_shift(graph *g, uint32_t i, float *shift, uint32_t channels)
{
    const graph_node *node = &g->nodes[i];
    const bool one = g->values[node->output].channels == 1;
    for (uint32_t c = 0; c < channels; c++)
        shift[c] += node->affine.shift[one ? 0 : c];
    graph_log(g, FUSION_AFFINE, node, NULL);
    graph_remove_node(g, i);
}

/* The operand of sum i that gets the shift: the first one with all channels, preferably one from a
 * convolution. */
static uint32_t shifted_operand(const graph *g, uint32_t i)
{
    const graph_node *sum = &g->nodes[i];
    uint32_t best = 2;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t p = graph_private_producer(g, i, k);
        const bool conv = p != UINT32_MAX && kind_has_filter(&g->nodes[p]);
        if (g->values[sum->inputs[k]].channels == g->values[sum->output].channels &&
            (best == 2 || conv))
            best = k;
    }
    return best;
}

/* Adds the shift before sum i, to its operand k. */
static bool add_shift(graph *g, uint32_t i, uint32_t k, float *scale, float *shift)
{
    const graph_node sum = g->nodes[i];
    const graph_node node = {.kind = GRAPH_AFFINE,
                             .name = sum.name,
                             .op_type = sum.op_type,
                             .input_count = 1,
                             .affine = {scale, shift}};
    const uint32_t made = graph_insert_node(g, i, node, sum.inputs[k]);
    if (made == UINT32_MAX)
        return false;
    graph_set_input(g, i + 1, k, made);
    g->values[made].prequantised =
        (value_format){MONA_F16, 1, 0}; /* an 8-bit format would round once more */
    return true;
}

/* Handles sum *i, which may move. */
static bool gather(graph *g, uint32_t *i)
{
    const uint32_t channels = g->values[g->nodes[*i].output].channels;
    const uint32_t after = graph_only_reader(g, g->nodes[*i].output);
    const bool later = only_shifts(g, after);
    const bool both = only_shifts(g, graph_private_producer(g, *i, 0)) &&
                      only_shifts(g, graph_private_producer(g, *i, 1));
    if (!later && !both)
        return true;
    float *scale = graph_fill(g, channels, 1), *shift = graph_fill(g, channels, 0);
    if (!scale || !shift)
        return false;
    if (later) {
        graph_set_result(g, *i, g->nodes[after].output);
        take_shift(g, after, shift, channels);
    }
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t p = graph_private_producer(g, *i, k);
        if (!only_shifts(g, p))
            continue;
        graph_set_input(g, *i, k, g->nodes[p].inputs[0]);
        take_shift(g, p, shift, channels);
    }
    const bool ok = add_shift(g, *i, shifted_operand(g, *i), scale, shift);
    ++*i;
    return ok;
}

bool pass_gather_shifts(graph *g, format_error *error)
{
    for (uint32_t i = 0; i < g->node_count && !g->fusion.off[FUSION_AFFINE]; i++)
        if (g->nodes[i].kind == GRAPH_ADD && !gather(g, &i))
            return format_fail(error, "out of memory");
    graph_sweep(g);
    return true;
}
