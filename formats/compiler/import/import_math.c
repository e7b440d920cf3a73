// SPDX-License-Identifier: Apache-2.0
/* Functions of two tensors, or of one and a constant per channel, as sums, products and clips. */
#include "formats/compiler/import/importer.h"

#include <math.h>

/* With a single number, the old rule is the same as the current one. */
static bool old_broadcast(const importer *im)
{
    const graph_value *second = import_constant(im, 1);
    return im->node->broadcasts && !(second && second->count == 1);
}

/* Splits the operands into a computed one and, if the other is constant, its numbers per channel.
 * *constant_index: 0 or 1; 2: both are computed. */
static bool read_operands(importer *im, uint32_t *x, float **numbers, int *constant_index)
{
    if (im->node->input_count != 2 || old_broadcast(im))
        return import_fail(im,
                           "has %u operands or broadcasts by an axis; expected two that "
                           "broadcast as from operator set 7 on",
                           im->node->input_count);
    const graph_value *first = import_constant(im, 0), *second = import_constant(im, 1);
    *constant_index = second ? 1 : first ? 0 : 2;
    *numbers = NULL;
    if (!import_elements(im, *constant_index == 0 ? 1 : 0, x))
        return false;
    if (*constant_index < 2)
        *numbers = import_per_channel(im, second ? second : first, im->g->values[*x].channels);
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

/* Whether computed tensors can be combined; the one with a single channel or pixel becomes the
 * second. */
static bool can_combine(importer *im, uint32_t *a, uint32_t *b, bool *swapped)
{
    const graph_value *va = &im->g->values[*a], *vb = &im->g->values[*b];
    *swapped = spreads(vb, va) && (va->channels == 1 || !spreads(va, vb));
    if (*swapped) {
        const uint32_t swap = *a;
        *a = *b;
        *b = swap;
    }
    if (!import_alike(im))
        return import_fail(im, "combines a flattened tensor and one of four dimensions");
    va = &im->g->values[*a], vb = &im->g->values[*b];
    return spreads(va, vb) ||
           import_fail(im,
                       "combines %u channels of %ux%u and %u of %ux%u; expected the same "
                       "shape, or one channel or pixel for all",
                       va->channels, va->width, va->height, vb->channels, vb->width, vb->height);
}

static graph_node *add_inputs(graph_node *made, uint32_t second)
{
    if (made) {
        made->input_count = 2;
        made->inputs[1] = second;
    }
    return made;
}

/* x - y = x + (-y) */
static bool combine(importer *im, mona_array_function f, uint32_t x)
{
    uint32_t y = 0;
    bool swapped = false;
    if (!import_elements(im, 1, &y) || !can_combine(im, &x, &y, &swapped))
        return false;
    uint32_t *minus = swapped ? &x : &y;
    if (f == MONA_FN_SUB && !import_inner_affine(im, *minus, -1, 0, minus))
        return false;
    return add_inputs(import_node_like(im, f == MONA_FN_MUL ? GRAPH_MUL : GRAPH_ADD, x), y);
}

/* x - c = x + (-c), c - x = -x + c, x / c = x * (1 / c). */
bool import_binary(importer *im)
{
    const mona_array_function f = (mona_array_function)import_code(im);
    uint32_t x;
    float *numbers = NULL;
    int constant = 0;
    if (!read_operands(im, &x, &numbers, &constant))
        return false;
    if (f == MONA_FN_DIV && constant != 1)
        return import_fail(im, "divides by a computed tensor; supported: a constant");
    if (constant == 2)
        return combine(im, f, x);
    const uint32_t channels = im->g->values[x].channels;
    const bool minus = f == MONA_FN_SUB && constant == 1, opposite = f == MONA_FN_SUB && !minus;
    for (uint32_t c = 0; c < channels; c++) {
        numbers[c] = f == MONA_FN_DIV ? 1 / numbers[c] : minus ? -numbers[c] : numbers[c];
        if (!isfinite(numbers[c]))
            return import_fail(im, "divides by zero");
    }
    return f == MONA_FN_MUL || f == MONA_FN_DIV
               ? import_add_affine(im, x, numbers, graph_fill(im->g, channels, 0))
               : import_add_affine(im, x, graph_fill(im->g, channels, opposite ? -1 : 1), numbers);
}

/* ---- the larger and the smaller ----------------------------------------------------------- */

static bool same_shape(const graph_value *a, const graph_value *b)
{
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

/* max(a, b) = b + relu(a - b); min(a, b) = a - relu(a - b). */
static bool of_two(importer *im, bool largest, uint32_t a, uint32_t b)
{
    uint32_t minus = 0, part = 0;
    if (!import_alike(im) || !same_shape(&im->g->values[a], &im->g->values[b]))
        return import_fail(im, "combines tensors of two shapes; expected one");
    if (!import_inner_affine(im, b, -1, 0, &minus))
        return false;
    const graph_node *difference = add_inputs(import_inner_like(im, GRAPH_ADD, a), minus);
    graph_node *relu =
        difference ? import_inner_like(im, GRAPH_ACTIVATION, difference->output) : NULL;
    if (!relu)
        return false;
    relu->activation.kind = MONA_ACT_RELU;
    part = relu->output;
    if (!largest && !import_inner_affine(im, part, -1, 0, &part))
        return false;
    return add_inputs(import_node_like(im, GRAPH_ADD, part), largest ? b : a);
}

bool import_extreme(importer *im)
{
    const bool largest = import_code(im) == MONA_FN_MAX;
    const float max = 65504; /* fp16's largest number */
    const graph_value *second = import_constant(im, 1);
    const bool first = import_constant(im, 0);
    uint32_t a, b;
    if (im->node->input_count != 2)
        return import_fail(im, "has %u operands; supported: two", im->node->input_count);
    if (!first && !second)
        return import_elements(im, 0, &a) && import_elements(im, 1, &b) &&
               of_two(im, largest, a, b);
    second = first ? import_constant(im, 0) : second;
    if (second->count != 1 || !(fabsf(second->data[0]) <= max))
        return import_fail(im,
                           "has a constant operand of %zu elements; supported: one finite number",
                           second->count);
    const float bound = second->data[0];
    const graph_activation clip = {
        .kind = MONA_ACT_CLIP, .low = largest ? bound : -max, .high = largest ? max : bound};
    return import_elements(im, first, &a) && import_add_activation(im, a, clip);
}
