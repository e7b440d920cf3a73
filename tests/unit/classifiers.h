/* ResNet-18, ResNet-50 and MobileNetV2 as training frameworks export them: every convolution, batch
 * normalisation, activation and sum is a node of its own. Weights are random, and scaled so that
 * values stay about 1 through all layers: the classes mean nothing. */
#ifndef MONA_TESTS_CLASSIFIERS_H
#define MONA_TESTS_CLASSIFIERS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "onnx_builder.h"

typedef enum net_activation { NET_LINEAR, NET_RELU, NET_RELU6 } net_activation;

/* The map that the next layer reads. */
typedef struct net {
    onnx_builder *b;
    uint32_t random;
    char x[32]; /* its name */
    int channels, layers;
} net;

/* Uniform, with this mean and standard deviation. */
static inline float *net_numbers(net *n, size_t count, float mean, float deviation)
{
    float *data = ob_alloc(n->b, count * sizeof *data);
    for (size_t i = 0; i < count; i++) {
        n->random = n->random * 1664525 + 1013904223;
        const float even = (float)(n->random >> 8) / (1 << 23) - 1; /* variance 1/3 */
        data[i] = mean + even * deviation * sqrtf(3);
    }
    return data;
}

/* A constant called after the layer, whose name is appended to inputs. */
static inline void net_constant(net *n, char *inputs, const char *what, const char *dims,
                                const float *data)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", what, n->layers);
    ob_constant(n->b, name, dims, data);
    strcat(strcat(inputs, " "), name);
}

/* Adds a node that reads `inputs`, which may be n->x, and becomes the current map. */
static inline Onnx__NodeProto *net_node(net *n, const char *op_type, const char *inputs)
{
    char name[sizeof n->x];
    snprintf(name, sizeof name, "%s_%d", op_type, n->layers++);
    Onnx__NodeProto *node = ob_node(n->b, op_type, inputs, name);
    strcpy(n->x, name);
    return node;
}

static inline void net_pair(net *n, Onnx__NodeProto *node, const char *name, int value)
{
    char list[32];
    snprintf(list, sizeof list, "%d %d", value, value);
    ob_ints(n->b, node, name, list);
}

static inline void net_pads(net *n, Onnx__NodeProto *node, int pad)
{
    char list[64];
    snprintf(list, sizeof list, "%d %d %d %d", pad, pad, pad, pad);
    ob_ints(n->b, node, "pads", list);
}

/* The variance is what random weights make of inputs whose mean square is a half. */
static inline void net_batch_norm(net *n, float gain)
{
    char inputs[160], dims[16];
    const size_t count = (size_t)n->channels;
    snprintf(inputs, sizeof inputs, "%s", n->x);
    snprintf(dims, sizeof dims, "%d", n->channels);
    net_constant(n, inputs, "scale", dims, net_numbers(n, count, gain, gain * 0.1f));
    net_constant(n, inputs, "shift", dims, net_numbers(n, count, 0, 0.1f));
    net_constant(n, inputs, "mean", dims, net_numbers(n, count, 0, 0.1f));
    net_constant(n, inputs, "variance", dims, net_numbers(n, count, 0.5f, 0.05f));
    net_node(n, "BatchNormalization", inputs);
}

static inline void net_activate(net *n, net_activation activation)
{
    char inputs[96];
    snprintf(inputs, sizeof inputs, activation == NET_RELU6 ? "%s zero six" : "%s", n->x);
    if (activation)
        net_node(n, activation == NET_RELU6 ? "Clip" : "Relu", inputs);
}

static inline void net_conv(net *n, int channels, int kernel, int stride, int groups, float gain,
                            net_activation activation)
{
    char inputs[96], dims[64];
    const int depth = n->channels / groups, fan_in = depth * kernel * kernel;
    snprintf(inputs, sizeof inputs, "%s", n->x);
    snprintf(dims, sizeof dims, "%d %d %d %d", channels, depth, kernel, kernel);
    net_constant(n, inputs, "weight", dims,
                 net_numbers(n, (size_t)channels * (size_t)fan_in, 0, 1 / sqrtf((float)fan_in)));
    Onnx__NodeProto *node = net_node(n, "Conv", inputs);
    net_pair(n, node, "kernel_shape", kernel);
    net_pair(n, node, "strides", stride);
    net_pads(n, node, kernel / 2);
    ob_int(n->b, node, "group", groups);
    n->channels = channels;
    net_batch_norm(n, gain);
    net_activate(n, activation);
}

/* The current map becomes its sum with another. */
static inline void net_add(net *n, const char *other)
{
    char inputs[96];
    snprintf(inputs, sizeof inputs, "%s %s", n->x, other);
    net_node(n, "Add", inputs);
}

/* What a residual branch adds to: the map before it, projected where the sides differ. */
static inline void net_skip(net *n, const net *before, int channels, int stride)
{
    net skip = *n;
    strcpy(skip.x, before->x);
    skip.channels = before->channels;
    if (stride != 1 || before->channels != channels)
        net_conv(&skip, channels, 1, stride, 1, 0.7f, NET_LINEAR);
    n->layers = skip.layers;
    n->random = skip.random;
    net_add(n, skip.x);
}

/* width: channels of the 3x3 convolutions; deep: three convolutions in place of two. */
static inline void net_residual(net *n, int width, int stride, bool deep)
{
    const net before = *n;
    const int channels = deep ? 4 * width : width;
    if (deep)
        net_conv(n, width, 1, 1, 1, 1, NET_RELU);
    net_conv(n, width, 3, stride, 1, 1, NET_RELU);
    net_conv(n, channels, deep ? 1 : 3, 1, 1, 0.3f, NET_LINEAR);
    net_skip(n, &before, channels, stride);
    net_activate(n, NET_RELU);
}

static inline void net_inverted(net *n, int channels, int expand, int stride)
{
    const net before = *n;
    if (expand > 1)
        net_conv(n, n->channels * expand, 1, 1, 1, 1, NET_RELU6);
    net_conv(n, n->channels, 3, stride, n->channels, 1, NET_RELU6);
    net_conv(n, channels, 1, 1, 1, 0.7f, NET_LINEAR);
    if (stride == 1 && before.channels == channels)
        net_add(n, before.x);
}

static inline net net_begin(const char *name, int side)
{
    const float zero = 0, six = 6;
    net n = {.b = ob_new(13), .random = 1, .x = "image", .channels = 3};
    n.b->graph.name = ob_text(n.b, name);
    ob_input(n.b, "image", 3, side, side);
    ob_constant(n.b, "zero", "", &zero);
    ob_constant(n.b, "six", "", &six);
    return n;
}

static inline onnx_builder *net_end(net *n, int classes)
{
    char inputs[96], dims[32];
    net_node(n, "GlobalAveragePool", n->x);
    net_node(n, "Flatten", n->x);
    snprintf(inputs, sizeof inputs, "%s", n->x);
    snprintf(dims, sizeof dims, "%d %d", classes, n->channels);
    net_constant(
        n, inputs, "weight", dims,
        net_numbers(n, (size_t)classes * (size_t)n->channels, 0, 4 / sqrtf((float)n->channels)));
    snprintf(dims, sizeof dims, "%d", classes);
    net_constant(n, inputs, "bias", dims, net_numbers(n, (size_t)classes, 0, 0.1f));
    ob_int(n->b, ob_node(n->b, "Gemm", inputs, "classes"), "transB", 1);
    ob_output(n->b, "classes");
    return n->b;
}

static inline onnx_builder *resnet(int side, int classes, bool deep)
{
    static const int blocks[2][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
    net n = net_begin(deep ? "resnet50" : "resnet18", side);
    net_conv(&n, 64, 7, 2, 1, 1, NET_RELU);
    Onnx__NodeProto *pool = net_node(&n, "MaxPool", n.x);
    net_pair(&n, pool, "kernel_shape", 3);
    net_pair(&n, pool, "strides", 2);
    net_pads(&n, pool, 1);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[deep][stage]; i++)
            net_residual(&n, 64 << stage, stage && !i ? 2 : 1, deep);
    return net_end(&n, classes);
}

static inline onnx_builder *mobilenet_v2(int side, int classes)
{
    static const int stages[7][4] = {/* expansion, channels, blocks, stride of the first */
                                     {1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                     {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    net n = net_begin("mobilenet_v2", side);
    net_conv(&n, 32, 3, 2, 1, 1, NET_RELU6);
    for (int s = 0; s < 7; s++)
        for (int i = 0; i < stages[s][2]; i++)
            net_inverted(&n, stages[s][1], stages[s][0], i ? 1 : stages[s][3]);
    net_conv(&n, 1280, 1, 1, 1, 1, NET_RELU6);
    return net_end(&n, classes);
}

/* NULL: no network of this name. */
static inline onnx_builder *classifier(const char *name, int side, int classes)
{
    return !strcmp(name, "resnet18")       ? resnet(side, classes, false)
           : !strcmp(name, "resnet50")     ? resnet(side, classes, true)
           : !strcmp(name, "mobilenet_v2") ? mobilenet_v2(side, classes)
                                           : NULL;
}

#endif
