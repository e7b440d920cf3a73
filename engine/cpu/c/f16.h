// SPDX-License-Identifier: Apache-2.0
/* fp16 <-> fp32 in integer arithmetic, and the rounding rules of model_format.h. Gives the same
 * bits on every machine whose float is IEEE binary32, rounding to nearest even, and needs no
 * functions of a compiler's run-time library. */
#ifndef MONA_F16_H
#define MONA_F16_H

#include <stdint.h>

#include "engine/libc.h"

enum { F16_ONE = 0x3c00 };

static inline uint32_t mona_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float mona_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Exact. The exponent of normal numbers is rebiased by 127 - 15, that of infinities and NaNs by
 * twice as much. A subnormal number is 2^-24 * fraction: its fraction is put behind the hidden bit
 * of 2^-14, and 2^-14 is subtracted. From all others 0 is subtracted, so that there is no branch
 * and loops become vector code. */
static inline float mona_f32_from_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h & 0x7c00u;
    const uint32_t rebias = exponent == 0x7c00 ? 0x70000000u : exponent ? 0x38000000u : 0x38800000u;
    const float hidden = exponent ? 0 : 0x1p-14f;
    return mona_float(sign |
                      mona_bits(mona_float(((uint32_t)(h & 0x7fff) << 13) + rebias) - hidden));
}

/* Rounds to nearest even. Saturates from +-65504 on, infinities included; a NaN becomes 0. */
static inline uint16_t mona_f16_from_f32(float x)
{
    uint32_t u = mona_bits(x);
    const uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
    u &= 0x7fffffff;
    if (u >= 0x477fe000) /* 65504 */
        return u > 0x7f800000 ? 0 : sign | 0x7bff;
    if (u < 0x38800000) /* below 2^-14: the ulp of 0.5f is 2^-24, one step of a subnormal */
        return sign | (uint16_t)(mona_bits(mona_float(u) + 0.5f) - 0x3f000000);
    return sign | (uint16_t)((u - 0x38000000 + 0xfff + (u >> 13 & 1)) >> 13);
}

static inline float mona_f16_round(float x)
{
    return mona_f32_from_f16(mona_f16_from_f32(x));
}

/* round_half_even(x), saturated to [low, high], which must lie within +-2^22. A NaN becomes low.
 * 1.5 * 2^23 has an ulp of 1, so adding it rounds. */
static inline int32_t mona_saturate_round(float x, float low, float high)
{
    x = x > low ? x : low;
    x = x < high ? x : high;
    return (int32_t)(mona_bits(x + 0x1.8p23f) - mona_bits(0x1.8p23f));
}

#endif
