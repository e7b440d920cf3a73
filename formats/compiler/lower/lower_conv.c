// SPDX-License-Identifier: Apache-2.0
/* Convolutions and their epilogues in the numbers of model_format.h; weights.h describes how 8-bit
 * weights are made. */
#include "formats/compiler/lower/lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/element.h"
#include "formats/compiler/quantize/quantize.h"
#include "formats/compiler/quantize/weights.h"

mona_file_op lower_begin(lowering *l, mona_op_kind kind, const char *name)
{
    mona_file_op op;
    memset(&op, 0, sizeof op);
    op.kind = kind;
    op.name = mona_writer_string(&l->w, name);
    op.epilogue = (mona_file_epilogue){
        .residual_scale = HALF_ONE,
        .output_scale = HALF_ONE,
        .slopes = MONA_NONE,
    };
    return op;
}

mona_file_op lower_begin_node(lowering *l, mona_op_kind kind, const graph_node *node)
{
    mona_file_op op = lower_begin(l, kind, node->name);
    op.input_count = node->input_count;
    for (uint32_t i = 0; i < node->input_count; i++)
        op.inputs[i] = l->tensors[node->inputs[i]];
    return op;
}

/* What fills the padding of a value, as stored. */
static void put_padding(const lowering *l, uint32_t value, mona_file_tensor *t)
{
    const graph_value *v = &l->g->values[value];
    for (uint32_t c = 0; v->padding && c < v->channels; c++)
        t->padding[c] = format_is_half(l->formats[value])
                            ? half_from_double((double)v->padding[c])
                            : (uint16_t)nearbyint((double)v->padding[c] / (double)t->scale);
}

bool lower_end(lowering *l, mona_file_op *op, uint32_t value)
{
    const graph_value *v = &l->g->values[value];
    mona_file_tensor t = {
        .name = mona_writer_string(&l->w, v->name),
        .type = (uint8_t)l->formats[value].type,
        .channels = v->channels,
        .scale = l->formats[value].scale,
        .zero = l->formats[value].zero,
    };
    put_padding(l, value, &t);
    l->tensors[value] = mona_writer_tensor(&l->w, &t);
    op->output = l->tensors[value];
    mona_writer_op(&l->w, op);
    return true;
}

/* Adds count fp16 values to the data section and returns their offset. */
static uint32_t add_halves(lowering *l, const float *values, size_t count)
{
    uint16_t *bits = malloc(count * sizeof *bits);
    if (!bits) {
        l->w.failed = true;
        return MONA_NONE;
    }
    for (size_t i = 0; i < count; i++)
        bits[i] = half_from_double((double)values[i]);
    const uint32_t offset = mona_writer_data(&l->w, bits, count * sizeof *bits);
    free(bits);
    return offset;
}

/* A table, or the function by itself; the epilogue's other numbers are set. */
static void lower_function(lowering *l, const graph_node *node, mona_file_epilogue *e)
{
    const value_format out = l->formats[node->output];
    uint8_t table[256];
    if (!table_needed(node, out)) {
        e->alpha = half_from_double((double)node->after_add.alpha);
        return;
    }
    table_fill(&node->after_add, table_find_source(l->g, node, l->formats), out, table);
    e->activation_after_add = MONA_ACT_TABLE;
    e->slopes = mona_writer_data(&l->w, table, sizeof table);
}

/* unit: the real value of 1 in the epilogue's fp16 numbers. */
static void lower_epilogue(lowering *l, const graph_node *node, double unit, double residual_scale,
                           double output_scale, mona_file_epilogue *e)
{
    const graph_activation *clip =
        node->activation.kind == MONA_ACT_CLIP ? &node->activation : &node->after_add;
    e->activation = (uint8_t)node->activation.kind;
    e->activation_after_add = (uint8_t)node->after_add.kind;
    if (clip->kind == MONA_ACT_CLIP) {
        e->clip_min = half_from_double((double)clip->low / unit);
        e->clip_max = half_from_double((double)clip->high / unit);
        /* What U8 saturates anyway needs no clip, with which a layer that adds takes longer. */
        const value_format out = l->formats[node->output];
        const bool last = clip == &node->after_add || node->input_count == 1;
        if (last && output_scale == 1 && out.type == MONA_U8 && !out.zero && e->clip_min == 0 &&
            e->clip_max >= half_from_double(255))
            *(clip == &node->activation ? &e->activation : &e->activation_after_add) =
                MONA_ACT_RELU;
    }
    if (node->activation.kind == MONA_ACT_PRELU)
        e->slopes = add_halves(l, node->activation.slopes, l->g->values[node->output].channels);
    e->residual_scale = half_from_double(residual_scale / unit);
    e->output_scale = half_from_double(output_scale);
    if (mona_is_function(node->after_add.kind))
        lower_function(l, node, e);
}

/* ---- weights ------------------------------------------------------------------------------ */

/* Takes from the biases what the zero of the source adds to every product, in padding, too. */
static void take_zero(int8_weights *q, uint8_t zero)
{
    for (uint32_t o = 0; o < q->outputs; o++)
        for (size_t i = o * q->filter; i < (o + 1) * q->filter; i++)
            q->bias[o] -= zero * q->weights[i];
}

static bool add_int8_weights(lowering *l, const graph_node *node, double unit, mona_file_conv *conv)
{
    int8_weights q;
    if (!weights_quantize(l->g, node, (double)l->formats[node->inputs[0]].scale, unit,
                          l->options->correct_bias, &q, l->error))
        return false;
    take_zero(&q, l->formats[node->inputs[0]].zero);
    conv->weights = mona_writer_data(&l->w, q.weights, q.outputs * q.filter);
    conv->bias = mona_writer_data(&l->w, q.bias, q.outputs * sizeof *q.bias);
    conv->scales = mona_writer_data(&l->w, q.scales, q.outputs * sizeof *q.scales);
    weights_free(&q);
    return true;
}

static bool add_half_weights(lowering *l, const graph_node *node, mona_file_conv *conv)
{
    const uint32_t outputs = l->g->values[node->output].channels;
    const size_t filter = weights_filter(l->g, node);
    const double largest = weights_largest(node->conv.weights, outputs * filter);
    if (largest > 65504)
        return graph_fail(node, l->error, "has weights up to %g, too large for fp16", largest);
    conv->weights = add_halves(l, node->conv.weights, outputs * filter);
    conv->bias = mona_writer_data(&l->w, node->conv.bias, outputs * sizeof(float));
    conv->scales = MONA_NONE;
    return true;
}

/* ---- operators ---------------------------------------------------------------------------- */

/* What fp16 makes of the scale by which the sums of output o become steps, relatively. */
static double scale_kept(const lowering *l, const graph_node *node, uint32_t o, double unit,
                         double step)
{
    const value_format in = l->formats[node->inputs[0]];
    double scale = unit / step;
    if (!format_is_half(in)) {
        if (!weights_keep_scales(l->g, node, o, (double)in.scale, unit))
            return 1;
        scale = (double)in.scale * (double)node->conv.weight_scales[o] / unit;
    }
    const double kept = half_value(half_from_double(scale));
    return kept > 0 && kept <= 65504 ? kept / scale : 1;
}

/* The node with the zero of its sums in its biases, such that it stays one with a scale of fp16. */
static bool shift_bias(lowering *l, graph_node *node, double unit, table_source sums)
{
    const uint32_t outputs = l->g->values[node->output].channels;
    float *bias = malloc(outputs * sizeof *bias);
    if (!bias)
        return format_fail(l->error, "out of memory");
    for (uint32_t o = 0; o < outputs; o++)
        bias[o] = (float)((double)node->conv.bias[o] +
                          (double)sums.scale * sums.zero /
                              scale_kept(l, node, o, unit, (double)sums.scale));
    node->conv.bias = bias;
    return true;
}

static bool add_weights(lowering *l, const graph_node *node, double unit, mona_file_conv *conv)
{
    return format_is_half(l->formats[node->inputs[0]]) ? add_half_weights(l, node, conv)
                                                       : add_int8_weights(l, node, unit, conv);
}

bool lower_conv(lowering *l, const graph_node *node)
{
    const graph_conv *c = &node->conv;
    const value_format out = l->formats[node->output];
    mona_file_op op = lower_begin_node(l, MONA_OP_CONV, node);
    op.conv = (mona_file_conv){
        GRAPH_WINDOW_FIELDS(&c->window),
        .groups = c->groups,
    };
    const double unit = quantize_unit(l->g, node, l->formats);
    const bool table = table_needed(node, out);
    const table_source sums =
        table ? table_find_source(l->g, node, l->formats) : (table_source){out.scale, out.zero};
    graph_node shifted = *node;
    if (sums.zero && !shift_bias(l, &shifted, unit, sums))
        return false;
    const bool ok = add_weights(l, &shifted, unit, &op.conv);
    if (sums.zero)
        free(shifted.conv.bias);
    if (!ok)
        return false;
    const double residual =
        node->input_count == 2 ? (double)l->formats[node->inputs[1]].scale : unit;
    lower_epilogue(l, node, unit, residual, unit / (double)sums.scale, &op.epilogue);
    return lower_end(l, &op, node->output);
}

/* Sums are computed in the output's scale. Products are computed in real values, which keeps both
 * factors in the range of fp16, and converted to the output's scale at the end. */
static bool lower_elementwise(lowering *l, mona_op_kind kind, const graph_node *node, double unit)
{
    const double out = (double)l->formats[node->output].scale;
    mona_file_op op = lower_begin_node(l, kind, node);
    for (uint32_t i = 0; i < 2; i++)
        op.elementwise.scale[i] =
            half_from_double((double)l->formats[node->inputs[i]].scale / unit);
    lower_epilogue(l, node, unit, unit, unit / out, &op.epilogue);
    return lower_end(l, &op, node->output);
}

bool lower_add(lowering *l, const graph_node *node)
{
    return lower_elementwise(l, MONA_OP_ADD, node, (double)l->formats[node->output].scale);
}

bool lower_mul(lowering *l, const graph_node *node)
{
    return lower_elementwise(l, MONA_OP_MUL, node, 1);
}
