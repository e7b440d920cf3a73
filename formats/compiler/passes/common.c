// SPDX-License-Identifier: Apache-2.0
/* Common subexpressions. Exporters write the same operator several times, and operators that are
 * imported as several nodes add more. */
#include "formats/compiler/passes/passes.h"

#include <stdlib.h>
#include <string.h>

#include "formats/compiler/quantize/weights.h"

static bool same_numbers(const float *a, const float *b, size_t count)
{
    return a == b || (a && b && !memcmp(a, b, count * sizeof *a));
}

static bool same_activation(const graph_activation *a, const graph_activation *b, uint32_t channels)
{
    return a->kind == b->kind && a->low == b->low && a->high == b->high && a->alpha == b->alpha &&
           a->lookup == b->lookup && same_numbers(a->slopes, b->slopes, channels);
}

bool same_conv(const graph *g, const graph_node *a, const graph_node *b)
{
    const graph_window *w = &a->conv.window;
    const uint32_t outputs = g->values[a->output].channels;
    return a->conv.groups == b->conv.groups && !memcmp(w, &b->conv.window, sizeof *w) &&
           outputs == g->values[b->output].channels &&
           same_numbers(a->conv.bias, b->conv.bias, outputs) &&
           same_numbers(a->conv.weight_scales, b->conv.weight_scales, outputs) &&
           same_numbers(a->conv.weights, b->conv.weights, outputs * weights_filter(g, a));
}

bool same_affine(const graph *g, const graph_node *a, const graph_node *b)
{
    const uint32_t channels = g->values[a->output].channels;
    return same_numbers(a->affine.scale, b->affine.scale, channels) &&
           same_numbers(a->affine.shift, b->affine.shift, channels);
}

bool same_normalise(const graph *g, const graph_node *a, const graph_node *b)
{
    const uint32_t channels = g->values[a->output].channels;
    return a->normalise.epsilon == b->normalise.epsilon &&
           same_numbers(a->normalise.gain, b->normalise.gain, channels) &&
           same_numbers(a->normalise.shift, b->normalise.shift, channels);
}

bool same_quantize(const graph *g, const graph_node *a, const graph_node *b)
{
    (void)g;
    return graph_same_format(a->quantize, b->quantize);
}

/* For kinds that have no parameters of their own. */
bool same_always(const graph *g, const graph_node *a, const graph_node *b)
{
    (void)g, (void)a, (void)b;
    return true;
}

/* Of numbers alone; nodes begin as zeros, padding and all. */
#define SAME_NUMBERS(kind)                                                                         \
    bool same_##kind(const graph *g, const graph_node *a, const graph_node *b)                     \
    {                                                                                              \
        (void)g;                                                                                   \
        return !memcmp(&a->kind, &b->kind, sizeof a->kind);                                        \
    }
SAME_NUMBERS(attention)
SAME_NUMBERS(slice)
SAME_NUMBERS(depth)
SAME_NUMBERS(resize)
SAME_NUMBERS(pool)
SAME_NUMBERS(pad)

static bool same_node(const graph *g, const graph_node *a, const graph_node *b)
{
    const uint32_t channels = g->values[a->output].channels;
    return a->kind == b->kind && a->input_count == b->input_count &&
           !memcmp(a->inputs, b->inputs, a->input_count * sizeof *a->inputs) &&
           channels == g->values[b->output].channels &&
           graph_same_format(g->values[a->output].prequantised,
                             g->values[b->output].prequantised) &&
           same_activation(&a->activation, &b->activation, channels) &&
           same_activation(&a->after_add, &b->after_add, channels) && kind_of(a)->same &&
           kind_of(a)->same(g, a, b);
}

/* NULL: node i is no longer needed. */
static const char *merge(graph *g, uint32_t i, uint32_t first)
{
    const uint32_t value = g->nodes[i].output;
    if (g->fusion.off[FUSION_COMMON])
        return FUSION_IS_OFF;
    if (graph_is_output(g, value))
        return "its result is an output of the model";
    graph_read_instead(g, value, g->nodes[first].output);
    return NULL;
}

/* Nodes that were kept, in lists of those with the same hash. They keep their places: what is
 * removed comes after them. */
typedef struct kept {
    uint32_t buckets, *first, *next; /* places + 1; 0: none */
} kept;

static uint32_t mix(uint32_t hash, uint32_t number)
{
    return (hash ^ number) * 0x9e3779b1u ^ hash >> 15;
}

static uint32_t mix_numbers(uint32_t hash, const float *numbers, size_t count)
{
    enum { ENOUGH = 16 }; /* to tell most apart */
    for (size_t i = 0; numbers && i < count && i < ENOUGH; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        hash = mix(hash, bits);
    }
    return hash;
}

/* Nodes that are the same have the same. */
static uint32_t hash_of(const graph *g, graph_node *node)
{
    const uint32_t channels = g->values[node->output].channels;
    uint32_t hash = mix(node->kind, channels);
    for (uint32_t k = 0; k < node->input_count; k++)
        hash = mix(hash, node->inputs[k]);
    hash = mix_numbers(hash, node->activation.slopes, channels);
    if (kind_has_filter(node))
        hash = mix_numbers(hash, node->conv.weights, channels * weights_filter(g, node));
    if (kind_of(node)->gains) {
        float **gains[2];
        kind_of(node)->gains(node, gains);
        hash = mix_numbers(mix_numbers(hash, *gains[0], channels), *gains[1], channels);
    }
    return hash;
}

/* The first node that is the same as node i; UINT32_MAX: there is none. *list: where it belongs. */
static uint32_t first_like(const graph *g, const kept *k, uint32_t i, uint32_t **list)
{
    uint32_t found = UINT32_MAX;
    *list = &k->first[hash_of(g, &g->nodes[i]) % k->buckets];
    for (uint32_t at = **list; at; at = k->next[at - 1])
        if (same_node(g, &g->nodes[at - 1], &g->nodes[i]))
            found = at - 1;
    return found;
}

bool pass_merge_common(graph *g, format_error *error)
{
    const uint32_t room = g->node_count + 1;
    kept k = {room, calloc(room, sizeof *k.first), calloc(room, sizeof *k.next)};
    const bool ok = k.first && k.next ? true : format_fail(error, "out of memory");
    for (uint32_t i = 0, *list; ok && i < g->node_count; i++) {
        const uint32_t first = first_like(g, &k, i, &list);
        const char *why_not = first == UINT32_MAX ? NULL : merge(g, i, first);
        if (first != UINT32_MAX)
            graph_log(g, FUSION_COMMON, &g->nodes[i], why_not);
        if (first != UINT32_MAX && !why_not) {
            graph_remove_node(g, i);
        } else {
            k.next[i] = *list;
            *list = i + 1;
        }
    }
    graph_sweep(g);
    free(k.first);
    free(k.next);
    return ok;
}
