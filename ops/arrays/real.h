// SPDX-License-Identifier: Apache-2.0
/* Elementary functions in fp64, made only of + - * / and operations on integers. They need no
 * mathematics library and give the same bits on every machine that rounds IEEE binary64 to nearest
 * even. Arguments are fp32 numbers, or results of arithmetic on a few of them (no fp64 subnormals).
 * Relative errors are about 10^-13, so rounding to fp32 is correct except for values closer than
 * that to a tie. Infinities and NaNs follow IEEE 754. */
#ifndef MONA_OPS_REAL_H
#define MONA_OPS_REAL_H

#include "engine/libc.h"

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t real_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double real_of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline double real_abs(double x)
{
    return real_of_bits(real_bits(x) & INT64_MAX);
}

/* The magnitude of x with the sign of s. */
static inline double real_signed(double x, double s)
{
    const uint64_t sign = (uint64_t)1 << 63;
    return real_of_bits((real_bits(x) & ~sign) | (real_bits(s) & sign));
}

/* 2^k, -1022 <= k <= 1023. */
static inline double real_power_of_2(int64_t k)
{
    return real_of_bits((uint64_t)(k + 1023) << 52);
}

/* Rounds half to even; |x| < 2^51. */
static inline double real_round(double x)
{
    return real_signed(real_abs(x) + 0x1p52 - 0x1p52, x);
}

double mona_real_sqrt(double x);
double mona_real_exp(double x); /* 0 below -700, infinite above 700 */
/* y[i] = exp(x[i] - less), rounded to fp32; y may be x. */
void mona_real_exp_row(float *y, const float *x, float less, uint32_t count);
double mona_real_expm1(double x); /* exp(x) - 1; above 700 as for 700 */
double mona_real_log(double x);
double mona_real_pow(double x, double y);
double mona_real_sinh(double x);
double mona_real_cosh(double x);
double mona_real_tanh(double x);
double mona_real_asinh(double x);
double mona_real_acosh(double x);
double mona_real_atanh(double x);
double mona_real_erf(double x);
double mona_real_sin(double x); /* of an fp32 number, like the next two */
double mona_real_cos(double x);
double mona_real_tan(double x);
double mona_real_asin(double x);
double mona_real_acos(double x);
double mona_real_atan(double x);
double mona_real_sigmoid(double x);
double mona_real_softplus(double x);
double mona_real_mish(double x);
double mona_real_gelu(double x);
double mona_real_gelu_tanh(double x);

/* x - n * y, where n is x / y truncated; exact. */
double mona_real_fmod(double x, double y);

#endif
