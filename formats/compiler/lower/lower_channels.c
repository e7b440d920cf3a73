// SPDX-License-Identifier: Apache-2.0
/* Joins and slices channels of computed maps. */
#include "formats/compiler/lower/lowering.h"

/* Why channels have to be copied; NULL: the engine uses them in place, at least most of them if
 * several nodes need the same ones in different places. */
static const char *why_copied(const graph *g, const graph_node *node)
{
    static const char *const inside = "channels begin or end inside a block of 16";
    const graph_value *out = &g->values[node->output];
    if (g->fusion.off[FUSION_PLACE])
        return FUSION_IS_OFF;
    if (node->kind == GRAPH_SLICE)
        return graph_are_blocks(node->slice.first, node->slice.count,
                                g->values[node->inputs[0]].channels)
                   ? NULL
                   : inside;
    for (uint32_t i = 0, first = 0; i < node->input_count; i++) {
        const uint32_t count = g->values[node->inputs[i]].channels;
        if (!graph_are_blocks(first, count, out->channels))
            return inside;
        first += count;
    }
    return NULL;
}

void lower_channels(lowering *l, const graph_node *node)
{
    const bool slice = node->kind == GRAPH_SLICE;
    const char *copied = why_copied(l->g, node);
    mona_file_op op = lower_begin_node(l, slice ? MONA_OP_SLICE : MONA_OP_CONCAT, node);
    op.channels.first = slice ? node->slice.first : 0;
    op.channels.copy = l->g->fusion.off[FUSION_PLACE];
    graph_log(l->g, FUSION_PLACE, node, copied);
    lower_end(l, &op, node->output);
}
