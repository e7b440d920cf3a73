// SPDX-License-Identifier: Apache-2.0
/* The conversions of f16.h for finite values, without branches so that compilers vectorise loops
 * over them, and these loops. Private to the portable instructions and row programs. */
#ifndef MONA_C_VECTOR_H
#define MONA_C_VECTOR_H

#include "engine/cpu/cpu.h"
#include "engine/model_format.h"
#include "engine/cpu/c/f16.h"

/* To round a = |x| to fp16, a power of two is added and subtracted again, whose ulp in fp32 is that
 * of a in fp16. For 2^e <= a < 2^(e + 1) with e >= -14 the ulp is 2^(e - 10), which is that of
 * 2^(e + 13). Below 2^-14 it is the same as for e = -14. */
typedef struct mona_rounding {
    float a, power; /* a: at most 65504 */
} mona_rounding;

static inline mona_rounding mona_rounding_of(float x)
{
    const uint32_t magnitude = mona_bits(x) & 0x7fffffff;
    const uint32_t u = magnitude < 0x477fe000 ? magnitude : 0x477fe000; /* 65504 */
    const uint32_t normal = u > 0x38800000 ? u : 0x38800000;            /* 2^-14 */
    return (mona_rounding){mona_float(u), mona_float((normal & 0x7f800000) + (13u << 23))};
}

/* mona_f16_round for finite x. */
static inline float mona_round_finite(float x)
{
    const mona_rounding r = mona_rounding_of(x);
    return mona_float(mona_bits(r.a + r.power - r.power) | (mona_bits(x) & 0x80000000));
}

/* mona_f16_from_f32 for finite x: a counted in ulps. Each step of the exponent is worth 1024. */
static inline uint16_t mona_half_of_finite(float x)
{
    const mona_rounding r = mona_rounding_of(x);
    const uint32_t ulps = mona_bits(r.a + r.power) - mona_bits(r.power);
    const uint32_t exponent = (mona_bits(r.power) >> 23) - (127 - 14 + 13);
    return (uint16_t)((mona_bits(x) >> 16 & 0x8000) | (ulps + (exponent << 10)));
}

static inline uint16_t mona_wide(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* Converts count stored elements to floats. */
static inline void mona_to_floats(float *restrict to, const uint8_t *from, mona_type type,
                                  size_t count)
{
    const int8_t *restrict s8 = (const int8_t *)from;
    const uint8_t *restrict u8 = from;
    if (type == MONA_U8)
        for (size_t i = 0; i < count; i++)
            to[i] = u8[i];
    else if (type == MONA_S8)
        for (size_t i = 0; i < count; i++)
            to[i] = s8[i];
    else if (type == MONA_F16)
        for (size_t i = 0; i < count; i++)
            to[i] = mona_f32_from_f16(mona_wide(from + 2 * i));
    else
        for (size_t i = 0; i < count; i++)
            to[i] = mona_wide(from + 2 * i);
}

/* mona_saturate_round for |x| < 2^22. It adds 1.5 * 2^23, whose ulp is 1. */
static inline int32_t mona_saturate_small(float x, int32_t low, int32_t high)
{
    const int32_t q = (int32_t)(mona_bits(x + 0x1.8p23f) - mona_bits(0x1.8p23f));
    const int32_t capped = q < high ? q : high;
    return capped > low ? capped : low;
}

/* Rounds values in the range of fp16 or U16 to the type, saturating; U8 and U16 saturate at
 * maximum. */
static inline void mona_from_floats(uint8_t *to, const float *restrict from, mona_type type,
                                    size_t count, uint32_t maximum)
{
    uint8_t *restrict bytes = to;
    const int32_t high = (int32_t)maximum;
    if (type == MONA_U8)
        for (size_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)mona_saturate_small(from[i], 0, high);
    else if (type == MONA_S8)
        for (size_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)mona_saturate_small(from[i], -128, 127);
    else
        for (size_t i = 0; i < count; i++) {
            const uint16_t wide = type == MONA_F16
                                      ? mona_half_of_finite(from[i])
                                      : (uint16_t)mona_saturate_small(from[i], 0, high);
            memcpy(to + 2 * i, &wide, sizeof wide);
        }
}

/* Applies the activation. slope: one for each element, for PRELU. */
static inline void mona_activate_all(float *restrict t, size_t count, uint8_t activation,
                                     const mona_epilogue *e, const float *slope)
{
    const float low = e->clip_min, high = e->clip_max;
    if (activation == MONA_ACT_RELU)
        for (size_t i = 0; i < count; i++)
            t[i] = t[i] > 0 ? t[i] : 0;
    else if (activation == MONA_ACT_CLIP)
        for (size_t i = 0; i < count; i++) {
            const float v = t[i] > low ? t[i] : low;
            t[i] = v < high ? v : high;
        }
    else if (activation == MONA_ACT_PRELU)
        for (size_t i = 0; i < count; i++) {
            const float positive = t[i] > 0 ? t[i] : 0, negative = t[i] < 0 ? t[i] : 0;
            t[i] = positive + mona_round_finite(negative * slope[i]); /* one of them is zero */
        }
}

#endif
