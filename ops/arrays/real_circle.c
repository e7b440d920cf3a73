// SPDX-License-Identifier: Apache-2.0
/* Trigonometric functions and their inverses. */
#include "ops/arrays/real.h"

#define REAL_NAN ((double)__builtin_nanf(""))

static const double half_pi = 0x1.921fb54442d18p+0;

/* ---- reduction --------------------------------------------------------------------------------
 *
 * x = (4 j + n) pi / 2 + r, |r| <= pi / 4. An fp32 number is m 2^e with a whole m below 2^24, so x
 * * 2 / pi is m times the bits of 2 / pi, of which those worth 4 or more after the shift by e only
 * count whole turns: 96 bits from there on, times m, modulo 2^96, have n in their two highest bits
 * and the fraction of a quarter turn below them, 2^-62 of it in the last of 64 bits that are kept.
 * No fp32 number is nearer to a multiple of pi / 2 than 2^-33, so r has 29 good bits more than
 * those. (Payne and Hanek) */
typedef struct reduced {
    double r;
    uint32_t quarter; /* n */
} reduced;

static const uint32_t two_over_pi[] = {0, /* bits before the binary point */
                                       0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                       0xdb629599, 0x3c439041, 0xfe5163ab};

/* Returns 32 bits of the table from bit i on. */
static uint64_t bits_from(uint32_t i)
{
    const uint64_t both = (uint64_t)two_over_pi[i / 32] << 32 | two_over_pi[i / 32 + 1];
    return both << i % 32 >> 32 & UINT32_MAX;
}

static reduced reduce(double x)
{
    const double a = real_abs(x);
    if (!(a >= half_pi / 2))
        return (reduced){x, 0};
    if (!(a < 0x1p128))
        return (reduced){REAL_NAN, 0};
    const uint64_t m = (real_bits(a) >> 29 & 0x7fffff) | 0x800000;
    const uint32_t first =
        (uint32_t)(real_bits(a) >> 52) - 1023 - 23 - 2 + 32; /* e - 2, plus the 32 bits before
                                                                the binary point */
    const uint64_t turns = (m * bits_from(first) << 32) + m * bits_from(first + 32) +
                           (m * bits_from(first + 64) >> 32);
    const uint64_t n = (turns + ((uint64_t)1 << 61)) >> 62;
    const double r = (double)(int64_t)(turns - (n << 62)) * 0x1.921fb54442d18p-62;
    return real_bits(x) >> 63 ? (reduced){-r, (uint32_t)(4 - n) & 3}
                              : (reduced){r, (uint32_t)n & 3};
}

/* ---- sine, cosine, tangent ----------------------------------------------------------------- */

/* Taylor polynomials. Up to pi / 4 their error is below 10^-15. */
static double sine(double r)
{
    const double r2 = r * r;
    double p = 1;
    for (int n = 14; n > 0; n -= 2)
        p = 1 - r2 / (n * (n + 1)) * p;
    return r * p;
}

static double cosine(double r)
{
    const double r2 = r * r;
    double p = 1;
    for (int n = 15; n > 0; n -= 2)
        p = 1 - r2 / (n * (n + 1)) * p;
    return p;
}

static double quarter_sine(double r, uint32_t quarter)
{
    const double s = quarter & 1 ? cosine(r) : sine(r);
    return quarter & 2 ? -s : s;
}

double mona_real_sin(double x)
{
    const reduced v = reduce(x);
    return quarter_sine(v.r, v.quarter);
}

double mona_real_cos(double x)
{
    const reduced v = reduce(x);
    return quarter_sine(v.r, v.quarter + 1);
}

double mona_real_tan(double x)
{
    const reduced v = reduce(x);
    return v.quarter & 1 ? -cosine(v.r) / sine(v.r) : sine(v.r) / cosine(v.r);
}

/* ---- inverses ----------------------------------------------------------------------------------
 *
 * atan(x) = atan(c) + atan((x - c) / (1 + x c)) with c the nearest eighth leaves 1 / 16 at most,
 * where eight terms of the series do; atan(x) = pi / 2 - atan(1 / x) beyond 1. */
double mona_real_atan(double x)
{
    static const double eighths[] = {0.0,
                                     0.12435499454676144,
                                     0.24497866312686414,
                                     0.35877067027057225,
                                     0.4636476090008061,
                                     0.5585993153435624,
                                     0.6435011087932844,
                                     0.7188299996216245,
                                     0.7853981633974483};
    const double a = real_abs(x), inside = a > 1 ? 1 / a : a;
    if (x != x)
        return x;
    const int i = (int)(inside * 8 + 0.5);
    const double c = i / 8.0, t = (inside - c) / (1 + inside * c), t2 = t * t;
    double p = 0;
    for (int n = 15; n > 1; n -= 2)
        p = t2 * ((n % 4 == 3 ? -1.0 : 1.0) / n + p);
    const double angle = eighths[i] + (t + t * p);
    return real_signed(a > 1 ? half_pi - angle : angle, x);
}

double mona_real_asin(double x)
{
    return mona_real_atan(x / mona_real_sqrt((1 - x) * (1 + x)));
}

double mona_real_acos(double x)
{
    return 2 * mona_real_atan(mona_real_sqrt((1 - x) / (1 + x)));
}
