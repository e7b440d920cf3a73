// SPDX-License-Identifier: Apache-2.0
/* ARRAY_MAP's functions of fp32 numbers. Those of a few fp32 operations are inlined into separate
 * loops, which compilers vectorise; array_float64.c has the others. */
#include "ops/arrays/arrays.h"

#include "engine/cpu/c/compiler.h"

/* ---- of one number: a few operations ------------------------------------------------------ */

INLINE float copy(float a, const float *p)
{
    (void)p;
    return a;
}

INLINE float absolute(float a, const float *p)
{
    (void)p;
    return mona_float(mona_bits(a) & 0x7fffffff);
}

INLINE float negative(float a, const float *p)
{
    (void)p;
    return mona_float(mona_bits(a) ^ 0x80000000);
}

INLINE float sign(float a, const float *p)
{
    (void)p;
    return a > 0 ? 1.0f : a < 0 ? -1.0f : a;
}

INLINE float is_zero(float a, const float *p)
{
    (void)p;
    return a == 0 ? 1.0f : 0.0f;
}

INLINE float relu(float a, const float *p)
{
    (void)p;
    return a < 0 ? 0.0f : a;
}

/* Gives a magnitude the sign of a. Needed for a result of 0. */
INLINE float with_sign(float magnitude, float a)
{
    return mona_float((mona_bits(magnitude) & 0x7fffffff) | (mona_bits(a) & 0x80000000));
}

/* From 2^23 on every number is an integer. */
INLINE float truncated(float a, const float *p)
{
    (void)p;
    const bool whole = !(mona_float(mona_bits(a) & 0x7fffffff) < 0x1p23f);
    return whole ? a : with_sign((float)(int32_t)(whole ? 0.0f : a), a);
}

INLINE float down(float a, const float *p)
{
    const float t = truncated(a, p);
    return t > a ? t - 1 : t;
}

INLINE float up(float a, const float *p)
{
    const float t = truncated(a, p);
    return t < a ? with_sign(t + 1, a) : t;
}

INLINE float rounded(float a, const float *p)
{
    (void)p;
    return round_even(a);
}

INLINE float reciprocal(float a, const float *p)
{
    (void)p;
    return 1.0f / a;
}

INLINE float softsign(float a, const float *p)
{
    return a / (1.0f + absolute(a, p));
}

INLINE float leaky_relu(float a, const float *p)
{
    const float t = p[0] * a;
    return a < 0 ? t : a;
}

INLINE float within_01(float t)
{
    t = t < 1 ? t : 1.0f;
    return t > 0 ? t : 0.0f;
}

INLINE float hard_sigmoid(float a, const float *p)
{
    const float t = p[0] * a;
    return a != a ? a : within_01(t + p[1]);
}

INLINE float hard_swish(float a, const float *p)
{
    (void)p;
    return a * within_01(a / 6.0f + 0.5f);
}

INLINE float threshold(float a, const float *p)
{
    return a > p[0] ? a : 0.0f;
}

INLINE float shrink(float a, const float *p)
{
    return a < -p[0] ? a + p[1] : a > p[0] ? a - p[1] : 0.0f;
}

INLINE float is_nan(float a, const float *p)
{
    (void)p;
    return a != a ? 1.0f : 0.0f;
}

INLINE float is_infinite(float a, const float *p)
{
    const float infinity = __builtin_inff();
    return (a == infinity && p[1] != 0) || (a == -infinity && p[0] != 0) ? 1.0f : 0.0f;
}

INLINE void each(float *y, const float *a, const float *p, uint32_t count,
                 float (*f)(float, const float *))
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = f(a[i], p);
}

/* ---- of one number: all ------------------------------------------------------------------- */

static void apply_one(uint32_t function, const float *p, float *y, const float *a, uint32_t count)
{
    switch (function) {
    case MONA_FN_COPY:
        each(y, a, p, count, copy);
        break;
    case MONA_FN_ABS:
        each(y, a, p, count, absolute);
        break;
    case MONA_FN_NEG:
        each(y, a, p, count, negative);
        break;
    case MONA_FN_SIGN:
        each(y, a, p, count, sign);
        break;
    case MONA_FN_NOT:
        each(y, a, p, count, is_zero);
        break;
    case MONA_FN_RELU:
        each(y, a, p, count, relu);
        break;
    case MONA_FN_FLOOR:
        each(y, a, p, count, down);
        break;
    case MONA_FN_CEIL:
        each(y, a, p, count, up);
        break;
    case MONA_FN_ROUND:
        each(y, a, p, count, rounded);
        break;
    case MONA_FN_TRUNC:
        each(y, a, p, count, truncated);
        break;
    case MONA_FN_RECIPROCAL:
        each(y, a, p, count, reciprocal);
        break;
    case MONA_FN_SOFTSIGN:
        each(y, a, p, count, softsign);
        break;
    case MONA_FN_LEAKY_RELU:
        each(y, a, p, count, leaky_relu);
        break;
    case MONA_FN_HARD_SIGMOID:
        each(y, a, p, count, hard_sigmoid);
        break;
    case MONA_FN_HARD_SWISH:
        each(y, a, p, count, hard_swish);
        break;
    case MONA_FN_THRESHOLD:
        each(y, a, p, count, threshold);
        break;
    case MONA_FN_SHRINK:
        each(y, a, p, count, shrink);
        break;
    case MONA_FN_IS_NAN:
        each(y, a, p, count, is_nan);
        break;
    case MONA_FN_IS_INF:
        each(y, a, p, count, is_infinite);
        break;
    default:
        mona_array_apply_float64(function, p, y, a, count);
        break;
    }
}

/* ---- of two and three --------------------------------------------------------------------- */

INLINE float smaller(float a, float b)
{
    return a < b || a != a ? a : b;
}

INLINE float larger(float a, float b)
{
    return a > b || a != a ? a : b;
}

INLINE float of_two(uint32_t function, float a, float b)
{
    switch (function) {
    case MONA_FN_ADD:
        return a + b;
    case MONA_FN_SUB:
        return a - b;
    case MONA_FN_MUL:
        return a * b;
    case MONA_FN_DIV:
        return a / b;
    case MONA_FN_MIN:
        return smaller(a, b);
    case MONA_FN_MAX:
        return larger(a, b);
    case MONA_FN_EQUAL:
        return a == b ? 1.0f : 0.0f;
    case MONA_FN_LESS:
        return a < b ? 1.0f : 0.0f;
    case MONA_FN_LESS_EQUAL:
        return a <= b ? 1.0f : 0.0f;
    case MONA_FN_AND:
        return a != 0 && b != 0 ? 1.0f : 0.0f;
    case MONA_FN_OR:
        return a != 0 || b != 0 ? 1.0f : 0.0f;
    case MONA_FN_XOR:
        return (a != 0) != (b != 0) ? 1.0f : 0.0f;
    case MONA_FN_PRELU:
        return a < 0 ? a * b : a;
    default:
        return mona_array_float64(function, a, b);
    }
}

INLINE float of_three(uint32_t function, float a, float b, float c)
{
    switch (function) {
    case MONA_FN_WHERE:
        return a != 0 ? b : c;
    case MONA_FN_CLIP:
        return smaller(larger(a, b), c);
    case MONA_FN_MUL_ADD:
        return a * b + c;
    case MONA_FN_QUANTIZE:
        return round_even(a / b) + c;
    default: /* MONA_FN_DEQUANTIZE */
        return (a - c) * b;
    }
}

INLINE void each_two(uint32_t function, float *y, const float *a, const float *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = of_two(function, a[i], b[i]);
}

INLINE void each_three(uint32_t function, float *y, const float *const x[3], uint32_t count)
{
    const float *a = x[0], *b = x[1], *c = x[2];
    for (uint32_t i = 0; i < count; i++)
        y[i] = of_three(function, a[i], b[i], c[i]);
}

static void apply_two(uint32_t function, float *y, const float *a, const float *b, uint32_t count)
{
    switch (function) { /* the common ones have loops of their own */
        CASE(MONA_FN_ADD, each_two(MONA_FN_ADD, y, a, b, count));
        CASE(MONA_FN_SUB, each_two(MONA_FN_SUB, y, a, b, count));
        CASE(MONA_FN_MUL, each_two(MONA_FN_MUL, y, a, b, count));
        CASE(MONA_FN_DIV, each_two(MONA_FN_DIV, y, a, b, count));
        CASE(MONA_FN_MIN, each_two(MONA_FN_MIN, y, a, b, count));
        CASE(MONA_FN_MAX, each_two(MONA_FN_MAX, y, a, b, count));
        CASE(MONA_FN_PRELU, each_two(MONA_FN_PRELU, y, a, b, count));
    default:
        each_two(function, y, a, b, count);
        break;
    }
}

static void apply_three(uint32_t function, float *y, const float *const x[3], uint32_t count)
{
    if (function == MONA_FN_CLIP)
        each_three(MONA_FN_CLIP, y, x, count);
    else if (function == MONA_FN_MUL_ADD)
        each_three(MONA_FN_MUL_ADD, y, x, count);
    else if (function == MONA_FN_QUANTIZE)
        each_three(MONA_FN_QUANTIZE, y, x, count);
    else if (function == MONA_FN_DEQUANTIZE)
        each_three(MONA_FN_DEQUANTIZE, y, x, count);
    else
        each_three(MONA_FN_WHERE, y, x, count);
}

/* ---- all ---------------------------------------------------------------------------------- */

bool mona_array_has_float(uint32_t f)
{
    return (f <= MONA_FN_NARROW_DOWN && f != MONA_FN_BIT_NOT) ||
           (f >= MONA_FN_ADD && f <= MONA_FN_PRELU) ||
           (f >= MONA_FN_WHERE && f <= MONA_FN_DEQUANTIZE);
}

void mona_array_apply_float(uint32_t function, const float p[4], float *y, const float *const x[3],
                            uint32_t count)
{
    const uint32_t arity = function_arity(function);
    if (arity == 1)
        apply_one(function, p, y, x[0], count);
    else if (arity == 2)
        apply_two(function, y, x[0], x[1], count);
    else
        apply_three(function, y, x, count);
}
