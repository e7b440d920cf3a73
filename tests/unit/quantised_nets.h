// SPDX-License-Identifier: Apache-2.0
/* Quantised networks as exporters write them, with random weights: operators between
 * DequantizeLinear and QuantizeLinear, or QLinear operators. */
#ifndef MONA_TESTS_QUANTISED_NETS_H
#define MONA_TESTS_QUANTISED_NETS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/unit/onnx_builder.h"

/* A tensor of integers: scale * (q - zero). */
typedef struct quantisation {
    float scale;
    int zero;
    bool is_signed;
} quantisation;

typedef struct qnet {
    onnx_builder *b;
    uint32_t random;
    int made;   /* names so far */
    bool dense; /* QLinear operators instead of QuantizeLinear and DequantizeLinear */
    bool per_tensor;
    int lowest;  /* the first weight of every output; 0: random */
    bool coarse; /* weights of -1, 0 and 1 with one scale of an eighth */
} qnet;

/* A map: of floats or, in QLinear networks, of integers. */
typedef struct qmap {
    char name[32];
    int channels;
    quantisation in; /* its last quantisation */
} qmap;

static inline float qnet_noise(qnet *n)
{
    n->random = n->random * 1664525 + 1013904223;
    return (float)(n->random >> 8) / (1 << 23) - 1;
}

static inline Onnx__NodeProto *qnet_node(qnet *n, const char *op, const char *inputs, char *name)
{
    snprintf(name, 32, "%s_%d", op, n->made++);
    return ob_node(n->b, op, inputs, name);
}

/* Appends the names of two constants: scale and zero point. */
static inline void qnet_quantisation(qnet *n, quantisation s, char *inputs)
{
    char name[32];
    const int type =
        s.is_signed ? ONNX__TENSOR_PROTO__DATA_TYPE__INT8 : ONNX__TENSOR_PROTO__DATA_TYPE__UINT8;
    snprintf(name, sizeof name, "s_%d", n->made);
    ob_constant(n->b, name, "", &s.scale);
    strcat(strcat(inputs, " "), name);
    snprintf(name, sizeof name, "z_%d", n->made++);
    ob_int_tensor(n->b, name, type, "", &s.zero);
    strcat(strcat(inputs, " "), name);
}

/* Quantises x; the result is in floats again, except in QLinear networks. */
static inline qmap qnet_quantise(qnet *n, qmap x, quantisation s)
{
    char inputs[160], parameters[96] = "";
    qnet_quantisation(n, s, parameters);
    snprintf(inputs, sizeof inputs, "%s%s", x.name, parameters);
    qnet_node(n, "QuantizeLinear", inputs, x.name);
    snprintf(inputs, sizeof inputs, "%s%s", x.name, parameters);
    if (!n->dense)
        qnet_node(n, "DequantizeLinear", inputs, x.name);
    x.in = s;
    return x;
}

static inline qmap qnet_dequantise(qnet *n, qmap x)
{
    char inputs[160];
    snprintf(inputs, sizeof inputs, "%s", x.name);
    qnet_quantisation(n, x.in, inputs);
    qnet_node(n, "DequantizeLinear", inputs, x.name);
    return x;
}

typedef struct qweights {
    char weights[32], scale[32], zero[32], bias[32], bias_scale[32], bias_zero[32];
} qweights;

/* Integer weights and biases, with a scale for each output or one for all, as constants. */
static inline qweights qnet_weights(qnet *n, int outputs, int depth, int side, float in_scale)
{
    onnx_builder *b = n->b;
    qweights w;
    char dims[64];
    const int filter = depth * side * side, scales = n->per_tensor ? 1 : outputs;
    int32_t *q = ob_alloc(b, (size_t)(filter * outputs) * sizeof *q);
    int32_t *zeros = ob_alloc(b, (size_t)outputs * sizeof *zeros);
    int32_t *bias = ob_alloc(b, (size_t)outputs * sizeof *bias);
    float *scale = ob_alloc(b, (size_t)outputs * sizeof *scale);
    float *product = ob_alloc(b, (size_t)outputs * sizeof *product);
    for (int i = 0; i < filter * outputs; i++)
        q[i] = (int32_t)(qnet_noise(n) * (n->coarse ? 2 : 127));
    for (int o = 0; o < outputs; o++) {
        q[o * filter] = n->lowest ? n->lowest : q[o * filter];
        scale[o] = (1.5f + 0.5f * qnet_noise(n) * !n->per_tensor) / (127 * sqrtf((float)filter));
        scale[o] = n->coarse ? 0.125f : scale[o];
        product[o] = in_scale * scale[o];
        bias[o] = (int32_t)(qnet_noise(n) * 0.2f / product[n->per_tensor ? 0 : o]);
    }
    snprintf(w.weights, sizeof w.weights, "w_%d", n->made);
    snprintf(w.scale, sizeof w.scale, "ws_%d", n->made);
    snprintf(w.zero, sizeof w.zero, "wz_%d", n->made);
    snprintf(w.bias, sizeof w.bias, "b_%d", n->made);
    snprintf(w.bias_scale, sizeof w.bias_scale, "bs_%d", n->made);
    snprintf(w.bias_zero, sizeof w.bias_zero, "bz_%d", n->made++);
    snprintf(dims, sizeof dims, side ? "%d %d %d %d" : "%d %d", outputs, depth, side, side);
    ob_int_tensor(b, w.weights, ONNX__TENSOR_PROTO__DATA_TYPE__INT8, dims, q);
    snprintf(dims, sizeof dims, "%d", scales);
    ob_constant(b, w.scale, n->per_tensor ? "" : dims, scale);
    ob_int_tensor(b, w.zero, ONNX__TENSOR_PROTO__DATA_TYPE__INT8, n->per_tensor ? "" : dims, zeros);
    ob_constant(b, w.bias_scale, n->per_tensor ? "" : dims, product);
    ob_int_tensor(b, w.bias_zero, ONNX__TENSOR_PROTO__DATA_TYPE__INT32, n->per_tensor ? "" : dims,
                  zeros);
    snprintf(dims, sizeof dims, "%d", outputs);
    ob_int_tensor(b, w.bias, ONNX__TENSOR_PROTO__DATA_TYPE__INT32, dims, bias);
    return w;
}

static inline void qnet_weights_back(qnet *n, const char *q, const char *scale, const char *zero,
                                     char *name)
{
    char inputs[128];
    snprintf(inputs, sizeof inputs, "%s %s %s", q, scale, zero);
    Onnx__NodeProto *node = qnet_node(n, "DequantizeLinear", inputs, name);
    if (!n->per_tensor)
        ob_int(n->b, node, "axis", 0);
}

/* A convolution, padded to keep the size; in QLinear networks quantised as `out`. */
static inline qmap qnet_conv(qnet *n, qmap x, int outputs, int side, int groups, quantisation out)
{
    char inputs[256], weights[32], bias[32], pads[64];
    const qweights w = qnet_weights(n, outputs, x.channels / groups, side, x.in.scale);
    Onnx__NodeProto *node;
    if (n->dense) {
        snprintf(inputs, sizeof inputs, "%s", x.name);
        qnet_quantisation(n, x.in, inputs);
        snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), " %s %s %s", w.weights,
                 w.scale, w.zero);
        qnet_quantisation(n, out, inputs);
        strcat(strcat(inputs, " "), w.bias);
        node = qnet_node(n, "QLinearConv", inputs, x.name);
        x.in = out;
    } else {
        qnet_weights_back(n, w.weights, w.scale, w.zero, weights);
        qnet_weights_back(n, w.bias, w.bias_scale, w.bias_zero, bias);
        snprintf(inputs, sizeof inputs, "%s %s %s", x.name, weights, bias);
        node = qnet_node(n, "Conv", inputs, x.name);
    }
    snprintf(pads, sizeof pads, "%d %d %d %d", side / 2, side / 2, side / 2, side / 2);
    ob_ints(n->b, node, "pads", pads);
    ob_int(n->b, node, "group", groups);
    x.channels = outputs;
    return x;
}

static inline qmap qnet_one(qnet *n, const char *op, qmap x)
{
    char inputs[64];
    snprintf(inputs, sizeof inputs, "%s", x.name);
    qnet_node(n, op, inputs, x.name);
    return x;
}

static inline qmap qnet_max_pool(qnet *n, qmap x)
{
    char inputs[64];
    snprintf(inputs, sizeof inputs, "%s", x.name);
    Onnx__NodeProto *node = qnet_node(n, "MaxPool", inputs, x.name);
    ob_ints(n->b, node, "kernel_shape", "2 2");
    ob_ints(n->b, node, "strides", "2 2");
    return x;
}

static inline qmap qnet_add(qnet *n, qmap x, qmap y)
{
    char inputs[96];
    snprintf(inputs, sizeof inputs, "%s %s", x.name, y.name);
    qnet_node(n, "Add", inputs, x.name);
    return x;
}

/* Ten classes from the result of a global pool, as floats. */
static inline qmap qnet_classes(qnet *n, qmap x)
{
    char inputs[128], weights[32], bias[32];
    x = qnet_one(n, "Flatten", x);
    const qweights w = qnet_weights(n, 10, x.channels, 1, x.in.scale);
    n->b->constants[n->b->graph.n_initializer - 6]->n_dims = 2;
    qnet_weights_back(n, w.weights, w.scale, w.zero, weights);
    qnet_weights_back(n, w.bias, w.bias_scale, w.bias_zero, bias);
    snprintf(inputs, sizeof inputs, "%s %s %s", x.name, weights, bias);
    ob_int(n->b, qnet_node(n, "Gemm", inputs, x.name), "transB", 1);
    return x;
}

static inline qnet qnet_begin(qmap *x, int side)
{
    const qnet n = {.b = ob_new(13), .random = 7};
    ob_input(n.b, "x", 3, side, side);
    *x = (qmap){.name = "x", .channels = 3};
    return n;
}

static inline onnx_builder *qnet_end(qnet *n, qmap x)
{
    ob_output(n->b, x.name);
    return n->b;
}

static const quantisation qnet_image = {1 / 127.f, 0, true}, qnet_s8 = {3 / 127.f, 0, true},
                          qnet_u8 = {3 / 255.f, 0, false}, qnet_odd = {5 / 255.f, 117, false};

/* For TensorRT: s8 around zero, with fused sums and nothing rounded between a convolution and what
 * is merged into it. */
static inline onnx_builder *symmetric_net(int side)
{
    qmap x;
    qnet n = qnet_begin(&x, side);
    x = qnet_quantise(&n, x, qnet_image);
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_conv(&n, x, 32, 3, 1, qnet_s8)), qnet_s8);
    const qmap skip = x;
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_conv(&n, x, 32, 3, 1, qnet_s8)), qnet_s8);
    x = qnet_add(&n, qnet_conv(&n, x, 32, 3, 1, qnet_s8), skip);
    x = qnet_quantise(&n, qnet_one(&n, "Relu", x), (quantisation){4 / 127.f, 0, true});
    x = qnet_one(&n, "Relu", qnet_conv(&n, qnet_max_pool(&n, x), 32, 3, 32, qnet_s8));
    x = qnet_quantise(&n, qnet_max_pool(&n, x), qnet_s8);
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_conv(&n, x, 64, 1, 1, qnet_s8)), qnet_s8);
    x = qnet_quantise(&n, qnet_one(&n, "GlobalAveragePool", x), qnet_s8);
    return qnet_end(&n, qnet_classes(&n, x));
}

/* As written by ONNX Runtime: u8 with zero points, around every operator. */
static inline onnx_builder *asymmetric_net(int side)
{
    qmap x;
    qnet n = qnet_begin(&x, side);
    x = qnet_quantise(&n, x, (quantisation){2 / 255.f, 120, false});
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_conv(&n, x, 32, 3, 1, qnet_u8)), qnet_u8);
    const qmap skip = x;
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_conv(&n, x, 32, 3, 1, qnet_u8)), qnet_u8);
    x = qnet_quantise(&n, qnet_conv(&n, x, 32, 3, 1, qnet_odd), qnet_odd);
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_add(&n, x, skip)), qnet_u8);
    x = qnet_quantise(&n, qnet_max_pool(&n, x), qnet_u8);
    x = qnet_quantise(&n, qnet_conv(&n, x, 64, 1, 1, qnet_odd), qnet_odd);
    x = qnet_quantise(&n, qnet_one(&n, "Relu", qnet_conv(&n, x, 64, 1, 1, qnet_u8)), qnet_u8);
    x = qnet_quantise(&n, qnet_one(&n, "GlobalAveragePool", x), qnet_u8);
    return qnet_end(&n, qnet_quantise(&n, qnet_classes(&n, x), qnet_odd));
}

/* QLinear operators, with a scale for each output; a maximum of integers. */
static inline onnx_builder *qlinear_net(int side)
{
    qmap x;
    qnet n = qnet_begin(&x, side);
    n.dense = true;
    x = qnet_quantise(&n, x, (quantisation){1 / 127.f, 128, false});
    x = qnet_conv(&n, x, 32, 3, 1, qnet_u8);
    x = qnet_conv(&n, x, 32, 3, 1, (quantisation){3 / 255.f, -128, true});
    x = qnet_max_pool(&n, x);
    x = qnet_conv(&n, x, 32, 3, 1, qnet_s8);
    return qnet_end(&n, qnet_dequantise(&n, x));
}

static inline onnx_builder *quantised_net(const char *name, int side)
{
    if (!strcmp(name, "symmetric"))
        return symmetric_net(side);
    if (!strcmp(name, "asymmetric"))
        return asymmetric_net(side);
    return strcmp(name, "qlinear") ? NULL : qlinear_net(side);
}

#endif
