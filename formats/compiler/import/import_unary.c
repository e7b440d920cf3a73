// SPDX-License-Identifier: Apache-2.0
/* Functions of one tensor: activations, and what is composed of them and multiply-adds. */
#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

#include <math.h>

bool import_add_affine(importer *im, uint32_t x, float *scale, float *shift)
{
    graph_node *made = scale && shift ? import_node_like(im, GRAPH_AFFINE, x) : NULL;
    if (!made)
        return format_fail(im->error, "out of memory");
    made->affine.scale = scale;
    made->affine.shift = shift;
    return true;
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

bool import_add_activation(importer *im, uint32_t x, graph_activation activation)
{
    graph_node *made = import_node_like(im, GRAPH_ACTIVATION, x);
    if (made)
        made->activation = activation;
    return made;
}

/* x where that is positive, else slope * x. */
static bool add_slopes(importer *im, uint32_t x, float slope)
{
    const float *slopes = graph_fill(im->g, im->g->values[x].channels, slope);
    if (!slopes || !isfinite(slope))
        return import_fail(im, "has a slope that is infinite or not a number");
    return import_add_activation(im, x,
                                 (graph_activation){.kind = MONA_ACT_PRELU, .slopes = slopes});
}

bool import_neg(importer *im)
{
    uint32_t x;
    if (!import_elements(im, 0, &x))
        return false;
    const uint32_t channels = im->g->values[x].channels;
    return import_add_affine(im, x, graph_fill(im->g, channels, -1),
                             graph_fill(im->g, channels, 0));
}

bool import_abs(importer *im)
{
    uint32_t x;
    return import_elements(im, 0, &x) && add_slopes(im, x, -1);
}

/* clip(alpha x + beta, 0, 1) */
bool import_hard_sigmoid(importer *im)
{
    const op_unary_form form = op_unary_read(im->node);
    const float *p = form.parameters;
    uint32_t x;
    if (!import_elements(im, 0, &x))
        return false;
    if (!isfinite(p[0]) || !isfinite(p[1]))
        return import_fail(im, "has an alpha or beta that is infinite or not a number");
    return import_inner_affine(im, x, p[0], p[1], &x) &&
           import_add_activation(im, x,
                                 (graph_activation){.kind = MONA_ACT_CLIP, .low = 0, .high = 1});
}

/* A function that is an activation. */
bool import_function(importer *im)
{
    static const mona_activation functions[] = {
#define ROW(op_type, function, array, map, ...) MONA_ACT_##map,
#include "formats/functions.inc"
#undef ROW
    };
    const op_unary_form form = op_unary_read(im->node);
    const float alpha = form.parameters[0];
    graph_activation f = {.kind = form.approximate ? MONA_ACT_GELU_TANH : functions[form.row],
                          .alpha = 1};
    uint32_t x;
    if (!import_elements(im, 0, &x))
        return false;
    if (f.kind == MONA_ACT_PRELU)
        return add_slopes(im, x, alpha);
    if (f.kind == MONA_ACT_SILU && alpha != 1)
        return import_fail(im, "has an alpha of %g; supported: 1", (double)alpha);
    if (f.kind == MONA_ACT_ELU && !(fabsf(alpha) <= 65504))
        return import_fail(im, "has an alpha of %g; supported: up to 65504", (double)alpha);
    f.alpha = f.kind == MONA_ACT_ELU ? alpha : 1;
    return import_add_activation(im, x, f);
}

bool import_prelu(importer *im)
{
    uint32_t x;
    const graph_value *slope = import_constant(im, 1);
    if (!import_elements(im, 0, &x))
        return false;
    if (!slope)
        return import_fail(im, "has a computed slope; expected a constant");
    if (im->node->broadcasts && slope->count > 1)
        return import_fail(im, "has slopes for axis 1, as up to operator set 6");
    const float *slopes = import_per_channel(im, slope, im->g->values[x].channels);
    return slopes && import_add_activation(
                         im, x, (graph_activation){.kind = MONA_ACT_PRELU, .slopes = slopes});
}

bool import_clip(importer *im)
{
    const float max = 65504; /* fp16's largest number means no bound */
    float bounds[2] = {-max, max};
    uint32_t x;
    for (size_t i = 0; i < 2; i++) {
        const graph_value *v = import_constant(im, i + 1);
        if (import_has(im, i + 1) && (!v || v->count != 1))
            return import_fail(im, "has a bound that is not one constant number");
        bounds[i] = v ? v->data[0] : bounds[i];
        if (isnan(bounds[i]))
            return import_fail(im, "has a bound that is not a number");
        bounds[i] = fmaxf(-max, fminf(bounds[i], max));
    }
    if (bounds[0] > bounds[1])
        return import_fail(im, "has bounds %g to %g; the lower is above the upper",
                           (double)bounds[0], (double)bounds[1]);
    return import_elements(im, 0, &x) &&
           import_add_activation(
               im, x,
               (graph_activation){.kind = MONA_ACT_CLIP, .low = bounds[0], .high = bounds[1]});
}
