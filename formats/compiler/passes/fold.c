// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/passes/passes.h"

#include <math.h>

#include "formats/compiler/quantize/quantize.h"
#include "formats/compiler/quantize/weights.h"

static uint32_t channels_of(const graph *g, uint32_t value)
{
    return g->values[value].channels;
}

/* ---- padding ------------------------------------------------------------------------------ */

/* Whether it is a 1x1 convolution per channel that only pads. */
static bool only_pads(const graph *g, const graph_node *node)
{
    const graph_conv *conv = &node->conv;
    const uint32_t channels = channels_of(g, node->output);
    bool only = graph_is_plain_conv(node) && conv->groups == channels &&
                conv->window.kernel[0] == 1 && conv->window.kernel[1] == 1 &&
                conv->window.stride[0] == 1 && conv->window.stride[1] == 1 &&
                weights_filter(g, node) == 1;
    for (uint32_t c = 0; only && c < channels; c++)
        only = conv->weights[c] == 1 && conv->bias[c] == 0;
    return only;
}

static bool add_pads(graph_window *w, const graph_window *pads)
{
    const graph_window before = *w;
    for (int i = 0; i < 2; i++) {
        w->pad_begin[i] += pads->pad_begin[i];
        w->pad_end[i] += pads->pad_end[i];
        if (w->pad_begin[i] > GRAPH_MAX_PAD || w->pad_end[i] > GRAPH_MAX_PAD) {
            *w = before;
            return false;
        }
    }
    return true;
}

/* NULL: pad node i was merged into its reader; else the reason why not. */
static const char *fold_pad(graph *g, uint32_t i)
{
    const graph_node *pad = &g->nodes[i];
    const uint32_t r = graph_only_reader(g, pad->output);
    if (g->fusion.off[FUSION_PAD])
        return FUSION_IS_OFF;
    if (r == UINT32_MAX || !kind_has_filter(&g->nodes[r]) || g->nodes[r].inputs[0] != pad->output)
        return "something other than one convolution reads it";
    if (!add_pads(&g->nodes[r].conv.window, &pad->conv.window))
        return "the sum of the paddings is more than the engine supports";
    graph_set_input(g, r, 0, pad->inputs[0]);
    return NULL;
}

void pass_fold_pads(graph *g)
{
    for (uint32_t i = g->node_count; i-- > 0;) {
        if (!only_pads(g, &g->nodes[i]))
            continue;
        const char *why_not = fold_pad(g, i);
        graph_log(g, FUSION_PAD, &g->nodes[i], why_not);
        if (!why_not)
            graph_remove_node(g, i);
    }
    graph_sweep(g);
}

/* ---- multiply-adds ------------------------------------------------------------------------ */

/* These return NULL if the multiply-add was folded, else the reason why not. */

void gains_affine(graph_node *node, float **gains[2])
{
    gains[0] = &node->affine.scale;
    gains[1] = &node->affine.shift;
}

void gains_normalise(graph_node *node, float **gains[2])
{
    gains[0] = &node->normalise.gain;
    gains[1] = &node->normalise.shift;
}

/* Node p before it applies a factor and a shift to each channel. */
static const char *fold_into_gains(graph *g, graph_node *p, const graph_node *affine,
                                   format_error *error)
{
    const uint32_t channels = channels_of(g, p->output);
    float **gains[2];
    float *scales = graph_alloc(g, channels, sizeof *scales);
    float *shifts = graph_alloc(g, channels, sizeof *shifts);
    if (!scales || !shifts) {
        format_fail(error, "out of memory");
        return error->text;
    }
    kind_of(p)->gains(p, gains);
    for (uint32_t c = 0; c < channels; c++) {
        scales[c] = (*gains[0])[c] * affine->affine.scale[c];
        shifts[c] = (*gains[1])[c] * affine->affine.scale[c] + affine->affine.shift[c];
    }
    *gains[0] = scales;
    *gains[1] = shifts;
    graph_set_result(g, (uint32_t)(p - g->nodes), affine->output);
    return NULL;
}

/* scale * (w x + b) + shift = (scale w) x + (scale b + shift) */
static const char *fold_into_producer(graph *g, uint32_t i, format_error *error)
{
    const uint32_t p = graph_private_producer(g, i, 0);
    if (g->fusion.off[FUSION_AFFINE])
        return FUSION_IS_OFF;
    graph_node *conv = p == UINT32_MAX ? NULL : &g->nodes[p];
    const graph_node *affine = &g->nodes[i];
    if (conv && kind_of(conv)->gains)
        return fold_into_gains(g, conv, affine, error);
    if (!conv || !graph_is_plain_conv(conv))
        return "its input does not come from a convolution that only it reads";
    if (!weights_own(g, conv, error))
        return error->text;
    const size_t filter = weights_filter(g, conv);
    for (uint32_t o = 0; o < channels_of(g, conv->output); o++) {
        const float scale = affine->affine.scale[o];
        for (size_t k = 0; k < filter; k++)
            conv->conv.weights[o * filter + k] *= scale;
        if (conv->conv.weight_scales)
            conv->conv.weight_scales[o] *= fabsf(scale);
        conv->conv.bias[o] = conv->conv.bias[o] * scale + affine->affine.shift[o];
    }
    graph_set_result(g, p, affine->output);
    return NULL;
}

/* Whether a channel has another number than this. */
static bool differs(const float *numbers, uint32_t channels, float from)
{
    for (uint32_t c = 0; c < channels; c++)
        if (numbers[c] != from)
            return true;
    return false;
}

static void scale_inputs(graph_conv *conv, const graph_node *affine, uint32_t depth,
                         uint32_t outputs)
{
    const size_t area = graph_window_area(&conv->window);
    for (uint32_t o = 0; o < outputs; o++)
        for (uint32_t c = 0; c < depth; c++) {
            const uint32_t channel = o / (outputs / conv->groups) * depth + c;
            float *plane = conv->weights + (o * (size_t)depth + c) * area;
            for (size_t k = 0; k < area; k++) {
                conv->bias[o] += plane[k] * affine->affine.shift[channel];
                plane[k] *= affine->affine.scale[channel];
            }
        }
}

/* The numbers of samples that become 0; NULL: padding cannot hold them. */
static float *padding_before(graph *g, const graph_node *affine, size_t filter,
                             const compiler_options *options)
{
    const uint32_t x = affine->inputs[0], channels = channels_of(g, x);
    const value_format samples = quantize_input(g, options, x);
    const double max = (double)samples.scale * quantize_maximum(options, samples.type);
    const bool possible = graph_is_input(g, x) && graph_only_reader(g, x) != UINT32_MAX &&
                          channels <= MONA_PADDED_CHANNELS && filter <= WEIGHTS_MAX / 2 &&
                          (samples.type == MONA_U8 || samples.type == MONA_U16);
    float *padding = possible ? graph_alloc(g, channels, sizeof *padding) : NULL;
    for (uint32_t c = 0; padding && c < channels; c++) {
        padding[c] = -affine->affine.shift[c] / affine->affine.scale[c];
        if (!((double)padding[c] >= 0 && (double)padding[c] <= max))
            return NULL;
    }
    return padding;
}

/* w (scale x + shift) + b = (w scale) x + (b + sum of w shift). Padding is 0 after the scaling, so
 * before it, it has to be what becomes 0. Without a shift that is 0, too. */
static const char *fold_into_reader(graph *g, uint32_t i, const compiler_options *options,
                                    format_error *error)
{
    const graph_node *affine = &g->nodes[i];
    const uint32_t r = graph_only_reader(g, affine->output);
    if (g->fusion.off[FUSION_AFFINE])
        return FUSION_IS_OFF;
    if (r == UINT32_MAX || !kind_has_filter(&g->nodes[r]) ||
        g->nodes[r].inputs[0] != affine->output)
        return "its input does not come from a convolution, nor is a convolution the only reader "
               "of its output";
    graph_node *node = &g->nodes[r];
    const graph_window *w = &node->conv.window;
    const uint32_t inputs = channels_of(g, node->inputs[0]);
    const bool shifts_padding =
        differs(affine->affine.shift, inputs, 0) &&
        (w->pad_begin[0] || w->pad_begin[1] || w->pad_end[0] || w->pad_end[1]);
    float *padding =
        shifts_padding ? padding_before(g, affine, weights_filter(g, node), options) : NULL;
    if (shifts_padding && !padding)
        return "the convolution after it pads, and the padding is not shifted";
    if (!weights_own(g, node, error))
        return error->text;
    if (differs(affine->affine.scale, inputs, 1))
        node->conv.weight_scales = NULL;
    scale_inputs(&node->conv, affine, inputs / node->conv.groups, channels_of(g, node->output));
    graph_set_input(g, r, 0, affine->inputs[0]);
    g->values[affine->inputs[0]].padding = padding;
    return NULL;
}

bool pass_fold_affine(graph *g, const compiler_options *options, format_error *error)
{
    /* First forwards, so that a chain after a convolution is folded link by link; then backwards,
     * for chains before one. */
    for (uint32_t i = 0; i < g->node_count && !error->text[0]; i++) {
        if (g->nodes[i].kind != GRAPH_AFFINE || fold_into_producer(g, i, error))
            continue;
        graph_log(g, FUSION_AFFINE, &g->nodes[i], NULL);
        graph_remove_node(g, i);
    }
    for (uint32_t i = g->node_count; i-- > 0 && !error->text[0];) {
        if (g->nodes[i].kind != GRAPH_AFFINE)
            continue;
        const char *why_not = fold_into_reader(g, i, options, error);
        graph_log(g, FUSION_AFFINE, &g->nodes[i], why_not);
        if (!why_not)
            graph_remove_node(g, i);
    }
    for (uint32_t i = 0; i < g->node_count; i++) {
        graph_node *node = &g->nodes[i];
        if (node->kind != GRAPH_AFFINE)
            continue;
        graph_become_channel_conv(node, channels_of(g, node->output), node->affine.scale,
                                  node->affine.shift);
    }
    graph_sweep(g);
    return !error->text[0];
}
