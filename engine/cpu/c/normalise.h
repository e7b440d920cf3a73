// SPDX-License-Identifier: Apache-2.0
/* The arithmetic of NORMALISE that every instruction set shares, on single numbers of fp32. */
#ifndef MONA_NORMALISE_H
#define MONA_NORMALISE_H

#include "engine/cpu/c/f16.h"

enum { MONA_SUMS = 16 }; /* sums over channels are kept for each of these */

/* The sum of 16 sums, which are lost. */
static inline float mona_sum_of(float sums[MONA_SUMS])
{
    for (uint32_t half = MONA_SUMS / 2; half; half /= 2)
        for (uint32_t i = 0; i < half; i++)
            sums[i] += sums[i + half];
    return sums[0];
}

/* 1 / sqrt(x) for x in 2^-100..2^100. The first guess halves the exponent and is within 3.5 %; each
 * step of Newton's squares the relative error e to 3/2 e^2: 2e-3, 5e-6, and then rounding alone. */
static inline float mona_inverse_root(float x)
{
    float r = mona_float(0x5f3759df - (mona_bits(x) >> 1));
    for (int i = 0; i < 4; i++)
        r = r * (1.5f - 0.5f * x * r * r);
    return r;
}

#endif
