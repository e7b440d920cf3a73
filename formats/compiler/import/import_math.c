// SPDX-License-Identifier: Apache-2.0
/* Sums and products of two computed tensors, or of one and a constant per channel. */
#include "formats/compiler/import/importer.h"

#include <math.h>

/* x * scale + shift; NULL stands for 1 or 0. */
static bool add_affine(importer *im, const onnx_node *node, uint32_t x, float *scale, float *shift)
{
    const uint32_t channels = im->g->values[x].channels;
    if (!scale) {
        scale = graph_alloc(im->g, channels, sizeof *scale);
        for (uint32_t c = 0; scale && c < channels; c++)
            scale[c] = 1;
    }
    if (!shift)
        shift = graph_alloc(im->g, channels, sizeof *shift);
    graph_node *made = scale && shift ? import_node_like(im, node, GRAPH_AFFINE, x) : NULL;
    if (!made)
        return format_fail(im->error, "out of memory");
    made->affine.scale = scale;
    made->affine.shift = shift;
    return true;
}

/* With a single number, the old rule is the same as the current one. */
static bool old_broadcast(const importer *im, const onnx_node *node)
{
    const graph_value *second = import_constant(im, node, 1);
    return node->broadcasts && !(second && second->count == 1);
}

/* Splits the operands into a computed one and, if the other is constant, its numbers per channel.
 * *constant_index: 0 or 1; 2: both are computed. */
static bool read_operands(importer *im, const onnx_node *node, uint32_t *x, float **numbers,
                          int *constant_index)
{
    if (node->input_count != 2 || old_broadcast(im, node))
        return import_fail(im, node,
                           "has %u operands or broadcasts by an axis; expected two that "
                           "broadcast as from operator set 7 on",
                           node->input_count);
    const graph_value *first = import_constant(im, node, 0), *second = import_constant(im, node, 1);
    *constant_index = second ? 1 : first ? 0 : 2;
    *numbers = NULL;
    if (!import_elements(im, node, *constant_index == 0 ? 1 : 0, x))
        return false;
    if (*constant_index < 2)
        *numbers =
            import_per_channel(im, node, second ? second : first, im->g->values[*x].channels);
    return *constant_index == 2 || *numbers;
}

/* An open side, 0, may turn out to be any size, but a single row or column broadcasts. */
static bool same_side(uint32_t a, uint32_t b)
{
    return a == b || (!a && b != 1) || (!b && a != 1);
}

/* Whether b has the shape of a, or one channel or one pixel for all of a's. */
static bool spreads(const graph_value *a, const graph_value *b)
{
    const bool same = same_side(a->height, b->height) && same_side(a->width, b->width);
    return (b->channels == a->channels || b->channels == 1) &&
           (same || (b->height == 1 && b->width == 1));
}

/* Adds a node of two computed tensors; the one with a single channel or pixel becomes the second. */
static bool add_binary(importer *im, const onnx_node *node, graph_kind kind, uint32_t a, uint32_t b)
{
    const graph_value *va = &im->g->values[a], *vb = &im->g->values[b];
    if (spreads(vb, va) && (va->channels == 1 || !spreads(va, vb))) {
        const uint32_t swap = a;
        a = b;
        b = swap;
    }
    if (import_view_of(im, node, 0) != import_view_of(im, node, 1))
        return import_fail(im, node, "combines a flattened tensor and one of four dimensions");
    va = &im->g->values[a], vb = &im->g->values[b];
    if (!spreads(va, vb))
        return import_fail(im, node,
                           "combines %u channels of %ux%u and %u of %ux%u; expected the same "
                           "shape, or one channel or pixel for all",
                           va->channels, va->width, va->height, vb->channels, vb->width,
                           vb->height);
    graph_node *made = import_node_like(im, node, kind, a);
    if (!made)
        return false;
    made->input_count = 2;
    made->inputs[1] = b;
    return true;
}

bool import_add(importer *im, const onnx_node *node)
{
    uint32_t x = 0, y = 0;
    float *numbers = NULL;
    int constant = 0;
    if (!read_operands(im, node, &x, &numbers, &constant))
        return false;
    return constant == 2 ? import_elements(im, node, 1, &y) && add_binary(im, node, GRAPH_ADD, x, y)
                         : add_affine(im, node, x, NULL, numbers);
}

bool import_mul(importer *im, const onnx_node *node)
{
    uint32_t x = 0, y = 0;
    float *numbers = NULL;
    int constant = 0;
    if (!read_operands(im, node, &x, &numbers, &constant))
        return false;
    return constant == 2 ? import_elements(im, node, 1, &y) && add_binary(im, node, GRAPH_MUL, x, y)
                         : add_affine(im, node, x, numbers, NULL);
}

/* x - c = x + (-c); c - x = -x + c. */
bool import_sub(importer *im, const onnx_node *node)
{
    uint32_t x = 0, y = 0;
    float *numbers = NULL;
    int constant = 0;
    if (!read_operands(im, node, &x, &numbers, &constant))
        return false;
    if (constant == 2) /* x - y = x + (-y) */
        return import_elements(im, node, 1, &y) && import_inner_affine(im, node, y, -1, 0, &y) &&
               add_binary(im, node, GRAPH_ADD, x, y);
    const uint32_t channels = im->g->values[x].channels;
    float *signs = graph_alloc(im->g, channels, sizeof *signs);
    for (uint32_t c = 0; signs && c < channels; c++) {
        signs[c] = constant == 1 ? 1 : -1;
        numbers[c] *= -signs[c];
    }
    return signs ? add_affine(im, node, x, signs, numbers)
                 : format_fail(im->error, "out of memory");
}

bool import_div(importer *im, const onnx_node *node)
{
    uint32_t x;
    float *numbers = NULL;
    int constant = 0;
    if (!read_operands(im, node, &x, &numbers, &constant))
        return false;
    if (constant != 1)
        return import_fail(im, node, "divides by a computed tensor; supported: a constant");
    for (uint32_t c = 0; c < im->g->values[x].channels; c++) {
        numbers[c] = 1 / numbers[c];
        if (!isfinite(numbers[c]))
            return import_fail(im, node, "divides by zero");
    }
    return add_affine(im, node, x, numbers, NULL);
}
