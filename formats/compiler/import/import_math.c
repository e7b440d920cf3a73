// SPDX-License-Identifier: Apache-2.0
/* Sums and products of two computed tensors, or of one and a constant per channel. */
#include "formats/compiler/import/importer.h"

#include <math.h>

/* x * scale + shift; NULL stands for 1 or 0. */
static bool add_affine(importer *im, uint32_t x, float *scale, float *shift)
{
    const uint32_t channels = im->g->values[x].channels;
    scale = scale ? scale : graph_fill(im->g, channels, 1);
    shift = shift ? shift : graph_fill(im->g, channels, 0);
    graph_node *made = scale && shift ? import_node_like(im, GRAPH_AFFINE, x) : NULL;
    if (!made)
        return format_fail(im->error, "out of memory");
    made->affine.scale = scale;
    made->affine.shift = shift;
    return true;
}

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

static bool add_binary(importer *im, graph_kind kind, uint32_t a, uint32_t b)
{
    graph_node *made = import_node_like(im, kind, a);
    if (!made)
        return false;
    made->input_count = 2;
    made->inputs[1] = b;
    return true;
}

/* scales: a constant is a factor. */
static bool combine(importer *im, graph_kind kind, bool scales)
{
    uint32_t x = 0, y = 0;
    float *numbers = NULL;
    int constant = 0;
    bool swapped;
    if (!read_operands(im, &x, &numbers, &constant))
        return false;
    if (constant == 2)
        return import_elements(im, 1, &y) && can_combine(im, &x, &y, &swapped) &&
               add_binary(im, kind, x, y);
    return scales ? add_affine(im, x, numbers, NULL) : add_affine(im, x, NULL, numbers);
}

bool import_add(importer *im)
{
    return combine(im, GRAPH_ADD, false);
}

bool import_mul(importer *im)
{
    return combine(im, GRAPH_MUL, true);
}

/* x - c = x + (-c); c - x = -x + c. */
bool import_sub(importer *im)
{
    uint32_t x = 0, y = 0;
    float *numbers = NULL;
    int constant = 0;
    bool swapped;
    if (!read_operands(im, &x, &numbers, &constant))
        return false;
    if (constant == 2) { /* x - y = x + (-y) */
        if (!import_elements(im, 1, &y) || !can_combine(im, &x, &y, &swapped))
            return false;
        uint32_t *second = swapped ? &x : &y;
        return import_inner_affine(im, *second, -1, 0, second) && add_binary(im, GRAPH_ADD, x, y);
    }
    const uint32_t channels = im->g->values[x].channels;
    float *signs = graph_fill(im->g, channels, constant == 1 ? 1 : -1);
    for (uint32_t c = 0; constant == 1 && c < channels; c++)
        numbers[c] = -numbers[c];
    return signs ? add_affine(im, x, signs, numbers) : format_fail(im->error, "out of memory");
}

bool import_div(importer *im)
{
    uint32_t x;
    float *numbers = NULL;
    int constant = 0;
    if (!read_operands(im, &x, &numbers, &constant))
        return false;
    if (constant != 1)
        return import_fail(im, "divides by a computed tensor; supported: a constant");
    for (uint32_t c = 0; c < im->g->values[x].channels; c++) {
        numbers[c] = 1 / numbers[c];
        if (!isfinite(numbers[c]))
            return import_fail(im, "divides by zero");
    }
    return add_affine(im, x, numbers, NULL);
}
