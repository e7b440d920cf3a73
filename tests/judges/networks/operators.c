// SPDX-License-Identifier: Apache-2.0
/* Single operators with attributes at random, in the forms of the network's operator set. */
#include "tests/judges/networks/net.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2, COLUMNS = 3 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- convolutions ------------------------------------------------------------------------- */

window window_same(int64_t kernel)
{
    const int64_t before = (kernel - 1) / 2, after = kernel - 1 - before;
    return (window){.kernel = {kernel, kernel},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .pads = {before, before, after, after},
                    .groups = 1,
                    .bias = true};
}

static bool is_all(const int64_t *list, uint32_t count, int64_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] != number)
            return false;
    return true;
}

/* What is usual may be left out. */
static void set_usual(net *n, const char *name, const int64_t *list, uint32_t count, int64_t usual)
{
    if (!is_all(list, count, usual) || once_in(n, 2))
        set_ints(n, name, list, count);
}

static int64_t reach(const window *w, int i)
{
    return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

/* Rows or columns of the result; negative: none. */
static int64_t window_size(const window *w, int i, int64_t side, bool round_up)
{
    const int64_t room = side + w->pads[i] + w->pads[i + 2] - reach(w, i);
    if (room < 0)
        return -1;
    int64_t size = (room + (round_up ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
    /* A window that begins after the map is none. */
    if (round_up && (size - 1) * w->stride[i] >= side + w->pads[i])
        size--;
    return size;
}

static const char *automatic(net *n)
{
    return once_in(n, 4) ? ONE_OF(n, char *, "SAME_UPPER", "SAME_LOWER", "VALID") : NULL;
}

/* The pads before and after, of so many. */
static void set_missing(window *w, int i, int64_t missing)
{
    missing = w->automatic[0] == 'V' || missing < 0 ? 0 : missing;
    w->pads[i] = w->automatic[5] == 'L' ? (missing + 1) / 2 : missing / 2;
    w->pads[i + 2] = missing - w->pads[i];
}

/* The pads that `automatic` stands for. */
static void set_pads(window *w, const shape *x)
{
    for (int i = 0; w->automatic && i < 2; i++) {
        const int64_t side = x->dims[ROWS + i];
        const int64_t size = (side + w->stride[i] - 1) / w->stride[i];
        set_missing(w, i, (size - 1) * w->stride[i] + reach(w, i) - side);
    }
}

/* AveragePool has dilations only from operator set 19 on. */
static void set_window(net *n, const window *w)
{
    set_ints(n, "kernel_shape", w->kernel, 2);
    set_usual(n, "strides", w->stride, 2, 1);
    if (n->opset >= 19 || strcmp(n->last->op_type, "AveragePool") != 0)
        set_usual(n, "dilations", w->dilation, 2, 1);
    if (w->automatic)
        set_text(n, "auto_pad", w->automatic);
    else
        set_usual(n, "pads", w->pads, 4, 0);
}

int net_conv(net *n, int x, int64_t outputs, window w)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4 || s.dims[1] % w.groups || outputs % w.groups)
        return NONE;
    shape y = s;
    y.dims[1] = outputs;
    set_pads(&w, &s);
    for (int i = 0; i < 2; i++)
        y.dims[ROWS + i] = window_size(&w, i, s.dims[ROWS + i], false);
    const int64_t inputs = s.dims[1] / w.groups, taps = inputs * w.kernel[0] * w.kernel[1];
    if (outputs * taps > NET_ELEMENTS || y.dims[ROWS] < 1 || y.dims[COLUMNS] < 1)
        return NONE;
    const shape weights =
        shape_make(n->type, 4, (int)outputs, (int)inputs, (int)w.kernel[0], (int)w.kernel[1]);
    const int k = net_floats(n, weights, 0, sqrt(3.0 / (double)taps) * uniform(n, 0.7, 1.6));
    const int bias = w.bias ? net_floats(n, shape_make(n->type, 1, (int)outputs), 0, 0.5) : NONE;
    const int made = w.bias ? AS_NODE(n, "Conv", y, x, k, bias) : AS_NODE(n, "Conv", y, x, k);
    if (made == NONE)
        return NONE;
    set_window(n, &w);
    if (w.groups > 1 || once_in(n, 3))
        set_int(n, "group", w.groups);
    return made;
}

int net_conv_same(net *n, int x, int64_t outputs, int64_t kernel)
{
    return net_conv(n, x, outputs, window_same(kernel));
}

static int64_t divisor_of(net *n, int64_t number)
{
    int64_t d = 1 + pick(n, (uint32_t)number);
    while (number % d)
        d--;
    return d;
}

static void random_window(net *n, window *w)
{
    for (int i = 0; i < 2; i++) {
        w->kernel[i] = ONE_OF(n, int64_t, 1, 1, 2, 3, 3, 3, 3, 4, 5, 7);
        if (i && !once_in(n, 4))
            w->kernel[1] = w->kernel[0];
        w->stride[i] = ONE_OF(n, int64_t, 1, 1, 1, 1, 2, 2, 3);
        w->dilation[i] = ONE_OF(n, int64_t, 1, 1, 1, 1, 1, 2, 3);
        if (i && !once_in(n, 4))
            w->stride[1] = w->stride[0], w->dilation[1] = w->dilation[0];
    }
    for (int i = 0; i < 4; i++)
        w->pads[i] = once_in(n, 4) ? (int64_t)pick(n, 4) : (reach(w, i % 2) - (i > 1)) / 2;
}

int net_conv_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4)
        return NONE;
    window w = {.groups = 1, .bias = !once_in(n, 3)};
    random_window(n, &w);
    int64_t outputs = ONE_OF(n, int64_t, 1, 2, 3, 4, 5, 8, 8, 12, 16, 16, 24, 32, 33);
    if (once_in(n, 3)) {
        w.groups = once_in(n, 3) ? divisor_of(n, s.dims[1]) : s.dims[1];
        outputs = w.groups * ONE_OF(n, int64_t, 1, 1, 1, 2, 3);
    }
    w.automatic = automatic(n);
    return net_conv(n, x, outputs, w);
}

int net_deconv(net *n, int x, int64_t outputs, window w, const int64_t *more)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4 || s.dims[1] % w.groups || outputs % w.groups)
        return NONE;
    shape y = s;
    y.dims[1] = outputs;
    for (int i = 0; w.automatic && i < 2; i++)
        set_missing(&w, i, reach(&w, i) - w.stride[i] + more[i]);
    for (int i = 0; i < 2; i++)
        y.dims[ROWS + i] = (s.dims[ROWS + i] - 1) * w.stride[i] + reach(&w, i) + more[i] -
                           w.pads[i] - w.pads[i + 2];
    const int64_t inputs = s.dims[1], each = outputs / w.groups;
    if (inputs * each * w.kernel[0] * w.kernel[1] > NET_ELEMENTS || y.dims[ROWS] < 1 ||
        y.dims[COLUMNS] < 1)
        return NONE;
    const double taps = (double)(inputs / w.groups * w.kernel[0] * w.kernel[1]) /
                        (double)(w.stride[0] * w.stride[1]);
    const int k = net_floats(
        n, shape_make(n->type, 4, (int)inputs, (int)each, (int)w.kernel[0], (int)w.kernel[1]), 0,
        sqrt(3 / fmax(taps, 1)));
    const int bias = w.bias ? net_floats(n, shape_make(n->type, 1, (int)outputs), 0, 0.5) : NONE;
    const int made =
        w.bias ? AS_NODE(n, "ConvTranspose", y, x, k, bias) : AS_NODE(n, "ConvTranspose", y, x, k);
    if (made == NONE)
        return NONE;
    set_window(n, &w);
    if (w.groups > 1 || once_in(n, 3))
        set_int(n, "group", w.groups);
    set_usual(n, "output_padding", more, 2, 0);
    return made;
}

int net_deconv_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4)
        return NONE;
    window w = {.groups = once_in(n, 4) ? divisor_of(n, s.dims[1]) : 1, .bias = !once_in(n, 3)};
    int64_t more[2];
    for (int i = 0; i < 2; i++) {
        w.kernel[i] = ONE_OF(n, int64_t, 2, 2, 3, 4, 4, 5, 6);
        w.stride[i] = ONE_OF(n, int64_t, 1, 2, 2, 2, 3, 4);
        w.dilation[i] = once_in(n, 8) ? 2 : 1;
        if (i && !once_in(n, 5))
            w.kernel[1] = w.kernel[0], w.stride[1] = w.stride[0], w.dilation[1] = w.dilation[0];
        more[i] = once_in(n, 3) ? (int64_t)pick(n, (uint32_t)w.stride[i]) : 0;
    }
    for (int i = 0; i < 4; i++)
        w.pads[i] = once_in(n, 3) ? (int64_t)pick(n, 2) : (w.kernel[i % 2] - w.stride[i % 2]) / 2;
    for (int i = 0; i < 4; i++)
        w.pads[i] = w.pads[i] < 0 ? 0 : w.pads[i];
    w.automatic = once_in(n, 2) ? NULL : automatic(n);
    for (int i = 0; w.automatic && i < 2; i++) /* as large as the input times the stride */
        w.kernel[i] = w.kernel[i] < w.stride[i] ? w.stride[i] : w.kernel[i];
    return net_deconv(n, x, w.groups * ONE_OF(n, int64_t, 1, 2, 3, 4, 8), w, more);
}

int net_pool_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4)
        return NONE;
    if (once_in(n, 6)) {
        shape y = s;
        y.dims[ROWS] = y.dims[COLUMNS] = 1;
        return AS_NODE(n, ONE_OF(n, char *, "GlobalAveragePool", "GlobalMaxPool"), y, x);
    }
    const bool max = once_in(n, 2);
    window w = {.groups = 1};
    for (int i = 0; i < 2; i++) {
        w.kernel[i] = ONE_OF(n, int64_t, 1, 2, 2, 2, 3, 3, 5);
        w.stride[i] = ONE_OF(n, int64_t, 1, 1, 2, 2, 2, 3);
        w.dilation[i] = (max || n->opset >= 19) && once_in(n, 4) ? 2 : 1;
        if (i && !once_in(n, 4))
            w.kernel[1] = w.kernel[0], w.stride[1] = w.stride[0], w.dilation[1] = w.dilation[0];
    }
    for (int i = 0; i < 4; i++)
        w.pads[i] = once_in(n, 3) ? (int64_t)pick(n, (uint32_t)smaller(w.kernel[i % 2], 3))
                                  : (w.kernel[i % 2] - 1) / 2;
    /* ONNX Runtime leaves dilations out of the automatic pads of pools. */
    w.automatic = w.dilation[0] > 1 || w.dilation[1] > 1 ? NULL : automatic(n);
    set_pads(&w, &s);
    const bool up = once_in(n, w.automatic ? 6 : 3); /* without effect where pads are automatic */
    shape y = s;
    for (int i = 0; i < 2; i++) {
        y.dims[ROWS + i] = window_size(&w, i, s.dims[ROWS + i], up && !w.automatic);
        if (y.dims[ROWS + i] < 1)
            return NONE;
    }
    const int made = AS_NODE(n, max ? "MaxPool" : "AveragePool", y, x);
    if (made == NONE)
        return NONE;
    set_window(n, &w);
    if (up || once_in(n, 4))
        set_int(n, "ceil_mode", up);
    if (!max && once_in(n, 2))
        set_int(n, "count_include_pad", pick(n, 2));
    return made;
}

/* ---- single numbers ----------------------------------------------------------------------- */

int net_unary(net *n, const char *op, int x)
{
    return AS_NODE(n, op, shape_of(n, x), x);
}

static int leaky(net *n, int x)
{
    const int y = net_unary(n, "LeakyRelu", x);
    if (y != NONE && !once_in(n, 3))
        set_float(n, "alpha", ONE_OF(n, double, 0.1, 0.2, 0.25, 1.5));
    return y;
}

static int prelu(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (s.rank != 4)
        return leaky(n, x);
    const int slope = once_in(n, 5)
                          ? net_floats(n, shape_make(n->type, 1, 1), 0.2, 0.2)
                          : net_floats(n, shape_make(n->type, 3, (int)s.dims[1], 1, 1), 0.1, 0.4);
    return AS_NODE(n, "PRelu", s, x, slope);
}

static int clip(net *n, int x)
{
    const double low = ONE_OF(n, double, 0, 0, 0, -1, -0.5), high = ONE_OF(n, double, 6, 1, 1, 0.5);
    const uint32_t which = pick(n, 4);
    const shape s = shape_of(n, x);
    if (n->opset < 11) {
        const int y = net_unary(n, "Clip", x);
        if (y != NONE && which != 1)
            set_float(n, "min", low);
        if (y != NONE && which != 2)
            set_float(n, "max", high);
        return y;
    }
    if (which == 1)
        return AS_NODE(n, "Clip", s, x, NONE, net_float(n, high));
    if (which == 2)
        return AS_NODE(n, "Clip", s, x, net_float(n, low));
    const int from = net_float(n, low), to = net_float(n, high);
    return AS_NODE(n, "Clip", s, x, from, to);
}

/* x * f(x), as exporters write SiLU and Mish. */
static int gated(net *n, int x, int gate)
{
    return once_in(n, 2) ? net_binary(n, "Mul", x, gate) : net_binary(n, "Mul", gate, x);
}

int net_gelu(net *n, int x)
{
    const int scaled = net_binary(n, "Div", x, net_float(n, sqrt(2)));
    const int one = net_binary(n, "Add", net_unary(n, "Erf", scaled), net_float(n, 1));
    if (once_in(n, 2))
        return net_binary(n, "Mul", net_binary(n, "Mul", x, one), net_float(n, 0.5));
    return net_binary(n, "Mul", x, net_binary(n, "Mul", one, net_float(n, 0.5)));
}

static int hard_sigmoid(net *n, int x)
{
    const int y = net_unary(n, "HardSigmoid", x);
    if (y != NONE && once_in(n, 2))
        set_float(n, "alpha", 1.0 / 6);
    return y;
}

int net_activation(net *n, int x)
{
    switch (pick(n, 16)) {
    case 0:
        return leaky(n, x);
    case 1:
        return prelu(n, x);
    case 2:
        return clip(n, x);
    case 3:
        return net_unary(n, "Sigmoid", x);
    case 4:
        return net_unary(n, "Tanh", x);
    case 5:
        return gated(n, x, net_unary(n, "Sigmoid", x));
    case 6:
        return gated(n, x, hard_sigmoid(n, x));
    case 7:
        return n->opset >= 14 ? net_unary(n, "HardSwish", x) : hard_sigmoid(n, x);
    case 8:
        return net_gelu(n, x);
    case 9:
        return net_unary(n, "Elu", x);
    case 10:
        return gated(n, x, net_unary(n, "Tanh", net_unary(n, "Softplus", x)));
    default:
        return net_unary(n, "Relu", x);
    }
}

/* x as far as it is positive and not near 0. */
static int positive(net *n, int x)
{
    return net_binary(n, "Add", net_unary(n, "Abs", x), net_float(n, 0.5));
}

int net_function_random(net *n, int x)
{
    if (once_in(n, 2))
        return net_activation(n, x);
    switch (pick(n, 20)) {
    case 0:
        return net_unary(n, "Abs", x);
    case 1:
        return net_unary(n, "Neg", x);
    case 2:
        return net_unary(n, "Exp", net_unary(n, "Tanh", x));
    case 3:
        return net_unary(n, "Sqrt", positive(n, x));
    case 4:
        return net_unary(n, "Log", positive(n, x));
    case 5:
        return net_unary(n, "Reciprocal", positive(n, x));
    case 6:
        return net_unary(n, "Erf", x);
    case 7:
        return net_unary(n, "Sin", x);
    case 8:
        return net_unary(n, "Cos", x);
    case 9:
        return net_unary(n, "Softsign", x);
    case 10:
        return net_unary(n, "Softplus", x);
    case 11:
        return net_unary(n, "Selu", x);
    case 12: {
        const int y = net_unary(n, "Elu", x);
        if (y != NONE)
            set_float(n, "alpha", 0.5);
        return y;
    }
    case 13:
        return n->opset >= 12 ? net_unary(n, "Celu", x) : net_unary(n, "Selu", x);
    case 14: {
        const int y = net_unary(n, "ThresholdedRelu", x);
        if (y != NONE)
            set_float(n, "alpha", 0.3);
        return y;
    }
    case 15:
        return net_unary(n, "Identity", x);
    case 16:
        return net_unary(n, "Floor", x);
    case 17:
        return net_unary(n, "Ceil", x);
    case 18:
        return net_unary(n, "Round", x);
    default:
        return net_unary(n, "Sign", x);
    }
}

int net_cast(net *n, int x, int type)
{
    shape s = shape_of(n, x);
    s.type = type;
    const int y = AS_NODE(n, "Cast", s, x);
    if (y != NONE)
        set_int(n, "to", type);
    return y;
}

/* ---- two operands ------------------------------------------------------------------------- */

/* False: the shapes do not broadcast. */
static bool broadcast(const shape *a, const shape *b, shape *y)
{
    *y = a->rank >= b->rank ? *a : *b;
    y->type = a->type;
    for (uint32_t i = 0; i < y->rank; i++) {
        const int64_t p = i < a->rank ? a->dims[a->rank - 1 - i] : 1;
        const int64_t q = i < b->rank ? b->dims[b->rank - 1 - i] : 1;
        if (p != q && p != 1 && q != 1)
            return false;
        y->dims[y->rank - 1 - i] = p == 1 ? q : p;
    }
    return true;
}

int net_binary(net *n, const char *op, int a, int b)
{
    const shape p = shape_of(n, a), q = shape_of(n, b);
    shape y;
    if (a == NONE || b == NONE || !broadcast(&p, &q, &y))
        return NONE;
    return AS_NODE(n, op, y, a, b);
}

/* A constant that broadcasts to x. */
static int operand(net *n, int x, double center, double spread)
{
    shape s = shape_of(n, x);
    const uint32_t cut = s.rank ? pick(n, s.rank) : 0;
    switch (pick(n, 6)) {
    case 0:
        return net_float(n, uniform(n, center - spread, center + spread));
    case 1: /* a channel each */
        if (s.rank != 4)
            break;
        s = once_in(n, 2) ? shape_make(n->type, 4, 1, (int)s.dims[1], 1, 1)
                          : shape_make(n->type, 3, (int)s.dims[1], 1, 1);
        return net_floats(n, s, center, spread);
    case 2:
        if (s.rank != 4)
            break;
        return net_floats(n, shape_make(n->type, 4, 1, (int)s.dims[1], 1, 1), center, spread);
    case 3:
        return net_floats(n, shape_make(n->type, 1, 1), center, spread);
    default:
        break;
    }
    if (n->open)
        return net_float(n, center + spread / 2);
    /* The last sides, some of them 1. */
    s.rank -= cut;
    memmove(s.dims, s.dims + cut, s.rank * sizeof *s.dims);
    for (uint32_t i = 0; i < s.rank; i++)
        s.dims[i] = once_in(n, 3) ? 1 : s.dims[i];
    return net_floats(n, s, center, spread);
}

int net_binary_random(net *n, int a, int b)
{
    const char *op = ONE_OF(n, char *, "Add", "Add", "Add", "Sub", "Mul", "Mul", "Div", "Max",
                            "Min", "Pow", "Sum", "Mean");
    const bool divides = !strcmp(op, "Div"), raises = !strcmp(op, "Pow");
    if (a == NONE)
        return NONE;
    if (b == NONE && raises)
        return once_in(n, 2) ? net_binary(n, op, a, net_float(n, 2))
                             : net_binary(n, op, positive(n, a),
                                          net_float(n, ONE_OF(n, double, 0.5, 1.5, -0.5)));
    if (raises)
        return net_binary(n, op, positive(n, a), net_unary(n, "Tanh", b));
    if (divides)
        return b == NONE && once_in(n, 2)
                   ? net_binary(n, op, a, operand(n, a, 1.5, 0.8))
                   : net_binary(n, op, b == NONE ? operand(n, a, 0, 1) : b, positive(n, a));
    if (b == NONE)
        b = operand(n, a, 0.3, 1);
    return once_in(n, 3) ? net_binary(n, op, b, a) : net_binary(n, op, a, b);
}

/* ---- norms -------------------------------------------------------------------------------- */

static int per_channel(net *n, int64_t channels, double center, double spread)
{
    return net_floats(n, shape_make(n->type, 1, (int)channels), center, spread);
}

static int batch_norm(net *n, int x)
{
    const shape s = shape_of(n, x);
    const int scale = per_channel(n, s.dims[1], 1, 0.5), bias = per_channel(n, s.dims[1], 0, 0.5);
    const int mean = per_channel(n, s.dims[1], 0, 0.4), var = per_channel(n, s.dims[1], 1, 0.6);
    const int y = AS_NODE(n, "BatchNormalization", s, x, scale, bias, mean, var);
    if (y != NONE && once_in(n, 2))
        set_float(n, "epsilon", ONE_OF(n, double, 1e-3, 1e-2));
    return y;
}

static int instance_norm(net *n, int x, int64_t channels)
{
    const int scale = per_channel(n, channels, 1, 0.5), bias = per_channel(n, channels, 0, 0.5);
    const int y = AS_NODE(n, "InstanceNormalization", shape_of(n, x), x, scale, bias);
    if (y != NONE && once_in(n, 2))
        set_float(n, "epsilon", 1e-3);
    return y;
}

/* As PyTorch exports it: Reshape, InstanceNormalization, Reshape, Mul, Add. */
static int group_norm(net *n, int x)
{
    const shape s = shape_of(n, x);
    const int64_t groups = divisor_of(n, s.dims[1]);
    const shape each = shape_make(n->type, 3, (int)s.dims[1], 1, 1);
    int y = net_reshape(n, x, 3, (int64_t[]){s.dims[0], groups, -1});
    y = instance_norm(n, y, groups);
    y = net_reshape(n, y, 4, s.dims);
    y = net_binary(n, "Mul", y, net_floats(n, each, 1, 0.5));
    return net_binary(n, "Add", y, net_floats(n, each, 0, 0.5));
}

int net_layer_norm(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank < 1 || s.dims[s.rank - 1] < 2)
        return NONE;
    const int64_t last = s.dims[s.rank - 1], axes[1] = {-1};
    const int scale = per_channel(n, last, 1, 0.5), bias = per_channel(n, last, 0, 0.5);
    if (n->opset >= 17 && once_in(n, 2)) {
        const int y = AS_NODE(n, "LayerNormalization", s, x, scale, bias);
        if (y != NONE && once_in(n, 2))
            set_int(n, "axis", -1);
        return y;
    }
    const int mean = net_reduce(n, "ReduceMean", x, axes, 1, true);
    const int centred = net_binary(n, "Sub", x, mean);
    const int square = once_in(n, 2) ? net_binary(n, "Pow", centred, net_float(n, 2))
                                     : net_binary(n, "Mul", centred, centred);
    const int var = net_reduce(n, "ReduceMean", square, axes, 1, true);
    const int deviation = net_unary(n, "Sqrt", net_binary(n, "Add", var, net_float(n, 1e-3)));
    const int y = net_binary(n, "Div", centred, deviation);
    return net_binary(n, "Add", net_binary(n, "Mul", y, scale), bias);
}

int net_norm_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4)
        return NONE;
    switch (pick(n, 6)) {
    case 0:
        return s.dims[ROWS] * s.dims[COLUMNS] > 3 ? instance_norm(n, x, s.dims[1]) : x;
    case 1:
        return n->open || s.dims[ROWS] * s.dims[COLUMNS] < 4 ? x : group_norm(n, x);
    case 2: { /* of channels, through channels last */
        const int last = net_transpose(n, x, (int64_t[]){0, 2, 3, 1});
        return s.dims[1] < 2 ? x
                             : net_transpose(n, net_layer_norm(n, last), (int64_t[]){0, 3, 1, 2});
    }
    default:
        return batch_norm(n, x);
    }
}

int net_softmax(net *n, int x, int64_t axis)
{
    const shape s = shape_of(n, x);
    if (x == NONE || !s.rank)
        return NONE;
    const int y = AS_NODE(n, once_in(n, 5) ? "LogSoftmax" : "Softmax", s, x);
    if (y != NONE)
        set_int(n, "axis", once_in(n, 2) ? axis : axis - s.rank);
    return y;
}

/* ---- moving numbers ----------------------------------------------------------------------- */

int net_reshape(net *n, int x, uint32_t rank, const int64_t *dims)
{
    const shape s = shape_of(n, x);
    shape y = {s.type, rank, {0}};
    int64_t known = 1;
    if (x == NONE)
        return NONE;
    for (uint32_t i = 0; i < rank; i++) {
        y.dims[i] = dims[i] ? dims[i] : s.dims[i];
        known *= y.dims[i] < 0 ? 1 : y.dims[i];
    }
    for (uint32_t i = 0; i < rank; i++)
        y.dims[i] = y.dims[i] < 0 ? shape_count(&s) / known : y.dims[i];
    return AS_NODE(n, "Reshape", y, x, net_ints(n, dims, rank));
}

int net_transpose(net *n, int x, const int64_t *perm)
{
    const shape s = shape_of(n, x);
    shape y = s;
    if (x == NONE)
        return NONE;
    for (uint32_t i = 0; i < s.rank; i++)
        y.dims[i] = s.dims[perm[i]];
    const int made = AS_NODE(n, "Transpose", y, x);
    if (made != NONE)
        set_ints(n, "perm", perm, s.rank);
    return made;
}

int net_depth_to_space(net *n, int x, int64_t block, bool depth_first)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4 || s.dims[1] % (block * block))
        return NONE;
    const int64_t c = s.dims[1] / (block * block), h = s.dims[2], w = s.dims[3];
    shape y = s;
    y.dims[1] = c, y.dims[2] = h * block, y.dims[3] = w * block;
    if (!n->open && once_in(n, 3)) { /* as exporters write it for operator sets without it */
        const int64_t crd[6] = {s.dims[0], c, block, block, h, w};
        const int64_t dcr[6] = {s.dims[0], block, block, c, h, w};
        int v = net_reshape(n, x, 6, depth_first ? dcr : crd);
        v = net_transpose(
            n, v, depth_first ? (int64_t[]){0, 3, 4, 1, 5, 2} : (int64_t[]){0, 1, 4, 2, 5, 3});
        return net_reshape(n, v, 4, y.dims);
    }
    const int made = AS_NODE(n, "DepthToSpace", y, x);
    if (made == NONE)
        return NONE;
    set_int(n, "blocksize", block);
    if (!depth_first || once_in(n, 2))
        set_text(n, "mode", depth_first ? "DCR" : "CRD");
    return made;
}

int net_space_to_depth(net *n, int x, int64_t block)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4 || s.dims[2] % block || s.dims[3] % block)
        return NONE;
    const int64_t h = s.dims[2] / block, w = s.dims[3] / block;
    shape y = s;
    y.dims[1] = s.dims[1] * block * block, y.dims[2] = h, y.dims[3] = w;
    if (!n->open && once_in(n, 2)) { /* PixelUnshuffle, whose order is the other one */
        int v = net_reshape(n, x, 6, (int64_t[]){s.dims[0], s.dims[1], h, block, w, block});
        v = net_transpose(n, v, (int64_t[]){0, 1, 3, 5, 2, 4});
        return net_reshape(n, v, 4, y.dims);
    }
    const int made = AS_NODE(n, "SpaceToDepth", y, x);
    if (made != NONE)
        set_int(n, "blocksize", block);
    return made;
}

int net_shuffle_channels(net *n, int x, int64_t groups)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4 || s.dims[1] % groups || n->open)
        return NONE;
    int y = net_reshape(n, x, 5,
                        (int64_t[]){s.dims[0], groups, s.dims[1] / groups, s.dims[2], s.dims[3]});
    y = net_transpose(n, y, (int64_t[]){0, 2, 1, 3, 4});
    return net_reshape(
        n, y, 4, (int64_t[]){s.dims[0], once_in(n, 2) ? -1 : s.dims[1], s.dims[2], s.dims[3]});
}

int net_flatten(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank < 2)
        return NONE;
    const shape y = shape_make(s.type, 2, (int)s.dims[0], (int)(shape_count(&s) / s.dims[0]));
    if (once_in(n, 2))
        return net_reshape(n, x, 2, (int64_t[]){s.dims[0], -1});
    const int made = AS_NODE(n, "Flatten", y, x);
    if (made != NONE && once_in(n, 2))
        set_int(n, "axis", 1);
    return made;
}

int net_squeeze(net *n, int x, bool un, const int64_t *axes, uint32_t count)
{
    const shape s = shape_of(n, x);
    shape y = {s.type, un ? s.rank + count : s.rank - count, {0}};
    if (x == NONE || y.rank > NET_RANK)
        return NONE;
    const uint32_t rank = un ? y.rank : s.rank;
    for (uint32_t i = 0, from = 0, to = 0; i < rank; i++) {
        bool listed = false;
        for (uint32_t k = 0; k < count; k++)
            listed = listed || axes[k] == (int64_t)i || axes[k] == (int64_t)i - (int64_t)rank;
        if (un)
            y.dims[to++] = listed ? 1 : s.dims[from++];
        else if (!listed)
            y.dims[to++] = s.dims[i];
    }
    const char *op = un ? "Unsqueeze" : "Squeeze";
    if (n->opset >= 13)
        return AS_NODE(n, op, y, x, net_ints(n, axes, count));
    const int made = AS_NODE(n, op, y, x);
    if (made != NONE)
        set_ints(n, "axes", axes, count);
    return made;
}

int net_slice(net *n, int x, int64_t axis, int64_t first, int64_t end, int64_t step)
{
    const shape s = shape_of(n, x);
    shape y = s;
    if (x == NONE)
        return NONE;
    const int64_t a = axis < 0 ? axis + s.rank : axis, side = s.dims[a];
    int64_t from = first < 0 ? first + side : first, to = end < 0 ? end + side : end;
    if (step > 0) {
        from = from < 0 ? 0 : smaller(from, side);
        to = to < 0 ? 0 : smaller(to, side);
        y.dims[a] = (to - from + step - 1) / step;
    } else {
        from = from < 0 ? -1 : smaller(from, side - 1);
        to = to < -1 ? -1 : smaller(to, side - 1);
        y.dims[a] = (from - to - step - 1) / -step;
    }
    const int starts = net_ints(n, &first, 1), ends = net_ints(n, &end, 1);
    const int axes = net_ints(n, &axis, 1);
    if (step != 1 || once_in(n, 2))
        return AS_NODE(n, "Slice", y, x, starts, ends, axes, net_ints(n, &step, 1));
    return AS_NODE(n, "Slice", y, x, starts, ends, axes);
}

int net_slice_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank < 2)
        return NONE;
    const uint32_t axis = 1 + pick(n, s.rank - 1);
    const int64_t side = s.dims[axis],
                  written = once_in(n, 3) ? (int64_t)axis - s.rank : (int64_t)axis;
    if (n->open && axis > 1)
        return once_in(n, 2)
                   ? net_slice(n, x, written, (int64_t)pick(n, 3), INT64_MAX, 1 + pick(n, 2))
                   : net_slice(n, x, written, 1, -1, 1);
    if (once_in(n, 8))
        return net_slice(n, x, written, -1, once_in(n, 2) ? INT64_MIN : -side - 1,
                         -1 - (int64_t)pick(n, 2));
    const int64_t first = (int64_t)pick(n, (uint32_t)side);
    const int64_t end = first + 1 + (int64_t)pick(n, (uint32_t)(side - first));
    return net_slice(n, x, written, once_in(n, 4) ? first - side : first,
                     end == side     ? INT64_MAX
                     : once_in(n, 4) ? end - side
                                     : end,
                     once_in(n, 4) ? 2 : 1);
}

int net_concat(net *n, int64_t axis, int count, const int *inputs)
{
    shape y = shape_of(n, inputs[0]);
    const int64_t a = axis < 0 ? axis + y.rank : axis;
    int made;
    for (int i = 0; i < count; i++)
        if (inputs[i] == NONE)
            return NONE;
    for (int i = 1; i < count; i++) {
        const shape s = shape_of(n, inputs[i]);
        for (uint32_t k = 0; k < y.rank; k++)
            if (s.rank != y.rank || (k != a && s.dims[k] != y.dims[k]))
                return NONE;
        y.dims[a] += s.dims[a];
    }
    if (!net_nodes(n, "Concat", 1, &y, &made, count, inputs))
        return NONE;
    set_int(n, "axis", axis);
    return made;
}

bool net_split(net *n, int x, int64_t axis, int count, const int64_t *sizes, int *outputs)
{
    const shape s = shape_of(n, x);
    shape parts[8];
    bool even = true;
    if (x == NONE)
        return false;
    for (int i = 0; i < count; i++) {
        parts[i] = s;
        parts[i].dims[axis] = sizes[i];
        even = even && sizes[i] == sizes[0];
    }
    const bool listed = !even || once_in(n, 2);
    const int inputs[2] = {x,
                           listed && n->opset >= 13 ? net_ints(n, sizes, (uint32_t)count) : NONE};
    if (!net_nodes(n, "Split", count, parts, outputs, inputs[1] == NONE ? 1 : 2, inputs))
        return false;
    if (axis || once_in(n, 2))
        set_int(n, "axis", axis);
    if (listed && n->opset < 13)
        set_ints(n, "split", sizes, (uint32_t)count);
    if (!listed && n->opset >= 18)
        set_int(n, "num_outputs", count);
    return true;
}

/* ---- pads and sizes ----------------------------------------------------------------------- */

int net_pad_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4)
        return NONE;
    const char *mode = ONE_OF(n, char *, "constant", "constant", "constant", "reflect", "edge");
    int64_t pads[8] = {0};
    shape y = s;
    const bool channels = once_in(n, 12) && mode[0] == 'c';
    for (int i = channels ? 1 : 2; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            const int64_t most = mode[0] == 'r' ? smaller(s.dims[i] - 1, 4) : 4;
            pads[i + 4 * k] = once_in(n, 3) ? 0 : (int64_t)pick(n, (uint32_t)most + 1);
            if (once_in(n, 16) && mode[0] == 'c' && s.dims[i] > 3)
                pads[i + 4 * k] = -1;
        }
        y.dims[i] += pads[i] + pads[i + 4];
    }
    int made;
    const bool valued = mode[0] == 'c' && once_in(n, 2);
    const double value = once_in(n, 2) ? 0 : uniform(n, -1, 1);
    if (n->opset < 11) {
        made = AS_NODE(n, "Pad", y, x);
        if (made != NONE)
            set_ints(n, "pads", pads, 8);
        if (made != NONE && valued)
            set_float(n, "value", value);
    } else if (valued) {
        const int list = net_ints(n, pads, 8);
        made = AS_NODE(n, "Pad", y, x, list, net_float(n, value));
    } else {
        made = AS_NODE(n, "Pad", y, x, net_ints(n, pads, 8));
    }
    if (made != NONE && (mode[0] != 'c' || once_in(n, 2)))
        set_text(n, "mode", mode);
    return made;
}

typedef struct resizing {
    const char *mode, *coordinates, *rounding;
    double cubic;
    bool outside;
} resizing;

static int resize(net *n, int x, const double scale[2], const int64_t *sizes, const resizing *r)
{
    const shape s = shape_of(n, x);
    shape y = s;
    float scales[4] = {1, 1, 1, 1};
    if (x == NONE || s.rank != 4)
        return NONE;
    for (int i = 0; i < 2; i++) {
        scales[ROWS + i] = (float)scale[i];
        y.dims[ROWS + i] =
            sizes ? sizes[i] : (int64_t)floorf((float)s.dims[ROWS + i] * scales[ROWS + i]);
    }
    if (y.dims[ROWS] < 1 || y.dims[COLUMNS] < 1)
        return NONE;
    const float none[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int roi = n->opset < 13   ? net_list(n, none, 0)
                    : once_in(n, 3) ? net_list(n, none, 8)
                                    : NONE;
    const int list = sizes ? NONE : net_list(n, scales, 4);
    int made;
    if (sizes)
        made = AS_NODE(n, "Resize", y, x, roi, n->opset < 13 ? net_list(n, none, 0) : NONE,
                       net_ints(n, y.dims, 4));
    else
        made = AS_NODE(n, "Resize", y, x, roi, list);
    if (made == NONE)
        return NONE;
    set_text(n, "mode", r->mode);
    if (r->coordinates)
        set_text(n, "coordinate_transformation_mode", r->coordinates);
    if (r->rounding)
        set_text(n, "nearest_mode", r->rounding);
    if (r->cubic != 0)
        set_float(n, "cubic_coeff_a", r->cubic);
    if (r->outside)
        set_int(n, "exclude_outside", 1);
    return made;
}

int net_resize(net *n, int x, double scale_h, double scale_w)
{
    const resizing as[] = {
        {"nearest", "asymmetric", "floor", 0, false}, /* PyTorch */
        {"linear", "half_pixel", NULL, 0, false},
        {"linear", "align_corners", NULL, 0, false},
        {"cubic", "half_pixel", NULL, -0.75, false},
        {"linear", "pytorch_half_pixel", NULL, 0, false},
        {"nearest", "half_pixel", NULL, 0, false},
        {"nearest", "tf_half_pixel_for_nn", "floor", 0, false}, /* tf2onnx */
        {"linear", "asymmetric", NULL, 0, false},
    };
    const resizing *r = &as[once_in(n, 3) ? pick(n, 8) : pick(n, 2)];
    return resize(n, x, (double[2]){scale_h, scale_w}, NULL,
                  n->opset >= 13 && r->coordinates[0] == 't' ? &as[0] : r);
}

/* Runtimes divide by a scale that is rounded to a float, mona by the ratio that was meant. Where a
 * coordinate lies between two samples or on one, that decides which is the nearest. */
static bool is_certain(double scale, int64_t outputs, const resizing *r)
{
    const bool centred = !r->coordinates || strcmp(r->coordinates, "asymmetric") != 0;
    for (int64_t i = 0; i < outputs; i++) {
        const double x = centred ? ((double)i + 0.5) / scale - 0.5 : (double)i / scale;
        const float at =
            centred ? ((float)i + 0.5f) / (float)scale - 0.5f : (float)i / (float)scale;
        const double step = nearbyint(2 * x) / 2;
        if (fabs(x - step) < 1e-5 && (double)at != step)
            return false;
    }
    return true;
}

int net_resize_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 4)
        return NONE;
    resizing r = {0};
    r.mode = ONE_OF(n, char *, "nearest", "nearest", "linear", "linear", "cubic");
    r.coordinates =
        ONE_OF(n, char *, NULL, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric");
    if (r.mode[0] == 'n' && !once_in(n, 3))
        r.rounding = ONE_OF(n, char *, "floor", "ceil", "round_prefer_floor", "round_prefer_ceil");
    if (r.mode[0] == 'c') {
        r.cubic = once_in(n, 2) ? -0.5 : 0;
        r.outside = once_in(n, 5);
    }
    double scale[2];
    int64_t sizes[2];
    for (int i = 0; i < 2; i++) {
        /* Where lengths are rounded, runtimes and the ONNX suite place aligned corners
         * differently. */
        const bool aligned =
            r.mode[0] != 'n' && r.coordinates && !strcmp(r.coordinates, "align_corners");
        scale[i] = aligned ? ONE_OF(n, double, 2, 1, 3, 1.5, 1.25, 2.5)
                           : ONE_OF(n, double, 2, 2, 2, 1, 3, 4, 0.5, 0.5, 1.5, 1.25, 2.5, 0.7, 0.6,
                                    1.4, 1.0 / 3, 2.0 / 3, 5.0 / 3);
        if (i && !once_in(n, 4))
            scale[1] = scale[0];
        sizes[i] = 1 + (int64_t)pick(n, 20);
        if (once_in(n, 2))
            sizes[i] = s.dims[ROWS + i] * (1 + (int64_t)pick(n, 3));
    }
    const bool sized = !n->open && once_in(n, 2);
    bool certain = true;
    for (int i = 0; i < 2; i++) {
        const double side = (double)s.dims[ROWS + i];
        certain = certain && is_certain(sized ? (double)sizes[i] / side : scale[i],
                                        sized ? sizes[i] : (int64_t)(side * scale[i]), &r);
    }
    return certain || r.mode[0] != 'n' ? resize(n, x, scale, sized ? sizes : NULL, &r) : NONE;
}

/* ---- sums and products -------------------------------------------------------------------- */

int net_reduce(net *n, const char *op, int x, const int64_t *axes, uint32_t count, bool keep)
{
    const shape s = shape_of(n, x);
    shape y = {s.type, 0, {0}};
    if (x == NONE)
        return NONE;
    for (uint32_t i = 0; i < s.rank; i++) {
        bool listed = false;
        for (uint32_t k = 0; k < count; k++)
            listed = listed || (axes[k] < 0 ? axes[k] + s.rank : axes[k]) == i;
        if (!listed || keep)
            y.dims[y.rank++] = listed ? 1 : s.dims[i];
    }
    const bool as_input = n->opset >= (strcmp(op, "ReduceSum") ? 18 : 13);
    const int made =
        as_input ? AS_NODE(n, op, y, x, net_ints(n, axes, count)) : AS_NODE(n, op, y, x);
    if (made == NONE)
        return NONE;
    if (!as_input)
        set_ints(n, "axes", axes, count);
    if (!keep || once_in(n, 2))
        set_int(n, "keepdims", keep);
    return made;
}

int net_reduce_random(net *n, int x)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank < 2)
        return NONE;
    const char *op =
        ONE_OF(n, char *, "ReduceMean", "ReduceMean", "ReduceMean", "ReduceMax", "ReduceMin",
               "ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp");
    int64_t axes[NET_RANK];
    uint32_t count = 0;
    for (uint32_t i = 1; i < s.rank; i++)
        if (once_in(n, 2))
            axes[count++] = once_in(n, 3) ? (int64_t)i - s.rank : (int64_t)i;
    if (s.rank == 4 && once_in(n, 2))
        axes[0] = 2, axes[1] = 3, count = 2;
    return count ? net_reduce(n, op, x, axes, count, !once_in(n, 3)) : NONE;
}

int net_matmul(net *n, int a, int b)
{
    const shape p = shape_of(n, a), q = shape_of(n, b);
    if (a == NONE || b == NONE || p.rank < 2 || q.rank < 2 ||
        p.dims[p.rank - 1] != q.dims[q.rank - 2])
        return NONE;
    shape y = p.rank >= q.rank ? p : q;
    y.type = p.type;
    y.dims[y.rank - 2] = p.dims[p.rank - 2];
    y.dims[y.rank - 1] = q.dims[q.rank - 1];
    return AS_NODE(n, "MatMul", y, a, b);
}

int net_linear(net *n, int x, int64_t outputs, bool bias)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank < 2 || s.dims[s.rank - 1] * outputs > NET_ELEMENTS)
        return NONE;
    const int64_t inputs = s.dims[s.rank - 1];
    const int w = net_floats(n, shape_make(n->type, 2, (int)inputs, (int)outputs), 0,
                             sqrt(3.0 / (double)inputs));
    const int y = net_matmul(n, x, w);
    if (!bias)
        return y;
    const int b = per_channel(n, outputs, 0, 0.5);
    return once_in(n, 2) ? net_binary(n, "Add", b, y) : net_binary(n, "Add", y, b);
}

int net_gemm(net *n, int x, int64_t outputs)
{
    const shape s = shape_of(n, x);
    if (x == NONE || s.rank != 2 || s.dims[1] * outputs > NET_ELEMENTS)
        return NONE;
    const int64_t inputs = s.dims[1];
    const bool turned = !once_in(n, 3);
    const shape weights = turned ? shape_make(n->type, 2, (int)outputs, (int)inputs)
                                 : shape_make(n->type, 2, (int)inputs, (int)outputs);
    const int w = net_floats(n, weights, 0, sqrt(3.0 / (double)inputs));
    const shape y = shape_make(n->type, 2, (int)s.dims[0], (int)outputs);
    const int bias = !once_in(n, 4) ? per_channel(n, outputs, 0, 0.5) : NONE;
    const int made = bias == NONE ? AS_NODE(n, "Gemm", y, x, w) : AS_NODE(n, "Gemm", y, x, w, bias);
    if (made == NONE)
        return NONE;
    if (turned)
        set_int(n, "transB", 1);
    if (once_in(n, 4))
        set_float(n, "alpha", 0.5);
    if (bias != NONE && once_in(n, 4))
        set_float(n, "beta", 2);
    return made;
}
