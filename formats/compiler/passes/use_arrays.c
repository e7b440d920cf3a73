// SPDX-License-Identifier: Apache-2.0
/* Rearranges pixels of computed maps on arrays if no operator on maps can. */
#include "formats/compiler/passes/passes.h"

#include <stdlib.h>

#include "formats/compiler/import/array.h"
#include "formats/compiler/lower/lower.h"

/* Whether the node computes a tensor for which the engine has no operator on maps. */
static bool lacks_operator(const graph *g, const graph_node *node)
{
    if (kind_of(node)->packs == PACKS_BLOCKS)
        return !graph_is_loaded(g, node->output);
    return node->kind == GRAPH_DEPTH_TO_SPACE &&
           (node->depth.depth_first || node->depth.block > GRAPH_MAX_BLOCK);
}

/* ---- the same on arrays ------------------------------------------------------------------- */

/* The source of element (c, y, x) in the result of depth-to-space or its inverse. `deep` has the
 * positions of a block as channels, in one of two orders. */
static size_t rearranged(const graph_node *node, const graph_value *from, const graph_value *to,
                         size_t c, size_t y, size_t x)
{
    const size_t b = node->depth.block, area = b * b;
    if (node->kind == GRAPH_DEPTH_TO_SPACE) {
        const size_t place = y % b * b + x % b;
        const size_t channel =
            node->depth.depth_first ? place * to->channels + c : c * area + place;
        return (channel * from->height + y / b) * from->width + x / b;
    }
    const size_t place = node->depth.depth_first ? c / from->channels : c % area;
    const size_t channel = node->depth.depth_first ? c % from->channels : c / area;
    return (channel * from->height + y * b + place / b) * from->width + x * b + place % b;
}

static array pick(importer *im, const graph_node *node)
{
    const graph_value from = im->g->values[node->inputs[0]], to = im->g->values[node->output];
    const int64_t dims[3] = {to.channels, to.height, to.width};
    const size_t count = (size_t)to.channels * to.height * to.width;
    uint32_t *places = array_places(im, count), *at = places;
    for (size_t c = 0; places && c < to.channels; c++)
        for (size_t y = 0; y < to.height; y++)
            for (size_t x = 0; x < to.width; x++)
                *at++ = (uint32_t)rearranged(node, &from, &to, c, y, x) + 1;
    const array source = array_of_map(im, node->inputs[0]);
    const array out = array_pick(im, source, 3, dims, places, 0);
    /* The same numbers in the same order need a copy, which has its own dimensions. */
    return array_ok(out) && out.value == source.value ? array_copy(im, MONA_F16, out.value) : out;
}

/* Adds the nodes that replace it. */
static bool add_arrays(graph *g, const graph_node *node, format_error *error)
{
    const onnx_node named = {.name = node->name, .op_type = node->op_type};
    importer im = {.g = g,
                   .node = &named,
                   .error = error,
                   .why_array = "rearranges blocks as no operator on maps does"};
    return array_become_map(&im, pick(&im, node), node->output);
}

bool pass_use_arrays(graph *g, format_error *error)
{
    const uint32_t count = g->node_count;
    bool *needed = calloc(g->value_count + 1, sizeof *needed), ok = needed;
    bool *replaced = calloc(count + 1, sizeof *replaced);
    graph_node *nodes = malloc((count + 1) * sizeof *nodes);
    ok = ok && replaced && nodes ? true : format_fail(error, "out of memory");
    if (ok)
        lower_mark_needed(g, needed);
    for (uint32_t i = 0; ok && i < count; i++) {
        nodes[i] = g->nodes[i];
        const graph_value *v = &g->values[nodes[i].output];
        replaced[i] = needed[nodes[i].output] && v->height && lacks_operator(g, &nodes[i]);
    }
    g->node_count = ok ? 0 : g->node_count;
    for (uint32_t i = 0; ok && i < count; i++) {
        graph_node *made = replaced[i] ? NULL : graph_add_node(g);
        if (made)
            *made = nodes[i];
        ok = made || (replaced[i] ? add_arrays(g, &nodes[i], error)
                                  : graph_fail(&nodes[i], error, "is one too many"));
    }
    graph_count_uses(g);
    graph_sweep(g);
    free(nodes);
    free(replaced);
    free(needed);
    return ok;
}
