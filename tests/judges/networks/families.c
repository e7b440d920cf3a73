// SPDX-License-Identifier: Apache-2.0
/* Networks as people train them, small, with everything that varies at random, and in the forms in
 * which exporters write them. */
#include "tests/judges/networks/net.h"

#include <stdlib.h>
#include <string.h>

static int add(net *n, int a, int b)
{
    return once_in(n, 2) ? net_binary(n, "Add", a, b) : net_binary(n, "Add", b, a);
}

static int image(net *n, int64_t channels, int h, int w)
{
    return net_input(n, shape_make(n->type, 4, n->batch, (int)channels, h, w));
}

/* Convolution, norm and activation; the last two may be missing. */
static int layer(net *n, int x, int64_t outputs, int64_t kernel, int64_t stride)
{
    window w = window_same(kernel);
    w.stride[0] = w.stride[1] = stride;
    w.bias = !once_in(n, 3);
    w.automatic = once_in(n, 6) ? "SAME_UPPER" : NULL; /* as TensorFlow's exporters write it */
    if (once_in(n, 5) && shape_of(n, x).dims[1] == outputs)
        w.groups = outputs;
    int y = net_conv(n, x, outputs, w);
    if (once_in(n, 3))
        y = net_norm_random(n, y);
    return once_in(n, 5) ? y : net_activation(n, y);
}

static int residual(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    int y = layer(n, x, c, 3, 1);
    y = net_conv_same(n, y, c, 3);
    if (once_in(n, 3))
        y = net_binary(n, "Mul", y, net_float(n, 0.2));
    y = add(n, x, y);
    return once_in(n, 2) ? net_activation(n, y) : y;
}

/* Squeeze and excitation, and its spatial kin. */
static int attend_channels(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1], axes[2] = {2, 3};
    int g;
    if (once_in(n, 2)) {
        shape pooled = shape_of(n, x);
        pooled.dims[2] = pooled.dims[3] = 1;
        g = AS_NODE(n, "GlobalAveragePool", pooled, x);
    } else {
        g = net_reduce(n, "ReduceMean", x, axes, 2, true);
    }
    g = net_unary(n, "Relu", net_conv_same(n, g, 1 + c / 4, 1));
    g = net_unary(n, once_in(n, 2) ? "Sigmoid" : "HardSigmoid", net_conv_same(n, g, c, 1));
    return net_binary(n, "Mul", x, g);
}

static int attend_pixels(net *n, int x)
{
    const int mean = net_reduce(n, "ReduceMean", x, (int64_t[]){1}, 1, true);
    const int max = net_reduce(n, "ReduceMax", x, (int64_t[]){1}, 1, true);
    const int both = net_concat(n, 1, 2, (int[]){mean, max});
    return net_binary(n, "Mul", x, net_unary(n, "Sigmoid", net_conv_same(n, both, 1, 7)));
}

/* As in MobileNet. */
static int inverted(net *n, int x, int64_t outputs, int64_t stride)
{
    const int64_t c = shape_of(n, x).dims[1], wide = c * 2;
    window w = window_same(ONE_OF(n, int64_t, 3, 3, 5));
    w.groups = wide;
    w.stride[0] = w.stride[1] = stride;
    int y = net_activation(n, net_conv_same(n, x, wide, 1));
    y = net_activation(n, net_conv(n, y, wide, w));
    if (once_in(n, 3))
        y = attend_channels(n, y);
    y = net_conv_same(n, y, outputs, 1);
    return stride == 1 && outputs == c ? add(n, x, y) : y;
}

/* As in ConvNeXt. */
static int next_block(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    window w = window_same(7);
    w.groups = c;
    int y = net_conv(n, x, c, w);
    y = net_transpose(n, y, (int64_t[]){0, 2, 3, 1});
    y = net_layer_norm(n, y);
    y = net_linear(n, y, 2 * c, true);
    y = net_linear(n, net_gelu(n, y), c, true);
    y = net_binary(n, "Mul", y, net_floats(n, shape_make(n->type, 1, (int)c), 0.5, 0.3));
    return add(n, x, net_transpose(n, y, (int64_t[]){0, 3, 1, 2}));
}

static int dense_block(net *n, int x)
{
    int parts[3] = {x};
    const int64_t c = shape_of(n, x).dims[1];
    for (int i = 1; i < 3; i++)
        parts[i] = layer(n, i == 1 ? x : net_concat(n, 1, i, parts), c, 3, 1);
    const int all = net_concat(n, once_in(n, 3) ? -3 : 1, 3, parts);
    return net_conv_same(n, all, c, 1);
}

/* As in YOLO: halves go different ways. */
static int cross_stage(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    int parts[3];
    if (c < 2 || !net_split(n, x, 1, 2, (int64_t[]){c / 2, c - c / 2}, parts))
        return x;
    parts[2] = layer(n, parts[1], c - c / 2, 3, 1);
    return layer(n, net_concat(n, 1, 3, parts), c, 1, 1);
}

static int block(net *n, int x)
{
    switch (pick(n, 11)) {
    case 0:
        return residual(n, x);
    case 1:
        return attend_channels(n, x);
    case 2:
        return n->open ? residual(n, x) : next_block(n, x);
    case 3:
        return dense_block(n, x);
    case 4:
        return inverted(n, x, shape_of(n, x).dims[1], 1);
    case 5:
        return cross_stage(n, x);
    case 6:
        return attend_pixels(n, x);
    case 7: {
        const int y = net_shuffle_channels(n, x, 2);
        return y == NONE ? x : y;
    }
    default:
        return layer(n, x, shape_of(n, x).dims[1], ONE_OF(n, int64_t, 1, 3, 3, 3, 5), 1);
    }
}

static int blocks(net *n, int x, int count)
{
    for (int i = 0; i < count; i++) {
        const int y = block(n, x);
        x = y == NONE ? x : y;
    }
    return x;
}

static int64_t some_channels(net *n)
{
    return ONE_OF(n, int64_t, 4, 6, 8, 8, 12, 16, 16, 20, 24, 32);
}

/* ---- super-resolution and denoising ------------------------------------------------------- */

static int enlarge(net *n, int x, int64_t channels, int64_t scale)
{
    const int64_t made = channels * scale * scale;
    switch (pick(n, 6)) {
    case 0:
        return net_conv_same(n, net_resize(n, x, (double)scale, (double)scale), channels, 3);
    case 1: {
        window w = window_same(scale * 2);
        w.stride[0] = w.stride[1] = scale;
        for (int i = 0; i < 4; i++)
            w.pads[i] = scale / 2;
        return net_deconv(n, x, channels, w,
                          (int64_t[]){scale % 2 ? scale - 2 : 0, scale % 2 ? scale - 2 : 0});
    }
    case 2: /* something between the convolution and the rearrangement */
        return net_depth_to_space(n, net_activation(n, net_conv_same(n, x, made, 3)), scale,
                                  once_in(n, 2));
    default:
        return net_depth_to_space(n, net_conv_same(n, x, made, 3), scale, once_in(n, 2));
    }
}

static void super_resolution(net *n)
{
    const int64_t in = ONE_OF(n, int64_t, 1, 3, 3), scale = ONE_OF(n, int64_t, 2, 2, 3, 4);
    n->open = once_in(n, 4);
    const int x = image(n, in, 6 + (int)pick(n, 14), 6 + (int)pick(n, 14));
    const int first = layer(n, x, some_channels(n), 3, 1);
    int y = blocks(n, first, 1 + (int)pick(n, 3));
    if (once_in(n, 2))
        y = add(n, y, first);
    y = enlarge(n, y, in, scale);
    if (once_in(n, 2))
        y = add(n, y, net_resize(n, x, (double)scale, (double)scale));
    else if (once_in(n, 3) && !n->open) { /* as ABPN: the anchor is repeated, then rearranged */
        int copies[16];
        for (int64_t i = 0; i < scale * scale; i++)
            copies[i] = x;
        const int anchor = net_concat(n, 1, (int)(scale * scale), copies);
        const int made = net_conv_same(n, first, in * scale * scale, 3);
        y = net_depth_to_space(n, add(n, made, anchor), scale, true);
    }
    if (once_in(n, 3) && y != NONE)
        y = n->opset < 11 ? y
                          : AS_NODE(n, "Clip", shape_of(n, y), y, net_float(n, 0), net_float(n, 1));
    net_output(n, y);
}

static void unshuffled(net *n)
{
    const int64_t in = ONE_OF(n, int64_t, 1, 3, 4), scale = 2;
    n->open = once_in(n, 4);
    const int x = image(n, in, 2 * (3 + (int)pick(n, 7)), 2 * (3 + (int)pick(n, 7)));
    int y = net_space_to_depth(n, x, scale);
    if (once_in(n, 4)) /* beside a map of noise */
        y = net_concat(
            n, 1, 2,
            (int[]){y, image(n, 1, (int)shape_of(n, y).dims[2], (int)shape_of(n, y).dims[3])});
    y = layer(n, y, some_channels(n), 3, 1);
    y = blocks(n, y, (int)pick(n, 3));
    y = net_conv_same(n, y, in * scale * scale, 3);
    y = net_depth_to_space(n, y, scale, once_in(n, 3));
    net_output(n, once_in(n, 3) ? y : once_in(n, 2) ? add(n, x, y) : net_binary(n, "Sub", x, y));
}

static int down(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    shape half = shape_of(n, x);
    half.dims[2] /= 2, half.dims[3] /= 2;
    switch (pick(n, 3)) {
    case 0:
        return layer(n, x, c * 2, 3, 2);
    default: {
        const int y = AS_NODE(n, once_in(n, 3) ? "AveragePool" : "MaxPool", half, x);
        if (y == NONE)
            return NONE;
        set_ints(n, "kernel_shape", (int64_t[]){2, 2}, 2);
        set_ints(n, "strides", (int64_t[]){2, 2}, 2);
        return layer(n, y, c * 2, 3, 1);
    }
    }
}

static int up(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    window w = {.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .groups = 1, .bias = true};
    return once_in(n, 2) ? net_resize(n, x, 2, 2) : net_deconv(n, x, c / 2, w, (int64_t[]){0, 0});
}

static void u_net(net *n)
{
    n->open = once_in(n, 4);
    const int depth = 1 + (int)pick(n, 2), multiple = 1 << depth;
    int skips[3];
    const int x = image(n, ONE_OF(n, int64_t, 1, 3), multiple * (2 + (int)pick(n, 4)),
                        multiple * (2 + (int)pick(n, 4)));
    int y = layer(n, x, ONE_OF(n, int64_t, 4, 8, 8, 16), 3, 1);
    for (int i = 0; i < depth; i++) {
        skips[i] = y = blocks(n, y, (int)pick(n, 2));
        y = down(n, y);
    }
    y = blocks(n, y, (int)pick(n, 2));
    for (int i = depth - 1; i >= 0 && y != NONE; i--) {
        y = up(n, y);
        if (y == NONE)
            break;
        if (!n->open && once_in(n, 5))
            y = net_pad_random(n, y);
        const shape s = shape_of(n, y), to = shape_of(n, skips[i]);
        if (s.dims[2] != to.dims[2] || s.dims[3] != to.dims[3])
            y = net_slice(n, net_slice(n, y, 2, 0, to.dims[2], 1), 3, 0, to.dims[3], 1);
        const int joined = once_in(n, 4) && s.dims[1] == to.dims[1]
                               ? add(n, y, skips[i])
                               : net_concat(n, 1, 2, (int[]){y, skips[i]});
        y = layer(n, joined == NONE ? y : joined, to.dims[1], 3, 1);
    }
    y = net_conv_same(n, y, shape_of(n, x).dims[1], ONE_OF(n, int64_t, 1, 3));
    if (once_in(n, 2))
        y = add(n, x, y);
    else if (once_in(n, 2))
        y = net_unary(n, "Sigmoid", y);
    net_output(n, y);
}

/* ---- classifiers and detectors ------------------------------------------------------------ */

/* each: the result of each stage; those that are refused pass x on. */
static int stages(net *n, int x, int count, int *each)
{
    for (int k = 0; k < count; k++)
        each[k] = x;
    for (int i = 0; i < count; i++) {
        const int64_t c = shape_of(n, x).dims[1];
        int y = once_in(n, 3) ? inverted(n, x, c + 4, 2) : layer(n, x, c + 4, 3, 2);
        y = blocks(n, y, (int)pick(n, 3));
        if (y == NONE)
            return x;
        x = y;
        for (int k = i; k < count; k++)
            each[k] = x;
    }
    return x;
}

static int normalised(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    const shape each = shape_make(n->type, 4, 1, (int)c, 1, 1);
    if (!once_in(n, 3))
        return x;
    const int centred = net_binary(n, "Sub", x, net_floats(n, each, 0.5, 0.1));
    return net_binary(n, "Div", centred, net_floats(n, each, 0.25, 0.05));
}

static void classifier(net *n)
{
    int each[3];
    const int x = image(n, ONE_OF(n, int64_t, 1, 3), 12 + (int)pick(n, 20), 12 + (int)pick(n, 20));
    int y =
        layer(n, normalised(n, x), ONE_OF(n, int64_t, 8, 12, 16), ONE_OF(n, int64_t, 3, 5, 7), 1);
    y = stages(n, y, 1 + (int)pick(n, 3), each);
    if (once_in(n, 4))
        net_output(n, y);
    if (once_in(n, 3)) {
        y = net_reduce(n, "ReduceMean", y, (int64_t[]){2, 3}, 2, false);
    } else if (once_in(n, 4)) {
        y = net_flatten(n, y);
    } else {
        shape pooled = shape_of(n, y);
        pooled.dims[2] = pooled.dims[3] = 1;
        y = AS_NODE(n, once_in(n, 5) ? "GlobalMaxPool" : "GlobalAveragePool", pooled, y);
        y = once_in(n, 3) ? net_squeeze(n, y, false, (int64_t[]){2, 3}, 2) : net_flatten(n, y);
    }
    const int64_t classes = 5 + (int64_t)pick(n, 20);
    if (once_in(n, 3))
        y = net_activation(n, once_in(n, 2) ? net_gemm(n, y, 16) : net_linear(n, y, 16, true));
    const int scores = once_in(n, 2) ? net_gemm(n, y, classes) : net_linear(n, y, classes, true);
    net_output(n, once_in(n, 2) ? net_softmax(n, scores, 1) : scores);
}

/* Boxes and classes of one scale: [1, pixels, 4 + classes]. */
static int head(net *n, int x, int64_t classes)
{
    const int64_t per = 4 + classes;
    int y = layer(n, x, shape_of(n, x).dims[1], 3, 1);
    y = net_conv_same(n, y, per, 1);
    if (y == NONE)
        return NONE;
    const shape s = shape_of(n, y);
    if (once_in(n, 2)) { /* channels last, then flat */
        y = net_transpose(n, y, (int64_t[]){0, 2, 3, 1});
        return net_reshape(n, y, 3, (int64_t[]){s.dims[0], -1, per});
    }
    y = net_reshape(n, y, 3, (int64_t[]){s.dims[0], per, s.dims[2] * s.dims[3]});
    return net_transpose(n, y, (int64_t[]){0, 2, 1});
}

static void detector(net *n)
{
    int each[3], heads[3], count = 0;
    const int64_t classes = 1 + (int64_t)pick(n, 6);
    const int x = image(n, 3, 8 * (2 + (int)pick(n, 3)), 8 * (2 + (int)pick(n, 3)));
    int y = layer(n, normalised(n, x), 8, 3, 1);
    y = stages(n, y, 3, each);
    int above = NONE;
    for (int i = 2; i >= 1; i--) {
        int here = net_conv_same(n, each[i], 8, 1);
        if (above != NONE) {
            const int larger = net_resize(n, above, 2, 2);
            const shape a = shape_of(n, larger), b = shape_of(n, here);
            if (shape_same(&a, &b))
                here = once_in(n, 2)
                           ? add(n, here, larger)
                           : net_conv_same(n, net_concat(n, 1, 2, (int[]){here, larger}), 8, 1);
        }
        above = here;
        const int h = head(n, here, classes);
        if (h != NONE)
            heads[count++] = h;
    }
    if (!count)
        return;
    const int all = net_concat(n, 1, count, heads);
    if (once_in(n, 3)) {
        for (int i = 0; i < count; i++)
            net_output(n, heads[i]);
        return;
    }
    const int boxes = net_slice(n, all, 2, 0, 4, 1),
              scores = net_slice(n, all, once_in(n, 2) ? 2 : -1, 4, INT64_MAX, 1);
    const int64_t cells = shape_of(n, all).dims[1];
    int xy = net_unary(n, "Sigmoid", net_slice(n, boxes, 2, 0, 2, 1));
    xy = net_binary(n, "Add", xy, net_floats(n, shape_make(n->type, 3, 1, (int)cells, 2), 4, 4));
    xy = net_binary(n, "Mul", xy, net_float(n, 8));
    const int wh = net_binary(
        n, "Mul", net_unary(n, "Exp", net_unary(n, "Tanh", net_slice(n, boxes, 2, 2, 4, 1))),
        net_floats(n, shape_make(n->type, 2, (int)cells, 2), 8, 4));
    const int made = net_unary(n, "Sigmoid", scores);
    if (once_in(n, 2)) {
        net_output(n, net_concat(n, 2, 3, (int[]){xy, wh, made}));
    } else {
        net_output(n, net_concat(n, -1, 2, (int[]){xy, wh}));
        net_output(n, made);
    }
}

/* ---- attention ---------------------------------------------------------------------------- */

/* [1, tokens, channels] */
static int self_attention(net *n, int x, int64_t heads)
{
    const shape s = shape_of(n, x);
    const int64_t tokens = s.dims[1], c = s.dims[2], each = c / heads;
    int q[3];
    if (once_in(n, 2)) {
        for (int i = 0; i < 3; i++) {
            const int made = net_linear(n, x, c, once_in(n, 2));
            q[i] = net_transpose(
                n, net_reshape(n, made, 4, (int64_t[]){s.dims[0], tokens, heads, each}),
                i == 1 ? (int64_t[]){0, 2, 3, 1} : (int64_t[]){0, 2, 1, 3});
        }
    } else { /* one product for the three, as timm has it */
        int all = net_linear(n, x, 3 * c, true);
        all = net_reshape(n, all, 5, (int64_t[]){s.dims[0], tokens, 3, heads, each});
        all = net_transpose(n, all, (int64_t[]){2, 0, 3, 1, 4});
        for (int i = 0; i < 3 && all != NONE; i++) {
            const shape one =
                shape_make(n->type, 4, (int)s.dims[0], (int)heads, (int)tokens, (int)each);
            q[i] = AS_NODE(n, "Gather", one, all, net_int(n, i));
            if (q[i] != NONE)
                set_int(n, "axis", 0);
        }
        q[1] = all == NONE ? NONE : net_transpose(n, q[1], (int64_t[]){0, 1, 3, 2});
    }
    const double scale = 1 / (0.5 + (double)each / 4);
    const bool before = once_in(n, 2);
    if (before)
        q[0] = net_binary(n, "Mul", q[0], net_float(n, scale));
    int scores = net_matmul(n, q[0], q[1]);
    if (!before)
        scores = once_in(n, 2) ? net_binary(n, "Mul", scores, net_float(n, scale))
                               : net_binary(n, "Div", scores, net_float(n, 1 / scale));
    if (once_in(n, 5))
        scores = net_binary(
            n, "Add", scores,
            net_floats(n, shape_make(n->type, 4, 1, (int)heads, (int)tokens, (int)tokens), 0, 1));
    if (scores == NONE)
        return x;
    const int weights = AS_NODE(n, "Softmax", shape_of(n, scores), scores);
    if (weights != NONE)
        set_int(n, "axis", once_in(n, 2) ? -1 : 3);
    int y = net_transpose(n, net_matmul(n, weights, q[2]), (int64_t[]){0, 2, 1, 3});
    y = net_linear(n, net_reshape(n, y, 3, (int64_t[]){s.dims[0], tokens, c}), c, true);
    return y == NONE ? x : add(n, x, y);
}

static void transformer(net *n)
{
    const int64_t c = ONE_OF(n, int64_t, 8, 12, 16, 24), patch = ONE_OF(n, int64_t, 1, 2, 4);
    int y;
    if (once_in(n, 5)) {
        y = net_input(n, shape_make(n->type, 3, n->batch, 2 + (int)pick(n, 16), (int)c));
    } else {
        window w = {.kernel = {patch, patch},
                    .stride = {patch, patch},
                    .dilation = {1, 1},
                    .groups = 1,
                    .bias = true};
        const int x =
            image(n, 3, (int)patch * (2 + (int)pick(n, 5)), (int)patch * (2 + (int)pick(n, 5)));
        y = net_conv(n, x, c, w);
        const shape s = shape_of(n, y);
        y = once_in(n, 2)
                ? net_reshape(n, y, 3, (int64_t[]){s.dims[0], c, -1})
                : net_reshape(n, y, 3, (int64_t[]){s.dims[0], s.dims[1], s.dims[2] * s.dims[3]});
        y = net_transpose(n, y, (int64_t[]){0, 2, 1});
        if (once_in(n, 2))
            y = net_concat(
                n, 1, 2,
                (int[]){net_floats(n, shape_make(n->type, 3, n->batch, 1, (int)c), 0, 1), y});
        if (once_in(n, 2) && y != NONE)
            y = add(n, y,
                    net_floats(n, shape_make(n->type, 3, 1, (int)shape_of(n, y).dims[1], (int)c), 0,
                               0.5));
    }
    for (uint32_t i = 1 + pick(n, 2); i-- > 0 && y != NONE;) {
        if (once_in(n, 2)) {
            y = self_attention(n, net_layer_norm(n, y), ONE_OF(n, int64_t, 1, 2, 4));
        } else {
            y = net_layer_norm(n, self_attention(n, y, 2));
        }
        int wide = net_linear(n, net_layer_norm(n, y), 2 * c, true);
        wide = once_in(n, 2) ? net_gelu(n, wide) : net_activation(n, wide);
        const int made = net_linear(n, wide, c, true);
        y = made == NONE ? y : add(n, y, made);
    }
    if (once_in(n, 2) && y != NONE) {
        y = once_in(n, 2) ? net_reduce(n, "ReduceMean", y, (int64_t[]){1}, 1, false)
                          : net_squeeze(n, net_slice(n, y, 1, 0, 1, 1), false, (int64_t[]){1}, 1);
        y = net_gemm(n, y, 5);
    }
    net_output(n, y);
}

/* ---- channels last ------------------------------------------------------------------------ */

/* As tf2onnx writes TensorFlow's networks: channels last outside, Transposes around what must have
 * them first. */
static void channels_last(net *n)
{
    const int64_t first[4] = {0, 3, 1, 2}, last[4] = {0, 2, 3, 1};
    const int c = ONE_OF(n, int, 1, 3, 3, 4);
    const int x = net_input(
        n, shape_make(n->type, 4, n->batch, 6 + (int)pick(n, 14), 6 + (int)pick(n, 14), c));
    int y = net_transpose(n, x, first);
    for (uint32_t i = 1 + pick(n, 3); i-- > 0 && y != NONE;) {
        const int z = once_in(n, 3) ? net_conv_random(n, y)
                                    : layer(n, y, some_channels(n), 3, ONE_OF(n, int64_t, 1, 1, 2));
        y = z == NONE ? y : z;
        if (once_in(n, 2)) {
            int t = net_transpose(n, y, last);
            t = net_binary(
                n, "Add", t,
                net_floats(n, shape_make(n->type, 1, (int)shape_of(n, y).dims[1]), 0, 0.5));
            t = once_in(n, 2) ? net_activation(n, t) : t;
            if (once_in(n, 3) && t != NONE)
                t = net_concat(n, once_in(n, 2) ? 3 : -1, 2, (int[]){t, net_unary(n, "Neg", t)});
            y = net_transpose(n, t, first);
        }
    }
    if (once_in(n, 3) && y != NONE && shape_of(n, y).dims[1] % 4 == 0)
        y = net_depth_to_space(n, y, 2, true);
    if (once_in(n, 4)) {
        y = net_reduce(n, "ReduceMean", net_transpose(n, y, last), (int64_t[]){1, 2}, 2,
                       once_in(n, 2));
        net_output(n, y);
        return;
    }
    net_output(n, once_in(n, 4) ? y : net_transpose(n, y, last));
}

/* Other types outside than inside. */
static void converted(net *n)
{
    const int type = ONE_OF(n, int, T_U8, T_U8, T_S32, T_HALF);
    const int x =
        net_input(n, shape_make(type, 4, 1, 3, 6 + (int)pick(n, 10), 6 + (int)pick(n, 10)));
    int y = net_cast(n, x, T_FLOAT);
    if (type != T_HALF)
        y = net_binary(n, "Mul", y, net_float(n, 1.0 / 255));
    y = layer(n, y, some_channels(n), 3, 1);
    y = blocks(n, y, (int)pick(n, 2));
    y = net_conv_same(n, y, 3, 3);
    if (once_in(n, 2)) {
        const shape s = shape_of(n, y);
        y = net_binary(n, "Mul", net_unary(n, "Sigmoid", y), net_float(n, 255));
        y = n->opset < 11 ? y : AS_NODE(n, "Clip", s, y, net_float(n, 0), net_float(n, 255));
        if (once_in(n, 2))
            y = net_cast(n, net_unary(n, "Round", y), T_U8);
    }
    net_output(n, y);
}

/* Sizes that the network computes from its input's, as PyTorch exports interpolate(x, size=...). */
static void computed_sizes(net *n)
{
    const int x = image(n, 3, 4 + (int)pick(n, 8), 4 + (int)pick(n, 8));
    const int a = layer(n, x, 8, 3, 1), small = layer(n, a, 8, 3, 2);
    const shape s = shape_of(n, a), t = shape_of(n, small);
    const int dims = AS_NODE(n, "Shape", shape_make(T_S64, 1, 4), a);
    const int rest = net_slice(n, dims, 0, 2, 4, 1);
    const int lead = net_slice(n, AS_NODE(n, "Shape", shape_make(T_S64, 1, 4), small), 0, 0, 2, 1);
    const int sizes = net_concat(n, 0, 2, (int[]){lead, rest});
    shape y = t;
    y.dims[2] = s.dims[2], y.dims[3] = s.dims[3];
    const int larger =
        AS_NODE(n, "Resize", y, small, net_list(n, NULL, 0), net_list(n, NULL, 0), sizes);
    if (larger == NONE)
        return;
    const bool linear = once_in(n, 2);
    set_text(n, "mode", linear ? "linear" : "nearest");
    set_text(n, "coordinate_transformation_mode",
             linear ? ONE_OF(n, char *, "half_pixel", "pytorch_half_pixel", "align_corners")
                    : "asymmetric");
    if (!linear)
        set_text(n, "nearest_mode", "floor");
    const int joined = net_concat(n, 1, 2, (int[]){larger, a});
    net_output(n, blocks(n, net_conv_same(n, joined, 8, 3), (int)pick(n, 2)));
}

/* Resampling by any rule between two convolutions. */
static void resampled(net *n)
{
    n->open = once_in(n, 4);
    const int x = image(n, ONE_OF(n, int64_t, 1, 3), 3 + (int)pick(n, 18), 3 + (int)pick(n, 18));
    const int y = net_resize_random(n, layer(n, x, 4, 3, 1));
    net_output(n, once_in(n, 2) ? y : net_conv_same(n, y, 4, 3));
}

/* ---- all ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*make)(net *n);
    uint32_t share;
} families[] = {
    {"super-resolution", super_resolution, 12},
    {"unshuffled", unshuffled, 6},
    {"u-net", u_net, 8},
    {"classifier", classifier, 10},
    {"detector", detector, 6},
    {"transformer", transformer, 7},
    {"channels-last", channels_last, 7},
    {"converted", converted, 3},
    {"computed-sizes", computed_sizes, 3},
    {"resampled", resampled, 8},
    {"qdq", make_qdq, 10},
    {"qlinear", make_qlinear, 4},
    {"soup", make_soup, 34},
    {"array-soup", make_array_soup, 10},
};

/* Values inside become outputs, too. */
static void add_outputs(net *n)
{
    for (uint32_t left = 1 + pick(n, 2); n->b->graph.n_node && left-- > 0;) {
        const Onnx__NodeProto *node = n->b->nodes[pick(n, (uint32_t)n->b->graph.n_node)];
        const int value = atoi(node->output[0] + 1);
        if (strcmp(node->op_type, "Constant") != 0 && shape_of(n, value).type == n->type)
            net_output(n, value);
    }
}

enum { FAMILIES = sizeof families / sizeof *families };

net *net_of_seed(uint64_t seed)
{
    net *n = net_new(seed);
    uint32_t all = 0, chosen, i = 0;
    for (uint32_t f = 0; f < FAMILIES; f++)
        all += families[f].share;
    for (chosen = pick(n, all); chosen >= families[i].share; i++)
        chosen -= families[i].share;
    n->family = families[i].name;
    families[i].make(n);
    if (once_in(n, 6))
        add_outputs(n);
    return n;
}
