// SPDX-License-Identifier: Apache-2.0
/* Quantised models: turns QUANTIZE nodes into formats of values.
 *
 * Rounding may be swapped with taking a maximum and with moving numbers. So a QUANTIZE moves up
 * through nodes that only move numbers, to the node that computes them, and becomes the format in
 * which that node stores its result. The epilogue before it is computed in fp16 as always. */
#include "formats/compiler/passes/passes.h"

#include "formats/compiler/quantize/quantize.h"
#include "formats/compiler/quantize/weights.h"

static bool no_memory(format_error *error)
{
    return format_fail(error, "out of memory");
}

/* Turns the node into one that passes its input on, in its 8-bit format if it has one. */
static bool become_copy(graph *g, graph_node *node)
{
    const bool ok = graph_become_copy(g, node);
    node->conv.weight_scales = ok ? node->conv.weights : NULL;
    return ok;
}

/* ---- upwards ------------------------------------------------------------------------------ */

static bool moves(const graph *g, const graph_node *node)
{
    return kind_of(node)->rounds == ROUNDS_LIFTS && !graph_packs(g, node);
}

/* Moves QUANTIZE i from the result of node p to its inputs. */
static bool lift(graph *g, uint32_t i, uint32_t p)
{
    const graph_node quantize = g->nodes[i];
    graph_set_result(g, p, quantize.output);
    graph_remove_node(g, i);
    for (uint32_t k = 0; k < g->nodes[p].input_count; k++, p++) {
        const uint32_t made = graph_insert_node(g, p, quantize, g->nodes[p].inputs[k]);
        if (made == UINT32_MAX)
            return false;
        graph_set_input(g, p + 1, k, made);
    }
    return true;
}

static bool lift_all(graph *g)
{
    if (!graph_spread(g))
        return false;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const uint32_t p =
            graph_quantises(&g->nodes[i]) ? graph_private_producer(g, i, 0) : UINT32_MAX;
        if (p == UINT32_MAX || !moves(g, &g->nodes[p]))
            continue;
        const uint32_t count = g->nodes[p].input_count;
        if (count == 1 && graph_private_producer(g, p, 0) == UINT32_MAX)
            continue; /* other readers need its source as it is */
        uint32_t before = i - 1;
        while (graph_is_gone(&g->nodes[before]))
            before--;
        const uint32_t value = g->nodes[before == p ? i : before].output;
        if (!lift(g, i, p))
            return false;
        i = g->values[value].place + 1; /* check the nodes before it again */
    }
    return true;
}

/* ---- into formats ------------------------------------------------------------------------- */

/* Makes node p store its value in this format, as the result of node i. */
static void store_so(graph *g, uint32_t i, uint32_t p)
{
    const graph_node quantize = g->nodes[i];
    graph_set_result(g, p, quantize.output);
    g->values[quantize.output].prequantised = quantize.quantize;
    graph_remove_node(g, i);
}

/* Whether planes of an input could have this format. */
static bool could_load(const graph *g, uint32_t i)
{
    const graph_node *quantize = &g->nodes[i];
    const uint32_t x = quantize->inputs[0];
    return graph_is_input(g, x) && graph_only_reader(g, x) == i &&
           !graph_is_output(g, quantize->output);
}

/* Whether they take it. */
static bool load_so(graph *g, const compiler_options *o, uint32_t i)
{
    const graph_node quantize = g->nodes[i];
    const uint32_t x = quantize.inputs[0];
    if (!could_load(g, i) || o->input_type != quantize.quantize.type || quantize.quantize.zero)
        return false;
    g->values[x].prequantised = quantize.quantize;
    graph_read_instead(g, quantize.output, x);
    graph_remove_node(g, i);
    return true;
}

/* Whether the node makes new numbers of those whose format it has, which only the model rounds. */
static bool blends(const graph *g, const graph_node *node)
{
    return kind_of(node)->format == FORMAT_SOURCE && kind_of(node)->rounds == ROUNDS_KEEPS &&
           node->resize.mode != MONA_RESIZE_NEAREST && !graph_is_prequantised(g, node->output);
}

/* The last such node on the way from the root to a value, or UINT32_MAX. */
static uint32_t blender(const graph *g, uint32_t value)
{
    for (const uint32_t root = quantize_root(g, value); value != root;) {
        const uint32_t p = graph_producer(g, value);
        if (blends(g, &g->nodes[p]))
            return p;
        value = g->nodes[p].inputs[0];
    }
    return UINT32_MAX;
}

/* Whether the value has this scale already, or new numbers have it for this QUANTIZE alone. */
static bool is_done(graph *g, uint32_t i)
{
    const graph_node quantize = g->nodes[i];
    const uint32_t x = quantize.inputs[0], p = blender(g, x);
    if (!graph_same_format(g->values[quantize_root(g, x)].prequantised, quantize.quantize) ||
        graph_is_output(g, quantize.output))
        return false;
    if (p != UINT32_MAX) {
        if (p != graph_private_producer(g, i, 0) || blender(g, g->nodes[p].inputs[0]) != UINT32_MAX)
            return false;
        g->values[x].prequantised = quantize.quantize;
    }
    graph_read_instead(g, quantize.output, quantize.inputs[0]);
    graph_remove_node(g, i);
    return true;
}

/* NULL: QUANTIZE i was absorbed; else the reason why not. */
static const char *absorb(graph *g, const compiler_options *o, uint32_t i)
{
    const uint32_t p = graph_private_producer(g, i, 0);
    if (g->fusion.off[FUSION_QUANTISED])
        return FUSION_IS_OFF;
    if (load_so(g, o, i) || is_done(g, i))
        return NULL;
    if (could_load(g, i))
        return g->nodes[i].quantize.type == MONA_U8
                   ? "its input is of another type; --input-type u8 takes samples of its scale"
                   : "its input is of another type; --input-type s8 takes samples of its scale";
    if (p == UINT32_MAX || kind_of(&g->nodes[p])->rounds != ROUNDS_STORES)
        return "its input is not computed by an operator that only it reads";
    if (g->values[g->nodes[p].output].prequantised.scale > 0)
        return "its input has a format already";
    if (g->nodes[i].quantize.zero && !quantize_makes_zero(&g->nodes[p]))
        return "the operator before it cannot store a zero point";
    store_so(g, i, p);
    return NULL;
}

bool pass_absorb_quantize(graph *g, const compiler_options *o, format_error *error)
{
    if (!g->fusion.off[FUSION_QUANTISED] && !lift_all(g))
        return no_memory(error);
    for (uint32_t i = 0; i < g->node_count; i++) {
        const graph_node node = g->nodes[i];
        if (!graph_quantises(&node))
            continue;
        const char *why_not = absorb(g, o, i);
        if (!why_not)
            continue; /* lowering logs what it became */
        graph_log(g, FUSION_QUANTISED, &node, why_not);
        g->values[node.output].prequantised = node.quantize;
        if (!become_copy(g, &g->nodes[i]))
            return no_memory(error);
    }
    return graph_sweep(g) || no_memory(error);
}

/* ---- copies in F16 ------------------------------------------------------------------------ */

static bool is_prequantised(const graph *g, uint32_t value)
{
    return graph_is_prequantised(g, quantize_root(g, value));
}

/* Makes an F16 copy of value x before node i. UINT32_MAX: out of memory. */
static uint32_t copy_before(graph *g, uint32_t i, uint32_t x, const char *name)
{
    const graph_node copy = {.name = name, .op_type = "DequantizeLinear", .input_count = 1};
    const uint32_t made = graph_insert_node(g, i, copy, x);
    if (made == UINT32_MAX)
        return UINT32_MAX;
    g->values[made].prequantised = (value_format){MONA_F16, 1, 0};
    return become_copy(g, &g->nodes[i]) ? made : UINT32_MAX;
}

/* Whether 8 bits hold the weights. They do if the model quantised them, or if there is one number
 * per channel, whose scale is free. A weight of -128 is stored as -127, which changes its sum by up
 * to one largest input: together these may change the result by half a step. */
static bool fits_8_bits(const graph *g, const graph_node *node)
{
    const size_t filter = weights_filter(g, node);
    const value_format in = g->values[quantize_root(g, node->inputs[0])].prequantised;
    const value_format out = g->values[quantize_root(g, node->output)].prequantised;
    if (filter == 1)
        return true;
    for (uint32_t o = 0; o < g->values[node->output].channels && node->conv.weight_scales; o++) {
        const double scale = (double)node->conv.weight_scales[o];
        const size_t clamped = weights_clamped(g, node, o);
        const double lost = (double)clamped * 255 * (double)in.scale * scale;
        if (weights_largest(node->conv.weights + o * filter, filter) > (WEIGHT_MAX + 1.5) * scale ||
            (clamped && !(lost <= (double)out.scale / 2)))
            return false;
    }
    return node->conv.weight_scales && filter <= WEIGHTS_MAX;
}

/* Whether the node joins computed maps. */
static bool joins(const graph *g, const graph_node *node)
{
    return kind_of(node)->format == FORMAT_JOINED && !graph_packs(g, node);
}

/* The result of a concat has one format: that of the model, if all parts have it. */
static bool parts_differ(const graph *g, const graph_node *concat)
{
    const value_format first = g->values[quantize_root(g, concat->inputs[0])].prequantised;
    for (uint32_t k = 0; k < concat->input_count; k++)
        if (!is_prequantised(g, concat->inputs[k]) ||
            !graph_same_format(first, g->values[quantize_root(g, concat->inputs[k])].prequantised))
            return true;
    return false;
}

/* Whether the node reads its input k in F16, although the model gives it 8 bits. */
static bool needs_half(const graph *g, const graph_node *node, uint32_t k)
{
    if (!is_prequantised(g, node->inputs[k]))
        return false;
    const kind_format format = kind_of(node)->format;
    const uint8_t zero = g->values[quantize_root(g, node->inputs[k])].prequantised.zero;
    return format == FORMAT_CONVERTED || blends(g, node) ||
           (joins(g, node) && parts_differ(g, node)) ||
           (zero && !joins(g, node) && !quantize_takes_zero(g, node, k)) ||
           (kind_has_filter(node) && k == 0 &&
            (g->values[quantize_root(g, node->inputs[0])].whole || !fits_8_bits(g, node)));
}

/* Notes that the result of a concat has the model's format; its readers follow. */
static void note_format(graph *g, const graph_node *node)
{
    if (joins(g, node) && !parts_differ(g, node))
        g->values[node->output].prequantised =
            g->values[quantize_root(g, node->inputs[0])].prequantised;
}

static bool widen_inputs(graph *g, uint32_t *i)
{
    bool half[GRAPH_MAX_INPUTS];
    for (uint32_t k = 0; k < g->nodes[*i].input_count; k++)
        half[k] = needs_half(g, &g->nodes[*i], k);
    for (uint32_t k = 0; k < g->nodes[*i].input_count; k++) {
        if (!half[k])
            continue;
        const uint32_t made = copy_before(g, *i, g->nodes[*i].inputs[k], g->nodes[*i].name);
        if (made == UINT32_MAX)
            return false;
        graph_set_input(g, ++*i, k, made);
    }
    return true;
}

/* Widens an output that is stored in another type than that in which the model computes it. Nodes
 * on the way that move numbers then move those of the copy. */
static bool widen_output(graph *g, const compiler_options *o, uint32_t output)
{
    uint32_t value = g->outputs[output], before = UINT32_MAX;
    const value_format format = g->values[quantize_root(g, value)].prequantised;
    if (g->values[value].is_array || !is_prequantised(g, value) ||
        (o->output_type == format.type && !format.zero))
        return true;
    for (uint32_t p; (p = graph_producer(g, value)) != UINT32_MAX && g->values[value].uses == 1;) {
        const kind_row *row = kind_of(&g->nodes[p]);
        if (row->format != FORMAT_SOURCE || row->rounds == ROUNDS_KEEPS)
            break;
        before = p;
        value = g->nodes[p].inputs[0];
    }
    const uint32_t at = before == UINT32_MAX ? g->node_count : before;
    const uint32_t made = copy_before(g, at, value, g->values[value].name);
    if (made == UINT32_MAX)
        return false;
    if (before == UINT32_MAX)
        graph_set_output(g, output, made);
    else
        graph_set_input(g, before + 1, 0, made);
    return true;
}

bool pass_widen(graph *g, const compiler_options *o, format_error *error)
{
    if (!graph_spread(g))
        return no_memory(error);
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!widen_inputs(g, &i))
            return no_memory(error);
        note_format(g, &g->nodes[i]);
    }
    graph_sweep(g);
    for (uint32_t i = 0; i < g->output_count; i++)
        if (!widen_output(g, o, i))
            return no_memory(error);
    return graph_sweep(g) || no_memory(error);
}
