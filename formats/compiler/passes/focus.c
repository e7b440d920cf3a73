// SPDX-License-Identifier: Apache-2.0
/* Every n-th row and column from several offsets, concatenated and convolved, as in YOLO's Focus,
 * becomes one convolution of the source with a filter and strides n times as large. */
#include "formats/compiler/passes/passes.h"

static bool is_plain(const graph_node *node)
{
    const graph_window *w = &node->conv.window;
    return graph_is_plain_conv(node) && w->dilation[0] == 1 && w->dilation[1] == 1;
}

/* Whether the node only picks rows and columns, from which on. */
static bool picks(const graph *g, const graph_node *node, uint32_t first[2])
{
    const graph_window *w = &node->conv.window;
    const uint32_t channels = g->values[node->output].channels;
    if (!is_plain(node) || node->conv.groups != channels ||
        g->values[node->inputs[0]].channels != channels || w->pad_begin[0] || w->pad_begin[1] ||
        w->pad_end[0] || w->pad_end[1] || (w->stride[0] == 1 && w->stride[1] == 1))
        return false;
    size_t one = 0;
    while (one + 1 < graph_window_area(w) && node->conv.weights[one] == 0)
        one++;
    for (uint32_t c = 0; c < channels; c++)
        for (size_t k = 0; k < graph_window_area(w); k++)
            if (node->conv.weights[c * graph_window_area(w) + k] != (k == one ? 1.0f : 0.0f) ||
                node->conv.bias[c] != 0)
                return false;
    first[0] = (uint32_t)(one / w->kernel[1]);
    first[1] = (uint32_t)(one % w->kernel[1]);
    return true;
}

/* Makes node i, which picks from what p picks, pick from p's source. False: out of memory. */
static bool join(graph *g, uint32_t i, uint32_t p)
{
    graph_node *node = &g->nodes[i];
    const graph_window outer = g->nodes[p].conv.window, inner = node->conv.window;
    const uint32_t channels = g->values[node->output].channels;
    uint32_t a[2] = {0}, b[2] = {0};
    graph_window w = inner;
    for (int k = 0; k < 2; k++) {
        w.kernel[k] = outer.kernel[k] + outer.stride[k] * (inner.kernel[k] - 1);
        w.stride[k] = outer.stride[k] * inner.stride[k];
        if (w.kernel[k] > GRAPH_MAX_KERNEL || w.stride[k] > GRAPH_MAX_STRIDE)
            return true;
    }
    float *weights = graph_alloc(g, channels * graph_window_area(&w), sizeof *weights);
    if (!weights || !picks(g, &g->nodes[p], a) || !picks(g, node, b))
        return weights;
    const size_t one =
        (size_t)(a[0] + outer.stride[0] * b[0]) * w.kernel[1] + a[1] + outer.stride[1] * b[1];
    for (uint32_t c = 0; c < channels; c++)
        weights[c * graph_window_area(&w) + one] = 1;
    node->conv.weights = weights;
    node->conv.window = w;
    graph_set_input(g, i, 0, g->nodes[p].inputs[0]);
    return true;
}

/* Whether the parts of a concat are picked from one source in the same steps, which divide it. */
static bool parts_fit(const graph *g, const graph_node *concat, uint32_t *source,
                      const graph_window **window)
{
    *source = UINT32_MAX;
    for (uint32_t k = 0; k < concat->input_count; k++) {
        const uint32_t p = graph_producer(g, concat->inputs[k]);
        uint32_t first[2];
        if (p == UINT32_MAX || !picks(g, &g->nodes[p], first))
            return false;
        const graph_window *w = &g->nodes[p].conv.window;
        const graph_value *v = &g->values[g->nodes[p].inputs[0]];
        *window = k ? *window : w;
        *source = k ? *source : g->nodes[p].inputs[0];
        if (g->nodes[p].inputs[0] != *source || w->stride[0] != (*window)->stride[0] ||
            w->stride[1] != (*window)->stride[1] || first[0] >= w->stride[0] ||
            first[1] >= w->stride[1] || !v->height || v->height % w->stride[0] ||
            v->width % w->stride[1])
            return false;
    }
    return *source != UINT32_MAX;
}

/* The window of the convolution in the source's pixels. False: it is too large. */
static bool widen(graph_window *w, const uint32_t step[2])
{
    for (int k = 0; k < 2; k++) {
        w->kernel[k] *= step[k];
        w->stride[k] *= step[k];
        w->pad_begin[k] *= step[k];
        w->pad_end[k] *= step[k];
        if (w->kernel[k] > GRAPH_MAX_KERNEL || w->stride[k] > GRAPH_MAX_STRIDE ||
            w->pad_begin[k] > GRAPH_MAX_PAD || w->pad_end[k] > GRAPH_MAX_PAD)
            return false;
    }
    return true;
}

/* Adds the filters of part k to those of the source. */
static void spread(const graph *g, const graph_node *conv, const graph_node *concat, uint32_t k,
                   const graph_window *w, float *weights)
{
    const graph_window *old = &conv->conv.window;
    const graph_node *pick = &g->nodes[graph_producer(g, concat->inputs[k])];
    const uint32_t channels = g->values[pick->output].channels;
    const uint32_t depth = g->values[concat->output].channels;
    uint32_t first[2] = {0};
    picks(g, pick, first);
    for (uint32_t o = 0; o < g->values[conv->output].channels; o++)
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t i = 0; i < graph_window_area(old); i++) {
                const uint32_t y = i / old->kernel[1] * pick->conv.window.stride[0] + first[0];
                const uint32_t x = i % old->kernel[1] * pick->conv.window.stride[1] + first[1];
                weights[(o * (size_t)channels + c) * graph_window_area(w) + y * w->kernel[1] + x] +=
                    conv->conv
                        .weights[(o * (size_t)depth + k * channels + c) * graph_window_area(old) +
                                 i];
            }
}

/* NULL: convolution i reads the source of what it read; else the reason why not. */
static const char *focus(graph *g, uint32_t i, format_error *error)
{
    const uint32_t p = graph_private_producer(g, i, 0);
    graph_node *conv = &g->nodes[i];
    const graph_node *concat = &g->nodes[p];
    const graph_window *pick = NULL;
    uint32_t source;
    if (g->fusion.off[FUSION_FOCUS])
        return FUSION_IS_OFF;
    graph_window w = conv->conv.window;
    if (!parts_fit(g, concat, &source, &pick) || !widen(&w, pick->stride))
        return "its parts are not the rows and columns of one map, or the filter gets too large";
    const size_t count = (size_t)g->values[conv->output].channels * g->values[source].channels;
    float *weights = graph_alloc(g, count * graph_window_area(&w), sizeof *weights);
    if (!weights) {
        format_fail(error, "out of memory");
        return error->text;
    }
    for (uint32_t k = 0; k < concat->input_count; k++)
        spread(g, conv, concat, k, &w, weights);
    conv->conv.weights = weights;
    conv->conv.window = w;
    graph_set_input(g, i, 0, source);
    return NULL;
}

/* Whether convolution i reads a concat that only it reads, and that has picked parts. */
static bool may_focus(const graph *g, uint32_t i)
{
    const graph_node *node = &g->nodes[i];
    const uint32_t p = is_plain(node) ? graph_private_producer(g, i, 0) : UINT32_MAX;
    const uint32_t part = p != UINT32_MAX && kind_of(&g->nodes[p])->packs == PACKS_PARTS
                              ? graph_producer(g, g->nodes[p].inputs[0])
                              : UINT32_MAX;
    uint32_t first[2];
    return part != UINT32_MAX && node->conv.groups == 1 && picks(g, &g->nodes[part], first);
}

static void remove_unused(graph *g)
{
    uint32_t first[2];
    for (uint32_t i = g->node_count; i-- > 0;)
        if ((kind_of(&g->nodes[i])->packs == PACKS_PARTS || picks(g, &g->nodes[i], first)) &&
            !g->values[g->nodes[i].output].uses)
            graph_remove_node(g, i);
    graph_sweep(g);
}

bool pass_focus(graph *g, format_error *error)
{
    uint32_t first[2];
    bool found = false;
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!picks(g, &g->nodes[i], first))
            continue;
        const uint32_t p = graph_producer(g, g->nodes[i].inputs[0]);
        found = true;
        if (p != UINT32_MAX && picks(g, &g->nodes[p], first) && !join(g, i, p))
            return format_fail(error, "out of memory");
    }
    for (uint32_t i = 0; i < g->node_count && found && !error->text[0]; i++)
        if (may_focus(g, i)) {
            const graph_node node = g->nodes[i];
            graph_log(g, FUSION_FOCUS, &node, focus(g, i, error));
        }
    if (found)
        remove_unused(g);
    return !error->text[0];
}
