// SPDX-License-Identifier: Apache-2.0
/* Elementwise functions of several numbers, with broadcasting. */
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef double float_function(double a, double b);
/* A function of integers; of uint64 if is_unsigned. */
typedef int64_t int_function(int64_t a, int64_t b, bool is_unsigned);

#define FLOAT_FUNCTION(name, value)                                                                \
    static double float_##name(double a, double b)                                                 \
    {                                                                                              \
        return value;                                                                              \
    }
FLOAT_FUNCTION(add, a + b)
FLOAT_FUNCTION(sub, a - b)
FLOAT_FUNCTION(mul, a *b)
FLOAT_FUNCTION(div, a / b)
FLOAT_FUNCTION(pow, b == 2 ? a * a : pow(a, b))
FLOAT_FUNCTION(min, isnan(a) || isnan(b) ? NAN : a < b ? a : b)
FLOAT_FUNCTION(max, isnan(a) || isnan(b) ? NAN : a > b ? a : b)
FLOAT_FUNCTION(fmod, fmod(a, b))
FLOAT_FUNCTION(prelu, a < 0 ? a * b : a)

static bool below(int64_t a, int64_t b, bool is_unsigned)
{
    return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

#define INT_FUNCTION(name, value)                                                                  \
    static int64_t int_##name(int64_t a, int64_t b, bool is_unsigned)                              \
    {                                                                                              \
        (void)is_unsigned;                                                                         \
        return value;                                                                              \
    }
INT_FUNCTION(add, (int64_t)((uint64_t)a + (uint64_t)b))
INT_FUNCTION(sub, (int64_t)((uint64_t)a - (uint64_t)b))
INT_FUNCTION(mul, (int64_t)((uint64_t)a *(uint64_t)b))
INT_FUNCTION(min, below(a, b, is_unsigned) ? a : b)
INT_FUNCTION(max, below(a, b, is_unsigned) ? b : a)
INT_FUNCTION(prelu, below(a, 0, is_unsigned) ? int_mul(a, b, is_unsigned) : a)

/* Rounded towards zero. Division by zero gives zero, as ONNX does not define it. */
static int64_t int_div(int64_t a, int64_t b, bool is_unsigned)
{
    if (!b)
        return 0;
    if (is_unsigned)
        return (int64_t)((uint64_t)a / (uint64_t)b);
    return b == -1 ? (int64_t) - (uint64_t)a : a / b;
}

/* The result has the divisor's sign; with fmod, the dividend's. */
static int64_t int_fmod(int64_t a, int64_t b, bool is_unsigned)
{
    if (!b || (b == -1 && !is_unsigned))
        return 0;
    return is_unsigned ? (int64_t)((uint64_t)a % (uint64_t)b) : a % b;
}

static int64_t int_mod(int64_t a, int64_t b, bool is_unsigned)
{
    const int64_t rest = int_fmod(a, b, is_unsigned);
    return !is_unsigned && rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t int_pow(int64_t a, int64_t b, bool is_unsigned)
{
    uint64_t power = 1, base = (uint64_t)a;
    if (b < 0 && !is_unsigned)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (uint64_t e = (uint64_t)b; e; e >>= 1, base *= base)
        power *= e & 1 ? base : 1;
    return (int64_t)power;
}

static const struct binary_row {
    const char *op_type;
    float_function *on_floats;
    int_function *on_ints;
} rows[] = {
    {"Add", float_add, int_add},  {"Div", float_div, int_div},       {"Max", float_max, int_max},
    {"Mean", float_add, int_add}, {"Min", float_min, int_min},       {"Mod", float_fmod, int_mod},
    {"Mul", float_mul, int_mul},  {"Pow", float_pow, int_pow},       {"Sub", float_sub, int_sub},
    {"Sum", float_add, int_add},  {"PRelu", float_prelu, int_prelu},
};

static struct binary_row find_row(const op_call *c)
{
    const char *op_type = c->node->op_type;
    struct binary_row found = rows[0];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].op_type, op_type))
            found = rows[i];
    if (!strcmp(op_type, "Mod") && onnx_int(c->node, "fmod", 0))
        found.on_ints = int_fmod;
    return found;
}

/* Up to operator set 6, the second operand could be aligned with an axis of the first. */
static tensor place_second(const op_call *c, const tensor *a, const tensor *b)
{
    tensor placed = *b;
    const int64_t axis = c->node->broadcast_axis;
    if (!c->node->broadcasts || axis < 0 || axis > a->rank || b->count == 1)
        return placed;
    while (placed.rank < a->rank && axis + placed.rank < a->rank)
        placed.dims[placed.rank++] = 1;
    return placed;
}

/* out = row(a, b); out may be a. */
static void combine(const struct binary_row *row, const tensor *a, const tensor *b, tensor *out)
{
    op_walk first = op_walk_start(a, out->rank, out->dims);
    op_walk second = op_walk_start(b, out->rank, out->dims);
    const bool on_floats = element_is_float(a->type) || element_is_float(b->type);
    const bool is_unsigned = a->type == ELEMENT_UINT64;
    for (size_t i = 0; i < out->count; i++) {
        if (on_floats)
            tensor_set_number(
                out, i,
                row->on_floats(tensor_number(a, first.offset), tensor_number(b, second.offset)));
        else
            tensor_set_int(out, i,
                           row->on_ints(tensor_int(a, first.offset), tensor_int(b, second.offset),
                                        is_unsigned));
        op_walk_next(&first);
        op_walk_next(&second);
    }
}

static bool same_type(op_call *c, const tensor *a, const tensor *b)
{
    return a->type == b->type || op_fail(c, "combines %s and %s; expected one type",
                                         element_name(a->type), element_name(b->type));
}

bool op_binary(op_call *c)
{
    const struct binary_row row = find_row(c);
    const tensor *a = op_in(c, 0);
    const tensor b = place_second(c, a, op_in(c, 1));
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t rank;
    if ((row.on_floats != float_pow && !same_type(c, a, &b)) ||
        !op_broadcast(c, a, &b, &rank, dims) || !op_result(c, 0, a->type, rank, dims))
        return false;
    combine(&row, a, &b, c->out);
    return true;
}

bool op_variadic(op_call *c)
{
    struct binary_row row = find_row(c);
    const tensor *first = op_in(c, 0);
    tensor shape = *first;
    for (uint32_t i = 1; i < c->in_count; i++)
        if (!op_in(c, i))
            return op_fail(c, "leaves out input %u", i);
        else if (!same_type(c, first, op_in(c, i)) ||
                 !op_broadcast(c, &shape, op_in(c, i), &shape.rank, shape.dims))
            return false;
    if (!op_result(c, 0, first->type, shape.rank, shape.dims))
        return false;
    op_walk w = op_walk_start(first, shape.rank, shape.dims);
    for (size_t i = 0; i < c->out->count; i++, op_walk_next(&w))
        memcpy(tensor_at(c->out, i), tensor_at(first, w.offset), element_size(first->type));
    for (uint32_t i = 1; i < c->in_count; i++)
        combine(&row, c->out, op_in(c, i), c->out);
    if (!strcmp(c->node->op_type, "Mean"))
        for (size_t i = 0; i < c->out->count; i++)
            tensor_set_number(c->out, i, tensor_number(c->out, i) / c->in_count);
    return true;
}

/* ---- comparisons and logic ---------------------------------------------------------------- */

/* The orders of two numbers for which a comparison is true. */
enum { BELOW = 1, SAME = 2, ABOVE = 4 };

static const struct comparison {
    const char *op_type;
    int orders;
} comparisons[] = {{"Equal", SAME},
                   {"Less", BELOW},
                   {"LessOrEqual", BELOW | SAME},
                   {"Greater", ABOVE},
                   {"GreaterOrEqual", ABOVE | SAME}};

/* 0: a or b is not a number. */
static int order_of(const tensor *a, size_t i, const tensor *b, size_t k)
{
    if (element_is_float(a->type)) {
        const double x = tensor_number(a, i), y = tensor_number(b, k);
        return x < y ? BELOW : x > y ? ABOVE : x == y ? SAME : 0;
    }
    const int64_t x = tensor_int(a, i), y = tensor_int(b, k);
    return x == y ? SAME : below(x, y, a->type == ELEMENT_UINT64) ? BELOW : ABOVE;
}

static bool compare_at(const char *op_type, const tensor *a, size_t i, const tensor *b, size_t k)
{
    for (size_t c = 0; c < sizeof comparisons / sizeof *comparisons; c++)
        if (!strcmp(op_type, comparisons[c].op_type))
            return order_of(a, i, b, k) & comparisons[c].orders;
    const bool x = tensor_int(a, i), y = tensor_int(b, k);
    return !strcmp(op_type, "And") ? x && y : !strcmp(op_type, "Or") ? x || y : x != y;
}

bool op_compare(op_call *c)
{
    const tensor *a = op_in(c, 0);
    const tensor b = place_second(c, a, op_in(c, 1));
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t rank;
    if (!same_type(c, a, &b) || !op_broadcast(c, a, &b, &rank, dims) ||
        !op_result(c, 0, ELEMENT_BOOL, rank, dims))
        return false;
    op_walk wa = op_walk_start(a, rank, dims), wb = op_walk_start(&b, rank, dims);
    for (size_t i = 0; i < c->out->count; i++, op_walk_next(&wa), op_walk_next(&wb))
        ((uint8_t *)c->out->data)[i] = compare_at(c->node->op_type, a, wa.offset, &b, wb.offset);
    return true;
}

/* ---- choices ------------------------------------------------------------------------------ */

bool op_where(op_call *c)
{
    const tensor *condition = op_in(c, 0), *x = op_in(c, 1), *y = op_in(c, 2);
    tensor shape = *condition;
    if (condition->type != ELEMENT_BOOL)
        return op_fail(c, "has a condition of type %s; expected bool",
                       element_name(condition->type));
    if (!same_type(c, x, y) || !op_broadcast(c, &shape, x, &shape.rank, shape.dims) ||
        !op_broadcast(c, &shape, y, &shape.rank, shape.dims) ||
        !op_result(c, 0, x->type, shape.rank, shape.dims))
        return false;
    op_walk wc = op_walk_start(condition, shape.rank, shape.dims);
    op_walk wx = op_walk_start(x, shape.rank, shape.dims);
    op_walk wy = op_walk_start(y, shape.rank, shape.dims);
    for (size_t i = 0; i < c->out->count; i++) {
        const bool first = tensor_int(condition, wc.offset);
        const void *from = first ? tensor_at(x, wx.offset) : tensor_at(y, wy.offset);
        memcpy(tensor_at(c->out, i), from, element_size(x->type));
        op_walk_next(&wc);
        op_walk_next(&wx);
        op_walk_next(&wy);
    }
    return true;
}

/* If the lower bound is above the upper one, the upper one counts. */
bool op_clip(op_call *c)
{
    const tensor *x = op_in(c, 0), *low = op_in(c, 1), *high = op_in(c, 2);
    const bool is_unsigned = x->type == ELEMENT_UINT64;
    if ((low && low->count != 1) || (high && high->count != 1))
        return op_fail(c, "has a bound that is not one number");
    if (!op_result_like(c, 0, x))
        return false;
    for (size_t i = 0; i < x->count; i++) {
        if (element_is_float(x->type)) {
            double v = tensor_number(x, i);
            v = low ? float_max(v, tensor_number(low, 0)) : v;
            tensor_set_number(c->out, i, high ? float_min(v, tensor_number(high, 0)) : v);
        } else {
            int64_t v = tensor_int(x, i);
            v = low ? int_max(v, tensor_int(low, 0), is_unsigned) : v;
            v = high ? int_min(v, tensor_int(high, 0), is_unsigned) : v;
            tensor_set_int(c->out, i, v);
        }
    }
    return true;
}

/* ---- special numbers ------------------------------------------------------------------------ */

bool op_is_nan(op_call *c)
{
    const tensor *x = op_in(c, 0);
    if (!op_result(c, 0, ELEMENT_BOOL, x->rank, x->dims))
        return false;
    for (size_t i = 0; i < x->count; i++)
        tensor_set_int(c->out, i, isnan(tensor_number(x, i)));
    return true;
}

bool op_is_inf(op_call *c)
{
    const bool negative = onnx_int(c->node, "detect_negative", 1),
               positive = onnx_int(c->node, "detect_positive", 1);
    const tensor *x = op_in(c, 0);
    if (!op_result(c, 0, ELEMENT_BOOL, x->rank, x->dims))
        return false;
    for (size_t i = 0; i < x->count; i++) {
        const double v = tensor_number(x, i);
        tensor_set_int(c->out, i, isinf(v) && (v < 0 ? negative : positive));
    }
    return true;
}

/* 0 between -lambd and lambd, and nearer to 0 by the bias outside. */
bool op_shrink(op_call *c)
{
    const double limit = (double)onnx_float(c->node, "lambd", 0.5f),
                 bias = (double)onnx_float(c->node, "bias", 0);
    const tensor *x = op_in(c, 0);
    if (!op_result_like(c, 0, x))
        return false;
    for (size_t i = 0; i < x->count; i++) {
        const double v = tensor_number(x, i);
        tensor_set_number(c->out, i, v < -limit ? v + bias : v > limit ? v - bias : 0);
    }
    return true;
}
