// SPDX-License-Identifier: Apache-2.0
/* Joins and slices channels of computed maps. */
#include "formats/compiler/lower/lowering.h"

/* What copies channels; NULL: the engine uses them in place, at least most of them if several nodes
 * need the same ones in different places. */
static const char *why_copied(const lowering *l, bool blocks)
{
    return l->g->fusion.off[FUSION_PLACE] ? FUSION_IS_OFF
           : blocks                       ? NULL
                                          : "channels begin or end inside a block of 16";
}

static bool lower_channels(lowering *l, mona_op_kind kind, const graph_node *node, uint32_t first,
                           bool blocks)
{
    mona_file_op op = lower_begin_node(l, kind, node);
    op.channels.first = first;
    op.channels.copy = l->g->fusion.off[FUSION_PLACE];
    graph_log(l->g, FUSION_PLACE, node, why_copied(l, blocks));
    return lower_end(l, &op, node->output);
}

bool lower_slice(lowering *l, const graph_node *node)
{
    const uint32_t first = node->slice.first;
    return lower_channels(
        l, MONA_OP_SLICE, node, first,
        graph_are_blocks(first, node->slice.count, l->g->values[node->inputs[0]].channels));
}

bool lower_concat(lowering *l, const graph_node *node)
{
    const graph_value *values = l->g->values;
    bool blocks = true;
    if (graph_packs(l->g, node))
        return lower_load(l, node, node->output);
    for (uint32_t i = 0, first = 0; i < node->input_count; i++) {
        const uint32_t count = values[node->inputs[i]].channels;
        blocks = blocks && graph_are_blocks(first, count, values[node->output].channels);
        first += count;
    }
    return lower_channels(l, MONA_OP_CONCAT, node, 0, blocks);
}
