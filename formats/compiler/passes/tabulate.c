// SPDX-License-Identifier: Apache-2.0
/* Functions in quantised models. Between the QuantizeLinear of a number and those of what depends
 * on nothing else, such as x * sigmoid(x) whose two factors are rounded to 8 bits each, there are
 * 256 cases: they become a table. */
#include "formats/compiler/passes/passes.h"

#include <math.h>
#include <stdlib.h>

#include "formats/compiler/quantize/quantize.h"

enum { NOTHING = UINT32_MAX };

/* What is known of a value. */
typedef struct dependence {
    uint32_t source; /* the QUANTIZE of the only number it depends on; NOTHING: of others, too */
    bool needed;     /* by what does not depend on that alone */
    double number;   /* in the case at hand */
} dependence;

/* The number that a node makes of numbers. */
static double number_at(const graph *g, const graph_node *node, const dependence *d)
{
    double x[GRAPH_MAX_INPUTS];
    for (uint32_t k = 0; k < node->input_count; k++)
        x[k] = d[node->inputs[k]].number;
    return kind_of(node)->at(g, node, x);
}

/* The same in all channels? */
static bool is_uniform(const float *numbers, uint32_t count)
{
    for (uint32_t c = 1; c < count; c++)
        if (numbers[c] != numbers[0])
            return false;
    return true;
}

double at_affine(const graph *g, const graph_node *node, const double *x)
{
    const uint32_t channels = g->values[node->output].channels;
    const bool uniform =
        is_uniform(node->affine.scale, channels) && is_uniform(node->affine.shift, channels);
    return uniform ? x[0] * (double)node->affine.scale[0] + (double)node->affine.shift[0] : NAN;
}

double at_quantize(const graph *g, const graph_node *node, const double *x)
{
    (void)g;
    const value_format f = node->quantize;
    return (double)f.scale * (table_stored(f, x[0]) - f.zero);
}

double at_activation(const graph *g, const graph_node *node, const double *x)
{
    const graph_activation *a = &node->activation;
    const bool prelu = a->kind == MONA_ACT_PRELU;
    if (a->kind == MONA_ACT_CLIP)
        return fmin(fmax(x[0], (double)a->low), (double)a->high);
    if (a->kind == MONA_ACT_RELU)
        return fmax(x[0], 0);
    if (prelu && !is_uniform(a->slopes, g->values[node->output].channels))
        return NAN;
    return prelu ? fmax(x[0], 0) + (double)a->slopes[0] * fmin(x[0], 0) : table_function(a, x[0]);
}

double at_add(const graph *g, const graph_node *node, const double *x)
{
    (void)g, (void)node;
    return x[0] + x[1];
}

double at_mul(const graph *g, const graph_node *node, const double *x)
{
    (void)g, (void)node;
    return x[0] * x[1];
}

/* Finds what depends on one number alone. */
static void find_sources(const graph *g, dependence *d)
{
    for (uint32_t v = 0; v < g->value_count; v++)
        d[v] = (dependence){.source = NOTHING};
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        uint32_t source = kind_of(node)->at ? d[node->inputs[0]].source : NOTHING;
        for (uint32_t k = 1; k < node->input_count; k++)
            source = d[node->inputs[k]].source == source ? source : NOTHING;
        if (source == NOTHING && node->kind == GRAPH_QUANTIZE)
            source = i;
        d[node->output].source = source;
    }
}

/* Finds which of these are needed. */
static void find_needs(const graph *g, dependence *d)
{
    for (uint32_t k = 0; k < g->output_count; k++)
        d[g->outputs[k]].needed = true;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const graph_node *node = &g->nodes[i];
        const dependence *made = &d[node->output];
        for (uint32_t k = 0; k < node->input_count; k++) {
            dependence *read = &d[node->inputs[k]];
            const bool passes = made->needed && node->kind != GRAPH_QUANTIZE;
            read->needed = read->needed || made->source != read->source || passes;
        }
    }
}

/* Computes the results of a QUANTIZE for all numbers of its source. False: not a number, such as of
 * channels that differ. */
static bool fill(const graph *g, uint32_t end, dependence *d, graph_lookup *lookup)
{
    const uint32_t source = d[g->nodes[end].output].source;
    const value_format from = g->nodes[source].quantize;
    *lookup = (graph_lookup){.scale = from.scale, .zero = from.type == MONA_S8 ? 128 : from.zero};
    for (int q = 0; q < 256; q++) {
        d[g->nodes[source].output].number = (double)from.scale * (q - lookup->zero);
        for (uint32_t i = source + 1; i < end; i++)
            if (d[g->nodes[i].output].source == source)
                d[g->nodes[i].output].number = number_at(g, &g->nodes[i], d);
        const double x = d[g->nodes[end].inputs[0]].number;
        if (isnan(x))
            return false;
        lookup->entries[q] = (uint8_t)table_stored(g->nodes[end].quantize, x);
    }
    return true;
}

/* Whether only node i, which quantises it, reads a convolution's result, if need be shifted by a
 * zero point: its own rounding is then that of the table. */
static bool follows_conv(const graph *g, uint32_t i)
{
    uint32_t p = graph_private_producer(g, i, 0);
    if (p != NOTHING && kind_of(&g->nodes[p])->gains)
        p = graph_private_producer(g, p, 0);
    return p != NOTHING && graph_is_plain_conv(&g->nodes[p]);
}

/* Makes QUANTIZE `end` a table. alone: nothing else needs its source. */
static void look_up(graph *g, uint32_t end, uint32_t source, bool alone, const graph_lookup *lookup)
{
    graph_node node = g->nodes[end];
    const value_format made = node.quantize;
    node.kind = GRAPH_ACTIVATION;
    node.activation = (graph_activation){.kind = MONA_ACT_TABLE, .lookup = lookup};
    node.inputs[0] =
        alone && follows_conv(g, source) ? g->nodes[source].inputs[0] : g->nodes[source].output;
    graph_replace_node(g, end, node);
    g->values[node.output].prequantised = made;
}

/* Whether another table begins at this source, or it is needed itself. */
static bool is_shared(const graph *g, const dependence *d, uint32_t source, uint32_t end)
{
    bool shared = d[g->nodes[source].output].needed;
    for (uint32_t i = source + 1; i < g->node_count && !shared; i++)
        shared = i != end && d[g->nodes[i].output].source == source &&
                 d[g->nodes[i].output].needed && g->nodes[i].kind == GRAPH_QUANTIZE;
    return shared;
}

/* Whether a table leaves its numbers as they are. */
static bool changes_nothing(value_format from, value_format to, const graph_lookup *lookup)
{
    bool same = graph_same_format(from, to);
    for (int q = 0; q < 256 && same; q++)
        same = lookup->entries[q] == (uint8_t)(from.type == MONA_S8 ? q - 128 : q);
    return same;
}

static bool tabulate(graph *g, uint32_t end, dependence *d)
{
    const uint32_t source = d[g->nodes[end].output].source;
    graph_lookup *lookup = graph_alloc(g, 1, sizeof *lookup);
    if (!lookup)
        return false;
    const bool filled = fill(g, end, d, lookup);
    graph_log(g, FUSION_TABLES, &g->nodes[end],
              filled ? NULL : "channels differ, or there is no number for some of the 256");
    if (filled && !graph_is_output(g, g->nodes[end].output) &&
        changes_nothing(g->nodes[source].quantize, g->nodes[end].quantize, lookup))
        graph_read_instead(g, g->nodes[end].output, g->nodes[source].output);
    else if (filled)
        look_up(g, end, source, !is_shared(g, d, source, end), lookup);
    return true;
}

/* Removes what nothing reads any more. */
static void remove_unused(graph *g, const dependence *d)
{
    for (uint32_t i = g->node_count; i-- > 0;) {
        const uint32_t made = g->nodes[i].output;
        if (d[made].source != NOTHING && !g->values[made].uses)
            graph_remove_node(g, i);
    }
}

bool pass_tabulate(graph *g, format_error *error)
{
    dependence *d = calloc(g->value_count + 1, sizeof *d);
    bool ok = d;
    if (g->fusion.off[FUSION_TABLES] || !ok) {
        free(d);
        return ok || format_fail(error, "out of memory");
    }
    find_sources(g, d);
    find_needs(g, d);
    for (uint32_t i = 0; i < g->node_count && ok; i++) {
        const dependence made = d[g->nodes[i].output];
        if (g->nodes[i].kind == GRAPH_QUANTIZE && made.needed && made.source != i)
            ok = tabulate(g, i, d);
    }
    if (ok)
        remove_unused(g, d);
    free(d);
    return (ok && graph_sweep(g)) || format_fail(error, "out of memory");
}
