// SPDX-License-Identifier: Apache-2.0
/* Functions of one number. */
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

/* p: the operator's attributes, in the order of its row. */
typedef double unary_function(double x, const double *p);

static double f_abs(double x, const double *p)
{
    (void)p;
    return fabs(x);
}
static double f_neg(double x, const double *p)
{
    (void)p;
    return -x;
}
static double f_exp(double x, const double *p)
{
    (void)p;
    return exp(x);
}
static double f_log(double x, const double *p)
{
    (void)p;
    return log(x);
}
static double f_sqrt(double x, const double *p)
{
    (void)p;
    return sqrt(x);
}
static double f_floor(double x, const double *p)
{
    (void)p;
    return floor(x);
}
static double f_ceil(double x, const double *p)
{
    (void)p;
    return ceil(x);
}
static double f_round(double x, const double *p)
{
    (void)p;
    return nearbyint(x);
}
static double f_reciprocal(double x, const double *p)
{
    (void)p;
    return 1 / x;
}
static double f_erf(double x, const double *p)
{
    (void)p;
    return erf(x);
}
static double f_sin(double x, const double *p)
{
    (void)p;
    return sin(x);
}
static double f_cos(double x, const double *p)
{
    (void)p;
    return cos(x);
}
static double f_tanh(double x, const double *p)
{
    (void)p;
    return tanh(x);
}
static double f_sigmoid(double x, const double *p)
{
    (void)p;
    return 1 / (1 + exp(-x));
}
static double f_softsign(double x, const double *p)
{
    (void)p;
    return x / (1 + fabs(x));
}
static double f_not(double x, const double *p)
{
    (void)p;
    return x == 0;
}

static double f_relu(double x, const double *p)
{
    (void)p;
    return x < 0 ? 0 : x;
}

static double f_sign(double x, const double *p)
{
    (void)p;
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static double f_leaky_relu(double x, const double *p)
{
    return x < 0 ? p[0] * x : x;
}

static double f_thresholded_relu(double x, const double *p)
{
    return x > p[0] ? x : 0;
}

static double f_elu(double x, const double *p)
{
    return x < 0 ? p[0] * expm1(x) : x;
}

static double f_celu(double x, const double *p)
{
    return fmax(0, x) + fmin(0, p[0] * expm1(x / p[0]));
}

static double f_selu(double x, const double *p)
{
    return p[1] * (x > 0 ? x : p[0] * expm1(x));
}

static double f_hard_sigmoid(double x, const double *p)
{
    return fmax(0, fmin(1, p[0] * x + p[1]));
}

static double f_hard_swish(double x, const double *p)
{
    (void)p;
    return x * fmax(0, fmin(1, x / 6 + 0.5));
}

static double f_softplus(double x, const double *p)
{
    (void)p;
    return x > 30 ? x + exp(-x) : log1p(exp(x));
}

static double f_mish(double x, const double *p)
{
    return x * tanh(f_softplus(x, p));
}

static double f_swish(double x, const double *p)
{
    return x / (1 + exp(-p[0] * x));
}

static double f_gelu(double x, const double *p)
{
    (void)p;
    return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}

static double f_gelu_tanh(double x, const double *p)
{
    (void)p;
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static const struct unary_row {
    const char *op_type;
    unary_function *function;
    const char *attributes[2];
    double otherwise[2];
} rows[] = {
    {"Abs", f_abs, {NULL}, {0}},
    {"Ceil", f_ceil, {NULL}, {0}},
    {"Celu", f_celu, {"alpha"}, {1}},
    {"Cos", f_cos, {NULL}, {0}},
    {"Elu", f_elu, {"alpha"}, {1}},
    {"Erf", f_erf, {NULL}, {0}},
    {"Exp", f_exp, {NULL}, {0}},
    {"Floor", f_floor, {NULL}, {0}},
    {"Gelu", f_gelu, {NULL}, {0}},
    {"HardSigmoid", f_hard_sigmoid, {"alpha", "beta"}, {(double)0.2f, 0.5}},
    {"HardSwish", f_hard_swish, {NULL}, {0}},
    {"LeakyRelu", f_leaky_relu, {"alpha"}, {(double)0.01f}},
    {"Log", f_log, {NULL}, {0}},
    {"Mish", f_mish, {NULL}, {0}},
    {"Neg", f_neg, {NULL}, {0}},
    {"Not", f_not, {NULL}, {0}},
    {"Reciprocal", f_reciprocal, {NULL}, {0}},
    {"Relu", f_relu, {NULL}, {0}},
    {"Round", f_round, {NULL}, {0}},
    {"Selu", f_selu, {"alpha", "gamma"}, {(double)1.67326319f, (double)1.05070102f}},
    {"Sigmoid", f_sigmoid, {NULL}, {0}},
    {"Sign", f_sign, {NULL}, {0}},
    {"Sin", f_sin, {NULL}, {0}},
    {"Softplus", f_softplus, {NULL}, {0}},
    {"Softsign", f_softsign, {NULL}, {0}},
    {"Sqrt", f_sqrt, {NULL}, {0}},
    {"Swish", f_swish, {"alpha"}, {1}},
    {"Tanh", f_tanh, {NULL}, {0}},
    {"ThresholdedRelu", f_thresholded_relu, {"alpha"}, {1}},
};

static const struct unary_row *find_row(const char *op_type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].op_type, op_type))
            return &rows[i];
    return NULL;
}

/* 64-bit integers do not fit a double. */
static int64_t of_int(unary_function *f, int64_t x, bool is_unsigned)
{
    const bool negative = x < 0 && !is_unsigned;
    const int64_t opposite = (int64_t) - (uint64_t)x;
    if (f == f_neg)
        return opposite;
    if (f == f_abs)
        return negative ? opposite : x;
    if (f == f_sign)
        return negative ? -1 : x != 0;
    return negative ? 0 : x; /* Relu */
}

bool op_unary(op_call *c)
{
    const struct unary_row *row = find_row(c->node->op_type);
    const tensor *x = op_in(c, 0);
    double p[2] = {0};
    if (!row || !op_result_like(c, 0, x))
        return false;
    unary_function *f = row->function;
    for (int i = 0; i < 2 && row->attributes[i]; i++)
        p[i] = (double)onnx_float(c->node, row->attributes[i], (float)row->otherwise[i]);
    if (f == f_gelu && !strcmp(onnx_string(c->node, "approximate", "none"), "tanh"))
        f = f_gelu_tanh;
    if (op_only_shapes(c))
        return true;
    const bool on_ints = f == f_neg || f == f_abs || f == f_sign || f == f_relu;
    if (on_ints && !element_is_float(x->type))
        for (size_t i = 0; i < x->count; i++)
            tensor_set_int(c->out, i, of_int(f, tensor_int(x, i), x->type == ELEMENT_UINT64));
    else
        for (size_t i = 0; i < x->count; i++)
            tensor_set_number(c->out, i, f(tensor_number(x, i), p));
    return true;
}
