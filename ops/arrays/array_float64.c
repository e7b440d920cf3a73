// SPDX-License-Identifier: Apache-2.0
/* ARRAY_MAP's functions of fp32 numbers that are evaluated in fp64 and rounded once. */
#include "ops/arrays/arrays.h"
#include "ops/arrays/real.h"

static double elu(double a, const float *p)
{
    return (double)p[1] * (a > 0 ? a : (double)p[0] * mona_real_expm1(a * (double)p[2]));
}

static double swish(double a, const float *p)
{
    return a * mona_real_sigmoid((double)p[0] * a);
}

/* function: one of the three NARROW functions. Division and multiplication by a power of two are
 * exact. An fp64 number that is no integer is below 2^52. */
static double narrow(double a, const float *p, uint32_t function)
{
    const double magnitude = real_abs(a);
    if (magnitude == 0 || magnitude != magnitude)
        return a;
    int64_t exponent = (int64_t)(real_bits(magnitude) >> 52) - 1023;
    exponent = exponent < (int64_t)p[1] ? (int64_t)p[1] : exponent;
    const double step = real_power_of_2(exponent - (int64_t)p[0]);
    const double steps = magnitude / step, nearest = real_round(steps < 0x1p50 ? steps : 0);
    const double below = nearest > steps ? nearest - 1 : nearest;
    const double n = function == MONA_FN_NARROW      ? nearest
                     : function == MONA_FN_NARROW_UP ? (below < steps ? below + 1 : below)
                                                     : below;
    const bool beyond = !(n * step <= (double)p[2]) || magnitude > 0x1p127 * 2;
    return real_signed(beyond ? (double)p[3] : n * step, a);
}

/* Functions of one number without parameters. */
static double (*const functions[MONA_FN_ADD])(double) = {
    [MONA_FN_SQRT] = mona_real_sqrt,       [MONA_FN_EXP] = mona_real_exp,
    [MONA_FN_LOG] = mona_real_log,         [MONA_FN_SIN] = mona_real_sin,
    [MONA_FN_COS] = mona_real_cos,         [MONA_FN_TAN] = mona_real_tan,
    [MONA_FN_ASIN] = mona_real_asin,       [MONA_FN_ACOS] = mona_real_acos,
    [MONA_FN_ATAN] = mona_real_atan,       [MONA_FN_SINH] = mona_real_sinh,
    [MONA_FN_COSH] = mona_real_cosh,       [MONA_FN_TANH] = mona_real_tanh,
    [MONA_FN_ASINH] = mona_real_asinh,     [MONA_FN_ACOSH] = mona_real_acosh,
    [MONA_FN_ATANH] = mona_real_atanh,     [MONA_FN_ERF] = mona_real_erf,
    [MONA_FN_SIGMOID] = mona_real_sigmoid, [MONA_FN_SOFTPLUS] = mona_real_softplus,
    [MONA_FN_GELU] = mona_real_gelu,       [MONA_FN_GELU_TANH] = mona_real_gelu_tanh,
    [MONA_FN_MISH] = mona_real_mish,
};

void mona_array_apply_float64(uint32_t function, const float *p, float *y, const float *a,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = (float)(function == MONA_FN_ELU     ? elu((double)a[i], p)
                       : function == MONA_FN_SWISH ? swish((double)a[i], p)
                       : functions[function]       ? functions[function]((double)a[i])
                                                   : narrow((double)a[i], p, function));
}

/* The remainder with the sign of b, as in Python. fmod has the sign of a. */
static float modulo(float a, float b)
{
    const float r = (float)mona_real_fmod((double)a, (double)b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

float mona_array_float64(uint32_t function, float a, float b)
{
    if (function == MONA_FN_MOD)
        return modulo(a, b);
    return (float)(function == MONA_FN_POW ? mona_real_pow((double)a, (double)b)
                                           : mona_real_fmod((double)a, (double)b));
}
