// SPDX-License-Identifier: Apache-2.0
/* ResNet-18, ResNet-50 and MobileNetV2 as training frameworks export them: every convolution, batch
 * normalisation, activation and sum is a separate node.
 *
 * Weights are random, but a few are fitted to pictures of textures (textures.h), which pass through
 * the network while it is built. Batch normalisations get the mean and the variance of their input,
 * as after the first step of training. If there are no more classes than textures, the last layer
 * recognises them by the nearest mean of its input for each. Otherwise the classes have no
 * meaning. */
#ifndef MONA_TESTS_CLASSIFIERS_H
#define MONA_TESTS_CLASSIFIERS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/unit/onnx_builder.h"
#include "tests/unit/textures.h"

typedef enum net_activation { NET_LINEAR, NET_RELU, NET_RELU6 } net_activation;

enum {
    NET_PICTURES = 40,
    NET_SIDE = 64, /* of these pictures, whatever size the network takes */
};

/* The map that the next layer reads. */
typedef struct net {
    onnx_builder *b;
    uint32_t random;
    char x[32]; /* its name */
    int channels, layers;
    int side;    /* rows and columns of the pictures at this point */
    float *seen; /* the pictures, [channel][row][column][picture]; released with free() */
} net;

/* Uniform random numbers with this mean and standard deviation. */
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

/* A constant named after the layer; its name is appended to inputs. */
static inline void net_constant(net *n, char *inputs, const char *what, const char *dims,
                                const float *data)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", what, n->layers);
    ob_constant(n->b, name, dims, data);
    strcat(strcat(inputs, " "), name);
}

/* Adds a node that reads `inputs`, which may be n->x; its result becomes the current map. */
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

/* ---- what becomes of the pictures --------------------------------------------------------- */

static inline size_t net_pixels(const net *n)
{
    return (size_t)n->side * (size_t)n->side * NET_PICTURES;
}

static inline float *net_room(int channels, int side)
{
    float *room =
        calloc((size_t)channels * (size_t)side * (size_t)side, NET_PICTURES * sizeof *room);
    assert(room);
    return room;
}

static inline void net_replace(net *n, float *seen, int channels, int side)
{
    free(n->seen);
    n->seen = seen;
    n->channels = channels;
    n->side = side;
}

/* The contribution of one channel to one pixel through a part of a window of rows x columns. */
static inline void net_accumulate(const net *n, const float *weights, int channel, int kernel,
                                  int top, int left, float *sums)
{
    for (int i = 0; i < kernel * kernel; i++) {
        const int y = top + i / kernel, x = left + i % kernel;
        if (y < 0 || x < 0 || y >= n->side || x >= n->side)
            continue;
        const float *from =
            n->seen +
            (((size_t)channel * (size_t)n->side + (size_t)y) * (size_t)n->side + (size_t)x) *
                NET_PICTURES;
        for (int p = 0; p < NET_PICTURES; p++)
            sums[p] += weights[i] * from[p];
    }
}

static inline void net_see_conv(net *n, const float *weights, int channels, int kernel, int stride,
                                int groups)
{
    const int depth = n->channels / groups, side = (n->side - 1) / stride + 1;
    float *seen = net_room(channels, side), *sums = seen;
    for (int o = 0; o < channels; o++)
        for (int i = 0; i < side * side; i++, sums += NET_PICTURES)
            for (int c = 0; c < depth; c++)
                net_accumulate(n, weights + (o * depth + c) * kernel * kernel,
                               o / (channels / groups) * depth + c, kernel,
                               i / side * stride - kernel / 2, i % side * stride - kernel / 2,
                               sums);
    net_replace(n, seen, channels, side);
}

/* Maxima of 3x3 with a stride of 2. */
static inline void net_see_max_pool(net *n)
{
    const int side = (n->side - 1) / 2 + 1;
    float *seen = net_room(n->channels, side), *to = seen;
    for (int c = 0; c < n->channels; c++)
        for (int i = 0; i < side * side; i++, to += NET_PICTURES)
            for (int k = 0; k < 9; k++) {
                const int y = i / side * 2 - 1 + k / 3, x = i % side * 2 - 1 + k % 3;
                const size_t at =
                    ((size_t)c * (size_t)n->side + (size_t)y) * (size_t)n->side + (size_t)x;
                for (int p = 0; p < NET_PICTURES; p++)
                    if (y >= 0 && x >= 0 && y < n->side && x < n->side)
                        to[p] = fmaxf(to[p], n->seen[at * NET_PICTURES + (size_t)p]);
            }
    net_replace(n, seen, n->channels, side);
}

static inline void net_see_mean(net *n)
{
    float *seen = net_room(n->channels, 1);
    const size_t pixels = net_pixels(n);
    for (size_t i = 0; i < (size_t)n->channels * pixels; i++)
        seen[i / pixels * NET_PICTURES + i % NET_PICTURES] +=
            n->seen[i] / (float)(n->side * n->side);
    net_replace(n, seen, n->channels, 1);
}

static inline void net_see_batch_norm(net *n, int c, float scale, float shift, float *mean,
                                      float *variance)
{
    const size_t pixels = net_pixels(n);
    float *seen = n->seen + (size_t)c * pixels;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < pixels; i++)
        sum += (double)seen[i];
    *mean = (float)(sum / (double)pixels);
    for (size_t i = 0; i < pixels; i++)
        squares += ((double)seen[i] - (double)*mean) * ((double)seen[i] - (double)*mean);
    *variance = (float)(squares / (double)pixels);
    const float factor = scale / sqrtf(*variance + 1e-5f);
    for (size_t i = 0; i < pixels; i++)
        seen[i] = (seen[i] - *mean) * factor + shift;
}

/* ---- nodes -------------------------------------------------------------------------------- */

static inline void net_batch_norm(net *n, float gain)
{
    char inputs[160], dims[16];
    const size_t count = (size_t)n->channels;
    float *scale = net_numbers(n, count, gain, gain * 0.1f),
          *shift = net_numbers(n, count, gain, 0.1f);
    float *mean = ob_alloc(n->b, count * sizeof *mean);
    float *variance = ob_alloc(n->b, count * sizeof *variance);
    for (int c = 0; c < n->channels; c++)
        net_see_batch_norm(n, c, scale[c], shift[c], &mean[c], &variance[c]);
    snprintf(inputs, sizeof inputs, "%s", n->x);
    snprintf(dims, sizeof dims, "%d", n->channels);
    net_constant(n, inputs, "scale", dims, scale);
    net_constant(n, inputs, "shift", dims, shift);
    net_constant(n, inputs, "mean", dims, mean);
    net_constant(n, inputs, "variance", dims, variance);
    net_node(n, "BatchNormalization", inputs);
}

static inline void net_activate(net *n, net_activation activation)
{
    char inputs[96];
    snprintf(inputs, sizeof inputs, activation == NET_RELU6 ? "%s zero six" : "%s", n->x);
    if (!activation)
        return;
    net_node(n, activation == NET_RELU6 ? "Clip" : "Relu", inputs);
    for (size_t i = 0; i < (size_t)n->channels * net_pixels(n); i++)
        n->seen[i] = fmaxf(0, activation == NET_RELU6 ? fminf(n->seen[i], 6) : n->seen[i]);
}

static inline void net_conv(net *n, int channels, int kernel, int stride, int groups, float gain,
                            net_activation activation)
{
    char inputs[96], dims[64];
    const int depth = n->channels / groups, fan_in = depth * kernel * kernel;
    const float deviation = 1 / sqrtf((float)fan_in);
    snprintf(inputs, sizeof inputs, "%s", n->x);
    snprintf(dims, sizeof dims, "%d %d %d %d", channels, depth, kernel, kernel);
    float *weights =
        net_numbers(n, (size_t)channels * (size_t)fan_in, depth == 1 ? deviation : 0, deviation);
    net_constant(n, inputs, "weight", dims, weights);
    Onnx__NodeProto *node = net_node(n, "Conv", inputs);
    net_pair(n, node, "kernel_shape", kernel);
    net_pair(n, node, "strides", stride);
    net_pads(n, node, kernel / 2);
    ob_int(n->b, node, "group", groups);
    net_see_conv(n, weights, channels, kernel, stride, groups);
    net_batch_norm(n, gain);
    net_activate(n, activation);
}

/* A second reference to the same map, for a branch. */
static inline net net_fork(const net *n)
{
    net fork = *n;
    fork.seen = net_room(n->channels, n->side);
    memcpy(fork.seen, n->seen, (size_t)n->channels * net_pixels(n) * sizeof *n->seen);
    return fork;
}

/* Adds another map, which is then released, to the current one. */
static inline void net_add(net *n, net *other)
{
    char inputs[96];
    snprintf(inputs, sizeof inputs, "%s %s", n->x, other->x);
    net_node(n, "Add", inputs);
    for (size_t i = 0; i < (size_t)n->channels * net_pixels(n); i++)
        n->seen[i] += other->seen[i];
    free(other->seen);
}

/* The operand for a residual branch: the map before it, projected if the sides differ. */
static inline void net_skip(net *n, net *before, int channels, int stride)
{
    before->layers = n->layers;
    before->random = n->random;
    if (stride != 1 || before->channels != channels)
        net_conv(before, channels, 1, stride, 1, 0.7f, NET_LINEAR);
    n->layers = before->layers;
    n->random = before->random;
    net_add(n, before);
}

/* width: channels of the 3x3 convolutions; deep: three convolutions instead of two. */
static inline void net_residual(net *n, int width, int stride, bool deep)
{
    net before = net_fork(n);
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
    net before = net_fork(n);
    if (expand > 1)
        net_conv(n, n->channels * expand, 1, 1, 1, 1, NET_RELU6);
    net_conv(n, n->channels, 3, stride, n->channels, 1, NET_RELU6);
    net_conv(n, channels, 1, 1, 1, 0.7f, NET_LINEAR);
    if (stride == 1 && before.channels == channels)
        net_add(n, &before);
    else
        free(before.seen);
}

/* Picture p shows texture p % TEXTURES. */
static inline void net_see_textures(net *n)
{
    static float picture[3 * NET_SIDE * NET_SIDE];
    uint32_t random = 7;
    n->seen = net_room(n->channels, n->side);
    for (int p = 0; p < NET_PICTURES; p++) {
        texture_draw(picture, NET_SIDE, (unsigned)p % TEXTURES, &random);
        for (size_t i = 0; i < sizeof picture / sizeof *picture; i++)
            n->seen[i * NET_PICTURES + (size_t)p] = picture[i];
    }
}

static inline net net_begin(const char *name, int side)
{
    const float zero = 0, six = 6;
    net n = {.b = ob_new(13), .random = 1, .x = "image", .channels = 3, .side = NET_SIDE};
    net_see_textures(&n);
    n.b->graph.name = ob_text(n.b, name);
    ob_input(n.b, "image", 3, side, side);
    ob_constant(n.b, "zero", "", &zero);
    ob_constant(n.b, "six", "", &six);
    return n;
}

/* The mean of each channel of the pictures of one texture, or of all if it is -1. */
static inline void net_mean_of(const net *n, int texture, float *mean)
{
    for (int c = 0; c < n->channels; c++) {
        int count = 0;
        mean[c] = 0;
        for (int p = 0; p < NET_PICTURES; p++)
            if (texture < 0 || p % TEXTURES == texture) {
                mean[c] += n->seen[c * NET_PICTURES + p];
                count++;
            }
        mean[c] /= (float)count;
    }
}

/* Scores that are highest for the class with the nearest mean m: the part of -|x - m|^2 / 2 that
 * differs between classes, m x - |m|^2 / 2, with the overall mean as origin. */
static inline void net_nearest(const net *n, int classes, const float *centre, float *weights,
                               float *bias)
{
    for (int k = 0; k < classes; k++) {
        float *mean = weights + k * n->channels;
        net_mean_of(n, k, mean);
        bias[k] = 0;
        for (int c = 0; c < n->channels; c++) {
            mean[c] -= centre[c];
            bias[k] -= mean[c] * (centre[c] + mean[c] / 2);
        }
    }
}

static inline onnx_builder *net_end(net *n, int classes)
{
    char inputs[96], dims[32];
    net_node(n, "GlobalAveragePool", n->x);
    net_see_mean(n);
    net_node(n, "Flatten", n->x);
    float *weights =
        net_numbers(n, (size_t)classes * (size_t)n->channels, 0, 4 / sqrtf((float)n->channels));
    float *bias = net_numbers(n, (size_t)classes, 0, 0.1f),
          *centre = net_numbers(n, (size_t)n->channels, 0, 0);
    net_mean_of(n, -1, centre);
    if (classes <= TEXTURES && !getenv("RANDOM_HEAD"))
        net_nearest(n, classes, centre, weights, bias);
    else
        for (int k = 0; k < classes; k++) {
            bias[k] = 0;
            for (int c = 0; c < n->channels; c++)
                bias[k] -= weights[k * n->channels + c] * centre[c];
        }
    snprintf(inputs, sizeof inputs, "%s", n->x);
    snprintf(dims, sizeof dims, "%d %d", classes, n->channels);
    net_constant(n, inputs, "weight", dims, weights);
    snprintf(dims, sizeof dims, "%d", classes);
    net_constant(n, inputs, "bias", dims, bias);
    ob_int(n->b, ob_node(n->b, "Gemm", inputs, "classes"), "transB", 1);
    ob_output(n->b, "classes");
    free(n->seen);
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
    net_see_max_pool(&n);
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

/* NULL: there is no network with this name. */
static inline onnx_builder *classifier(const char *name, int side, int classes)
{
    return !strcmp(name, "resnet18")       ? resnet(side, classes, false)
           : !strcmp(name, "resnet50")     ? resnet(side, classes, true)
           : !strcmp(name, "mobilenet_v2") ? mobilenet_v2(side, classes)
                                           : NULL;
}

#endif
