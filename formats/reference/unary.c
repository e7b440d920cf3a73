// SPDX-License-Identifier: Apache-2.0
/* Functions of one number. */
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

/* p: the operator's attributes, in the order of its row. */
typedef void unary_function(const tensor *in, const double *p, tensor *out);

#define FUNCTION(name, value)                                                                      \
    static inline double name##_of(double x, const double *p)                                      \
    {                                                                                              \
        (void)p;                                                                                   \
        return value;                                                                              \
    }                                                                                              \
    static void f_##name(const tensor *in, const double *p, tensor *out)                           \
    {                                                                                              \
        for (size_t i = 0; i < in->count; i++)                                                     \
            tensor_set_number(out, i, name##_of(tensor_number(in, i), p));                         \
    }
FUNCTION(abs, fabs(x))
FUNCTION(neg, -x)
FUNCTION(exp, exp(x))
FUNCTION(log, log(x))
FUNCTION(sqrt, sqrt(x))
FUNCTION(floor, floor(x))
FUNCTION(ceil, ceil(x))
FUNCTION(round, nearbyint(x))
FUNCTION(reciprocal, 1 / x)
FUNCTION(erf, erf(x))
FUNCTION(sin, sin(x))
FUNCTION(cos, cos(x))
FUNCTION(tanh, tanh(x))
FUNCTION(sigmoid, 1 / (1 + exp(-x)))
FUNCTION(softsign, x / (1 + fabs(x)))
FUNCTION(not, x == 0)
FUNCTION(relu, x < 0 ? 0 : x)
FUNCTION(sign, x > 0 ? 1 : x < 0 ? -1 : x)
FUNCTION(leaky_relu, x < 0 ? p[0] * x : x)
FUNCTION(thresholded_relu, x > p[0] ? x : 0)
FUNCTION(elu, x < 0 ? p[0] * expm1(x) : x)
FUNCTION(celu, x > 0 ? x : p[0] * expm1(x / p[0]))
FUNCTION(selu, p[1] * (x > 0 ? x : p[0] * expm1(x)))
FUNCTION(hard_sigmoid, isnan(x) ? x : fmax(0, fmin(1, p[0] * x + p[1])))
FUNCTION(hard_swish, fmax(0, fmin(1, x / 6 + 0.5)) * x)
FUNCTION(softplus, x > 30 ? x + exp(-x) : log1p(exp(x)))
FUNCTION(mish, tanh(softplus_of(x, p)) * x)
FUNCTION(swish, x / (1 + exp(-p[0] * x)))
FUNCTION(gelu, 0.5 * x * (1 + erf(x * 0.70710678118654752440)))
FUNCTION(gelu_tanh, 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))))

#define ROW(op_type, function, array, map, on_ints, first, second, x, y)                           \
    {op_type, f_##function, on_ints, {first, second}, {x, y}},

static const struct unary_row {
    const char *op_type;
    unary_function *function;
    bool on_ints;
    const char *attributes[2];
    float otherwise[2];
} rows[] = {
#include "formats/functions.inc"
};

op_unary_form op_unary_read(const onnx_node *node)
{
    op_unary_form f = {0};
    while (strcmp(rows[f.row].op_type, node->op_type))
        f.row++;
    const struct unary_row *row = &rows[f.row];
    f.on_ints = row->on_ints;
    f.approximate =
        row->function == f_gelu && !strcmp(onnx_string(node, "approximate", "none"), "tanh");
    for (int i = 0; i < 2; i++)
        f.parameters[i] = row->attributes[i]
                              ? onnx_float(node, row->attributes[i], row->otherwise[i])
                              : row->otherwise[i];
    return f;
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
    if (f == f_not)
        return !x;
    return negative ? 0 : x; /* Relu */
}

bool op_unary(op_call *c)
{
    const op_unary_form form = op_unary_read(c->node);
    const tensor *x = op_in(c, 0);
    const double p[2] = {(double)form.parameters[0], (double)form.parameters[1]};
    unary_function *f = form.approximate ? f_gelu_tanh : rows[form.row].function;
    if (!op_result_like(c, 0, x))
        return false;
    if (form.on_ints && !element_is_float(x->type))
        for (size_t i = 0; i < x->count; i++)
            tensor_set_int(c->out, i, of_int(f, tensor_int(x, i), x->type == ELEMENT_UINT64));
    else
        f(x, p, c->out);
    return true;
}
