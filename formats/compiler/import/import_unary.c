// SPDX-License-Identifier: Apache-2.0
/* Functions of one or two tensors that are composed of multiply-adds, clips and sums. */
#include "formats/compiler/import/importer.h"

#include <math.h>
#include <string.h>

/* Output 0 is x * scale + shift. */
static bool add_affine(importer *im, uint32_t x, float scale, float shift)
{
    uint32_t made = 0;
    return import_inner_affine(im, x, scale, shift, &made) && import_bind(im, 0, made);
}

bool import_inner_affine(importer *im, uint32_t x, float scale, float shift, uint32_t *made)
{
    const uint32_t channels = im->g->values[x].channels;
    float *scales = graph_fill(im->g, channels, scale);
    float *shifts = graph_fill(im->g, channels, shift);
    graph_node *affine = scales && shifts ? import_inner_like(im, GRAPH_AFFINE, x) : NULL;
    if (!affine)
        return format_fail(im->error, "out of memory");
    affine->affine.scale = scales;
    affine->affine.shift = shifts;
    *made = affine->output;
    return true;
}

static bool inner_activation(importer *im, uint32_t x, graph_activation activation, uint32_t *made)
{
    graph_node *n = import_inner_like(im, GRAPH_ACTIVATION, x);
    if (!n)
        return false;
    n->activation = activation;
    *made = n->output;
    return true;
}

/* A node of two values with the same shape. */
static bool inner_binary(importer *im, graph_kind kind, uint32_t a, uint32_t b, uint32_t *made)
{
    graph_node *n = import_inner_like(im, kind, a);
    if (!n)
        return false;
    n->input_count = 2;
    n->inputs[1] = b;
    *made = n->output;
    return true;
}

bool import_neg(importer *im)
{
    uint32_t x;
    return import_elements(im, 0, &x) && add_affine(im, x, -1, 0);
}

/* |x| = x where x > 0, else -1 * x: a PReLU. */
bool import_abs(importer *im)
{
    uint32_t x, made = 0;
    if (!import_elements(im, 0, &x))
        return false;
    const float *slopes = graph_fill(im->g, im->g->values[x].channels, -1);
    if (!slopes)
        return format_fail(im->error, "out of memory");
    const graph_activation abs = {.kind = MONA_ACT_PRELU, .slopes = slopes};
    return inner_activation(im, x, abs, &made) && import_bind(im, 0, made);
}

/* clip(alpha x + beta, 0, 1) */
static bool hard_sigmoid(importer *im, uint32_t x, float alpha, float beta, uint32_t *made)
{
    const graph_activation clip = {.kind = MONA_ACT_CLIP, .low = 0, .high = 1};
    uint32_t line = 0;
    if (!isfinite(alpha) || !isfinite(beta))
        return import_fail(im, "has an alpha or beta that is infinite or not a number");
    return import_inner_affine(im, x, alpha, beta, &line) && inner_activation(im, line, clip, made);
}

bool import_hard_sigmoid(importer *im)
{
    uint32_t x, made = 0;
    return import_elements(im, 0, &x) &&
           hard_sigmoid(im, x, onnx_float(im->node, "alpha", 0.2f),
                        onnx_float(im->node, "beta", 0.5f), &made) &&
           import_bind(im, 0, made);
}

/* A function that is an activation. */
bool import_function(importer *im)
{
    static const struct {
        const char *op_type;
        mona_activation kind;
    } rows[] = {
#define ROW(op_type, function, array, map, ...) {op_type, MONA_ACT_##map},
#include "formats/functions.inc"
#undef ROW
    };
    const float alpha = onnx_float(im->node, "alpha", 1);
    uint32_t x, made = 0;
    size_t i = 0;
    while (
        strcmp(rows[i].op_type, im->node->op_type)) /* operators.inc names only those that exist */
        i++;
    graph_activation f = {.kind = rows[i].kind, .alpha = alpha};
    if (f.kind == MONA_ACT_SILU && alpha != 1)
        return import_fail(im, "has an alpha of %g; supported: 1", (double)alpha);
    if (f.kind == MONA_ACT_ELU && !(fabsf(alpha) <= 65504))
        return import_fail(im, "has an alpha of %g; supported: up to 65504", (double)alpha);
    if (f.kind == MONA_ACT_GELU && import_text_is(im, "approximate", "tanh", "none"))
        f.kind = MONA_ACT_GELU_TANH;
    return import_elements(im, 0, &x) && inner_activation(im, x, f, &made) &&
           import_bind(im, 0, made);
}

/* ---- the larger and the smaller ----------------------------------------------------------- */

static bool same_shape(const graph_value *a, const graph_value *b)
{
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

/* max(a, b) = b + relu(a - b); min(a, b) = a - relu(a - b). */
static bool of_two(importer *im, bool largest, uint32_t a, uint32_t b)
{
    const graph_activation relu = {.kind = MONA_ACT_RELU};
    uint32_t minus = 0, difference = 0, part = 0, sum = 0;
    if (!import_alike(im) || !same_shape(&im->g->values[a], &im->g->values[b]))
        return import_fail(im, "combines tensors of two shapes; expected one");
    if (!import_inner_affine(im, b, -1, 0, &minus) ||
        !inner_binary(im, GRAPH_ADD, a, minus, &difference) ||
        !inner_activation(im, difference, relu, &part))
        return false;
    if (!largest && !import_inner_affine(im, part, -1, 0, &part))
        return false;
    return inner_binary(im, GRAPH_ADD, part, largest ? b : a, &sum) && import_bind(im, 0, sum);
}

bool import_extreme(importer *im)
{
    const bool largest = import_code(im) == MONA_FN_MAX;
    const float max = 65504; /* fp16's largest number */
    const graph_value *second = import_constant(im, 1);
    const bool first = import_constant(im, 0);
    uint32_t a, b, made = 0;
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
    return import_elements(im, first, &a) && inner_activation(im, a, clip, &made) &&
           import_bind(im, 0, made);
}
