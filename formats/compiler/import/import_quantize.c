// SPDX-License-Identifier: Apache-2.0
/* Quantised operators on maps. A map holds the numbers that integers stand for, and its binding
 * describes the relation (import_quantisation). Each QuantizeLinear becomes a QUANTIZE in the
 * graph, which in turn becomes the format in which a layer stores its result (absorb.c).
 *
 * With u = the zero point of u8, or the zero point of s8 + 128, x = s (q - u) is stored as S8 if u
 * is 128, else as U8 with that zero. What cannot make or read such a zero has F16 copies. */
#include "formats/compiler/import/importer.h"

#include <math.h>

enum { SIGNED_ZERO = 128 };

/* Reads input i as a single constant number. */
static bool one_number(importer *im, size_t i, const char *what, double *number)
{
    const tensor *t = import_has(im, i) ? &im->model->values[im->node->inputs[i]].tensor : NULL;
    if (t && t->data && t->count == 1) {
        *number = tensor_number(t, 0);
        return true;
    }
    return import_fail(im, "has a %s that is not one constant number", what);
}

/* Reads scale and zero point from inputs i and i + 1. type: if there is no zero point. */
static bool read_quantisation(importer *im, size_t i, element_type type,
                              import_quantisation *quantisation)
{
    double scale = 0, zero = 0;
    if (!one_number(im, i, "scale", &scale) ||
        (import_has(im, i + 1) && !one_number(im, i + 1, "zero point", &zero)))
        return false;
    if (import_has(im, i + 1))
        type = im->model->values[im->node->inputs[i + 1]].tensor.type;
    if (type != ELEMENT_UINT8 && type != ELEMENT_INT8)
        return import_fail(im, "quantises to %s; on maps, uint8 and int8 are supported",
                           element_name(type));
    *quantisation = (import_quantisation){(float)scale, (int)zero, type};
    return (scale >= 1e-20 && scale <= 1e20) || import_fail(im, "has a scale of %g", scale);
}

/* Whether input i is a map quantised with inputs i + 1 and i + 2. */
static bool counts_so(importer *im, size_t i)
{
    const import_quantisation found = import_quantisation_of(im, i);
    import_quantisation said;
    if (!(found.scale > 0))
        return import_fail(im, "reads numbers that do not come from a QuantizeLinear on maps");
    if (!read_quantisation(im, i + 1, found.type, &said))
        return false;
    return (found.scale == said.scale && found.zero == said.zero && found.type == said.type) ||
           import_fail(im,
                       "reads numbers of scale %g and zero point %d as if they had scale %g and "
                       "zero point %d",
                       (double)found.scale, found.zero, (double)said.scale, said.zero);
}

/* Quantises value x as output 0. */
static bool add_quantize(importer *im, uint32_t x, import_quantisation quantisation)
{
    const int zero = quantisation.zero + (quantisation.type == ELEMENT_INT8 ? SIGNED_ZERO : 0);
    graph_node *made = import_inner_like(im, GRAPH_QUANTIZE, x);
    if (!made)
        return false;
    made->quantize = zero == SIGNED_ZERO
                         ? (value_format){MONA_S8, quantisation.scale, 0}
                         : (value_format){MONA_U8, quantisation.scale, (uint8_t)zero};
    if (!import_bind(im, 0, made->output))
        return false;
    im->bindings[im->node->outputs[0]].quantisation = quantisation;
    return true;
}

static bool is_off(importer *im)
{
    return im->g->fusion.off[FUSION_QUANTISED] &&
           !import_fail(im, "is not for maps: " FUSION_IS_OFF);
}

bool import_quantize(importer *im)
{
    uint32_t x;
    import_quantisation quantisation;
    const int64_t type = onnx_int(im->node, "output_dtype", 0);
    if (is_off(im) || !import_elements(im, 0, &x) ||
        !read_quantisation(im, 1, type ? (element_type)type : ELEMENT_UINT8, &quantisation))
        return false;
    /* An array is quantised instead, which serves all of its readers. */
    return im->uses[im->node->outputs[0]].apart
               ? import_fail(im,
                             "makes integers that are read by a node other than DequantizeLinear")
               : add_quantize(im, x, quantisation);
}

bool import_dequantize(importer *im)
{
    uint32_t x;
    if (is_off(im) || !import_elements(im, 0, &x) || !counts_so(im, 0) || !import_bind(im, 0, x))
        return false;
    im->bindings[im->node->outputs[0]].quantisation = (import_quantisation){0};
    return true;
}

/* ---- weights ------------------------------------------------------------------------------ */

float *import_weight_scales(importer *im, size_t i, int64_t axis, uint32_t outputs)
{
    const onnx_value *v = &im->model->values[im->node->inputs[i]];
    if (!v->dequantised || v->dequantised_count < 2 || im->g->fusion.off[FUSION_QUANTISED])
        return NULL;
    const tensor *scale = &im->model->values[v->dequantised[1]].tensor;
    const int64_t along = v->dequantised_axis < 0 ? v->dequantised_axis + (int64_t)v->tensor.rank
                                                  : v->dequantised_axis;
    if (!scale->data || (scale->count != 1 && (scale->count != outputs || along != axis)))
        return NULL;
    float *scales = graph_alloc(im->g, outputs, sizeof *scales);
    for (uint32_t o = 0; scales && o < outputs; o++) {
        scales[o] = (float)tensor_number(scale, scale->count == 1 ? 0 : o);
        if (!(scales[o] > 0) || !isfinite(scales[o]))
            return NULL;
    }
    return scales;
}

/* Converts integer weights to the numbers they stand for, by the scales and zero points in inputs i
 * and i + 1, and biases too, whose scale is the input's times the weights'. */
static bool dequantise(importer *im, size_t i, float in_scale, size_t filter, uint32_t outputs,
                       graph_conv *conv)
{
    const graph_value *scale = import_constant(im, i), *zero = import_constant(im, i + 1);
    float *weights = graph_alloc(im->g, filter * outputs, sizeof *weights);
    float *bias = graph_alloc(im->g, outputs, sizeof *bias);
    conv->weight_scales = graph_alloc(im->g, outputs, sizeof *conv->weight_scales);
    if (!scale || (scale->count != 1 && scale->count != outputs) || !zero ||
        (zero->count != 1 && zero->count != outputs))
        return import_fail(
            im, "has weights without a constant scale and zero point for all or each of %u outputs",
            outputs);
    if (!weights || !bias || !conv->weight_scales)
        return format_fail(im->error, "out of memory");
    for (uint32_t o = 0; o < outputs; o++) {
        const float weight_scale = scale->data[scale->count == 1 ? 0 : o];
        const float centre = zero->data[zero->count == 1 ? 0 : o];
        if (!(weight_scale > 0) || !isfinite(weight_scale))
            return import_fail(im, "has weights with a scale of %g", (double)weight_scale);
        for (size_t k = o * filter; k < (o + 1) * filter; k++)
            weights[k] = (conv->weights[k] - centre) * weight_scale;
        bias[o] = (float)((double)conv->bias[o] * (double)in_scale * (double)weight_scale);
        conv->weight_scales[o] = weight_scale;
    }
    conv->weights = weights;
    conv->bias = bias;
    return true;
}

/* ---- QLinear operators -------------------------------------------------------------------- */

/* Output 0 is the convolution of x, quantised with inputs 6 and 7. */
static bool add_qlinear(importer *im, uint32_t x, size_t filter, uint32_t outputs, graph_conv *conv)
{
    import_quantisation quantisation;
    const element_type type = import_quantisation_of(im, 0).type;
    return dequantise(im, 4, import_quantisation_of(im, 0).scale, filter, outputs, conv) &&
           read_quantisation(im, 6, type, &quantisation) && import_add_conv(im, conv, x, outputs) &&
           add_quantize(im, im->bindings[im->node->outputs[0]].value, quantisation);
}

bool import_qlinear_conv(importer *im)
{
    uint32_t x, outputs = 0;
    graph_conv conv = {0};
    if (is_off(im) || !import_channels(im, 0, &x) || !counts_so(im, 0) ||
        !import_read_conv(im, 3, 8, &conv, &outputs))
        return false;
    const graph_value *w = import_constant(im, 3);
    return add_qlinear(im, x, w->count / outputs, outputs, &conv);
}

bool import_qlinear_matmul(importer *im)
{
    uint32_t x, outputs = 0;
    graph_conv conv = {.groups = 1};
    if (is_off(im) || !import_flat(im, 0, &x) || !counts_so(im, 0) ||
        !import_whole_window(im, x, &conv.window))
        return false;
    const graph_value *v = &im->g->values[x];
    const size_t inputs = (size_t)v->channels * v->height * v->width;
    conv.weights = import_matrix(im, 3, false, 1, inputs, &outputs);
    conv.bias = conv.weights ? graph_alloc(im->g, outputs, sizeof *conv.bias) : NULL;
    return conv.bias && add_qlinear(im, x, inputs, outputs, &conv);
}
