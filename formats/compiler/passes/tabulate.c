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
    uint32_t source;      /* the only QUANTIZE's result that it depends on; NOTHING: others, too */
    uint32_t next, last;  /* of the values with the same source; of a source, the last of them */
    bool needed;          /* by what does not depend on that alone */
    double number;        /* in the case at hand */
    graph_lookup *lookup; /* of a QUANTIZE's result that becomes a table */
} dependence;

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

/* Whether a node makes one number of those at its place, the same in all channels. */
static bool makes_one_number(const graph *g, const graph_node *node)
{
    static const double zeros[GRAPH_MAX_INPUTS];
    return kind_of(node)->at && !isnan(kind_of(node)->at(g, node, zeros));
}

/* Finds what depends on one number alone. */
static void find_sources(const graph *g, dependence *d)
{
    for (uint32_t v = 0; v < g->value_count; v++)
        d[v] = (dependence){.source = NOTHING, .next = NOTHING, .last = v};
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        const uint32_t v = node->output;
        uint32_t source = makes_one_number(g, node) ? d[node->inputs[0]].source : NOTHING;
        for (uint32_t k = 1; k < node->input_count; k++)
            source = d[node->inputs[k]].source == source ? source : NOTHING;
        if (source != NOTHING) {
            d[d[source].last].next = v;
            d[source].last = v;
        } else if (graph_quantises(node))
            source = v;
        d[v].source = source;
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
            read->needed = read->needed || made->source != read->source ||
                           (made->needed && !graph_quantises(node));
        }
    }
}

/* The node that computes a value with a source. */
static const graph_node *maker(const graph *g, uint32_t value)
{
    return &g->nodes[graph_producer(g, value)];
}

/* Computes all that depends on a source, for each of its numbers, in fp32 as ONNX does: otherwise
 * what is half a step there would be rounded as a little more or less. */
static void fill(const graph *g, uint32_t source, dependence *d)
{
    const value_format from = maker(g, source)->quantize;
    const int zero = from.type == MONA_S8 ? 128 : from.zero;
    for (int q = 0; q < 256; q++) {
        d[source].number = (double)(from.scale * (float)(q - zero));
        for (uint32_t v = d[source].next; v != NOTHING; v = d[v].next) {
            const graph_node *node = maker(g, v);
            double x[GRAPH_MAX_INPUTS];
            for (uint32_t k = 0; k < node->input_count; k++)
                x[k] = d[node->inputs[k]].number;
            d[v].number = (double)(float)kind_of(node)->at(g, node, x);
            if (d[v].lookup)
                d[v].lookup->entries[q] = (uint8_t)(int)table_stored(node->quantize, x[0]);
        }
    }
    for (uint32_t v = d[source].next; v != NOTHING; v = d[v].next)
        if (d[v].lookup) {
            d[v].lookup->scale = from.scale;
            d[v].lookup->zero = zero;
        }
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

/* Whether a table leaves its numbers as they are. */
static bool changes_nothing(value_format from, value_format to, const graph_lookup *lookup)
{
    bool same = graph_same_format(from, to);
    for (int q = 0; q < 256 && same; q++)
        same = lookup->entries[q] == (uint8_t)(from.type == MONA_S8 ? q - 128 : q);
    return same;
}

/* Makes the QUANTIZE that computes `end` a table. alone: nothing else needs its source. */
static void look_up(graph *g, uint32_t end, uint32_t source, bool alone, const graph_lookup *lookup)
{
    const uint32_t from = graph_producer(g, source), i = graph_producer(g, end);
    graph_node node = g->nodes[i];
    const value_format made = node.quantize;
    graph_log(g, FUSION_TABLES, &node, NULL);
    if (!graph_is_output(g, end) && changes_nothing(g->nodes[from].quantize, made, lookup)) {
        graph_read_instead(g, end, source);
        return;
    }
    node.kind = GRAPH_ACTIVATION;
    node.activation = (graph_activation){.kind = MONA_ACT_TABLE, .lookup = lookup};
    node.inputs[0] = alone && follows_conv(g, from) ? g->nodes[from].inputs[0] : source;
    graph_replace_node(g, i, node);
    g->values[end].prequantised = made;
}

static bool tabulate(graph *g, uint32_t source, dependence *d)
{
    uint32_t tables = 0;
    for (uint32_t v = d[source].next; v != NOTHING; v = d[v].next) {
        if (!d[v].needed || !graph_quantises(maker(g, v)))
            continue;
        d[v].lookup = graph_alloc(g, 1, sizeof *d[v].lookup);
        if (!d[v].lookup)
            return false;
        tables++;
    }
    if (!tables)
        return true;
    fill(g, source, d);
    for (uint32_t v = d[source].next; v != NOTHING; v = d[v].next)
        if (d[v].lookup)
            look_up(g, v, source, tables == 1 && !d[source].needed, d[v].lookup);
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
    for (uint32_t v = 0; v < g->value_count && ok; v++)
        if (d[v].source == v)
            ok = tabulate(g, v, d);
    if (ok)
        remove_unused(g, d);
    free(d);
    return (ok && graph_sweep(g)) || format_fail(error, "out of memory");
}
