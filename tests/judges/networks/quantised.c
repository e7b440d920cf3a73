// SPDX-License-Identifier: Apache-2.0
/* Networks that are quantised already: pairs of QuantizeLinear and DequantizeLinear, as PyTorch,
 * TensorFlow and ONNX Runtime write them, and operators on integers. */
#include "tests/judges/networks/net.h"

#include <math.h>

static int scalar_float(net *n, double value)
{
    return net_floats(n, shape_make(T_FLOAT, 0), value, 0);
}

static int scalar_int(net *n, int type, int value)
{
    return net_small_ints(n, shape_make(type, 0), value, value);
}

static int as(net *n, const char *op, int x, int type, int scale, int zero)
{
    shape s = shape_of(n, x);
    s.type = type;
    return zero == NONE ? AS_NODE(n, op, s, x, scale) : AS_NODE(n, op, s, x, scale, zero);
}

/* x, rounded to 8 bits from -range (or 0) to range. */
static int rounded(net *n, int x, double range, bool signed_)
{
    const int type = signed_ ? T_S8 : T_U8;
    const int point =
        signed_ ? once_in(n, 4) ? (int)pick(n, 20) - 10 : 0 : ONE_OF(n, int, 0, 0, 128, 3, 117);
    const double scale = signed_ || point > 10 ? range / 127 : range / 255;
    const int s = scalar_float(n, scale);
    const int z = !signed_ && !point && once_in(n, 3) ? NONE : scalar_int(n, type, point);
    const int q = as(n, "QuantizeLinear", x, type, s, z);
    return as(n, "DequantizeLinear", q, T_FLOAT, s, z);
}

/* Weights of 8 bits with a scale for each output, or one for all. */
static int weights(net *n, shape s, bool *wide)
{
    int64_t taps = 1;
    for (uint32_t i = 1; i < s.rank; i++)
        taps *= s.dims[i];
    const double scale = sqrt(3.0 / (double)taps) / 127;
    const bool each = n->opset >= 13 && once_in(n, 2);
    s.type = T_S8;
    const int q = net_small_ints(n, s, -127, 127);
    const shape per = shape_make(T_FLOAT, 1, (int)s.dims[0]);
    const int scales = each ? net_floats(n, per, scale, scale / 2) : scalar_float(n, scale);
    const int zero = !each ? scalar_int(n, T_S8, 0)
                           : net_small_ints(n, shape_make(T_S8, 1, (int)s.dims[0]), 0, 0);
    const int w = as(n, "DequantizeLinear", q, T_FLOAT, scales, once_in(n, 4) ? NONE : zero);
    if (each && w != NONE)
        set_int(n, "axis", 0);
    *wide = each;
    return w;
}

static int conv(net *n, int x, int64_t outputs, window w)
{
    const shape s = shape_of(n, x);
    shape y = s;
    bool each;
    if (x == NONE)
        return NONE;
    y.dims[1] = outputs;
    for (int i = 0; i < 2; i++)
        y.dims[2 + i] = (s.dims[2 + i] + w.pads[i] + w.pads[i + 2] - w.kernel[i]) / w.stride[i] + 1;
    const int k = weights(n,
                          shape_make(T_FLOAT, 4, (int)outputs, (int)(s.dims[1] / w.groups),
                                     (int)w.kernel[0], (int)w.kernel[1]),
                          &each);
    const int bias = net_floats(n, shape_make(T_FLOAT, 1, (int)outputs), 0, 0.5);
    const int made = AS_NODE(n, "Conv", y, x, k, bias);
    if (made == NONE)
        return NONE;
    set_ints(n, "kernel_shape", w.kernel, 2);
    set_ints(n, "strides", w.stride, 2);
    set_ints(n, "pads", w.pads, 4);
    set_int(n, "group", w.groups);
    return made;
}

static int layer(net *n, int x)
{
    const int64_t c = shape_of(n, x).dims[1];
    window w = window_same(ONE_OF(n, int64_t, 1, 3, 3, 5));
    w.stride[0] = w.stride[1] = ONE_OF(n, int64_t, 1, 1, 1, 2);
    int64_t outputs = ONE_OF(n, int64_t, 4, 8, 16, 17);
    if (once_in(n, 4))
        w.groups = outputs = c;
    int y = conv(n, x, outputs, w);
    if (once_in(n, 2))
        return rounded(n, net_unary(n, "Relu", y), 3, once_in(n, 3));
    if (once_in(n, 2))
        y = net_activation(n, rounded(n, y, 3, once_in(n, 2)));
    return rounded(n, y, 3, once_in(n, 2));
}

static int merge(net *n, int x, int y)
{
    const shape a = shape_of(n, x), b = shape_of(n, y);
    if (shape_same(&a, &b))
        return rounded(n, net_binary(n, once_in(n, 4) ? "Mul" : "Add", x, y), 4, once_in(n, 2));
    if (a.dims[2] == b.dims[2] && a.dims[3] == b.dims[3])
        return rounded(n, net_concat(n, 1, 2, (int[]){x, y}), 3, once_in(n, 2));
    return y;
}

void make_qdq(net *n)
{
    n->opset = n->opset < 10 ? 11 : n->opset;
    const int h = 6 + (int)pick(n, 12), w = 6 + (int)pick(n, 12);
    const int x = net_input(n, shape_make(T_FLOAT, 4, n->batch, ONE_OF(n, int, 1, 3, 4), h, w));
    int y = rounded(n, x, 1, once_in(n, 2)), before = y;
    for (uint32_t i = 1 + pick(n, 4); i-- > 0 && y != NONE;) {
        int z = layer(n, y);
        if (once_in(n, 3))
            z = merge(n, before, z);
        else if (once_in(n, 5))
            z = net_pool_random(n, z);
        else if (once_in(n, 6))
            z = rounded(n, net_resize(n, z, 2, 2), 3, true);
        else if (once_in(n, 6) && shape_of(n, z).dims[1] % 4 == 0)
            z = net_depth_to_space(n, z, 2, once_in(n, 2));
        if (z != NONE)
            before = y, y = z;
    }
    if (once_in(n, 3)) {
        y = net_flatten(
            n, rounded(n, net_reduce(n, "ReduceMean", y, (int64_t[]){2, 3}, 2, true), 2, true));
        y = net_gemm(n, y, 7);
    }
    net_output(n, y);
}

/* ---- on integers -------------------------------------------------------------------------- */

static int qlinear_conv(net *n, int q, double scale_x, int zero_x, double scale_y, int zero_y)
{
    const shape s = shape_of(n, q);
    const int outputs = ONE_OF(n, int, 4, 8, 9);
    const window w = window_same(ONE_OF(n, int64_t, 1, 3));
    shape y = s;
    y.dims[1] = outputs;
    const int64_t taps = s.dims[1] * w.kernel[0] * w.kernel[1];
    const double scale_w = sqrt(3.0 / (double)taps) / 127;
    const bool each = once_in(n, 2);
    const int k = net_small_ints(
        n, shape_make(T_S8, 4, outputs, (int)s.dims[1], (int)w.kernel[0], (int)w.kernel[1]), -127,
        127);
    const int sw = each ? net_floats(n, shape_make(T_FLOAT, 1, outputs), scale_w, scale_w / 2)
                        : scalar_float(n, scale_w);
    const int zw =
        each ? net_small_ints(n, shape_make(T_S8, 1, outputs), 0, 0) : scalar_int(n, T_S8, 0);
    const int bias = net_small_ints(n, shape_make(T_S32, 1, outputs), -2000, 2000);
    const int inputs[9] = {q,  scalar_float(n, scale_x), scalar_int(n, s.type, zero_x), k,   sw,
                           zw, scalar_float(n, scale_y), scalar_int(n, s.type, zero_y), bias};
    int made = NONE;
    if (!net_nodes(n, "QLinearConv", 1, &y, &made, once_in(n, 4) ? 8 : 9, inputs))
        return NONE;
    set_ints(n, "kernel_shape", w.kernel, 2);
    set_ints(n, "pads", w.pads, 4);
    return made;
}

void make_qlinear(net *n)
{
    const bool whole = once_in(n, 2); /* integers outside as well */
    const int type = ONE_OF(n, int, T_U8, T_U8, T_S8), h = 5 + (int)pick(n, 10);
    int zero = type == T_U8 ? ONE_OF(n, int, 0, 128, 100) : 0, next;
    double scale = zero || type == T_S8 ? 1.0 / 127 : 1.0 / 255;
    const int x = net_input(n, shape_make(whole ? type : T_FLOAT, 4, n->batch, 3, h, 7));
    int y =
        whole ? x
              : as(n, "QuantizeLinear", x, type, scalar_float(n, scale), scalar_int(n, type, zero));
    for (uint32_t i = 1 + pick(n, 3); i-- > 0 && y != NONE; zero = next, scale = 3.0 / 127) {
        next = type == T_U8 ? ONE_OF(n, int, 128, 110) : ONE_OF(n, int, 0, 5);
        y = qlinear_conv(n, y, scale, zero, 3.0 / 127, next);
    }
    net_output(n, whole && once_in(n, 2) ? y
                                         : as(n, "DequantizeLinear", y, T_FLOAT,
                                              scalar_float(n, scale), scalar_int(n, type, zero)));
}
