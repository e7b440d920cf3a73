// SPDX-License-Identifier: Apache-2.0
/* The instructions of ARMv8-A that the NEON kernels use and ARMv7-A lacks, under the names of
 * arm_neon.h. VFPv4 is needed to convert fp16: Cortex-A5, A7, A12, A15 and A17. */
#ifndef MONA_NEON_ARMV7_H
#define MONA_NEON_ARMV7_H

#include <arm_neon.h>

#include "engine/cpu/c/compiler.h"

/* ---- rearrangement -------------------------------------------------------------------------- */

#define MONA_PAIR(name, by, part, type, suffix)                                                    \
    INLINE type name##_##suffix(type a, type b)                                                    \
    {                                                                                              \
        return by##_##suffix(a, b).val[part];                                                      \
    }
MONA_PAIR(vzip1q, vzipq, 0, uint8x16_t, u8)
MONA_PAIR(vzip2q, vzipq, 1, uint8x16_t, u8)
MONA_PAIR(vzip1q, vzipq, 0, uint16x8_t, u16)
MONA_PAIR(vzip2q, vzipq, 1, uint16x8_t, u16)
MONA_PAIR(vzip1q, vzipq, 0, uint32x4_t, u32)
MONA_PAIR(vzip2q, vzipq, 1, uint32x4_t, u32)
MONA_PAIR(vuzp1q, vuzpq, 0, uint8x16_t, u8)
MONA_PAIR(vuzp2q, vuzpq, 1, uint8x16_t, u8)
MONA_PAIR(vuzp1q, vuzpq, 0, uint16x8_t, u16)
MONA_PAIR(vtrn1q, vtrnq, 0, uint8x16_t, u8)
#undef MONA_PAIR

INLINE uint64x2_t vzip1q_u64(uint64x2_t a, uint64x2_t b)
{
    return vcombine_u64(vget_low_u64(a), vget_low_u64(b));
}

INLINE uint64x2_t vzip2q_u64(uint64x2_t a, uint64x2_t b)
{
    return vcombine_u64(vget_high_u64(a), vget_high_u64(b));
}

INLINE uint8x16_t vqtbl1q_u8(uint8x16_t table, uint8x16_t index)
{
    const uint8x8x2_t halves = {{vget_low_u8(table), vget_high_u8(table)}};
    return vcombine_u8(vtbl2_u8(halves, vget_low_u8(index)), vtbl2_u8(halves, vget_high_u8(index)));
}

#define vdupq_laneq_s32(a, lane)                                                                   \
    vdupq_lane_s32((lane) < 2 ? vget_low_s32(a) : vget_high_s32(a), (lane) % 2)

/* ---- integers ------------------------------------------------------------------------------- */

INLINE int32x4_t vpaddq_s32(int32x4_t a, int32x4_t b)
{
    return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                        vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
}

INLINE int16x8_t vmull_high_s8(int8x16_t a, int8x16_t b)
{
    return vmull_s8(vget_high_s8(a), vget_high_s8(b));
}

INLINE int16x8_t vmlal_high_s8(int16x8_t sum, int8x16_t a, int8x16_t b)
{
    return vmlal_s8(sum, vget_high_s8(a), vget_high_s8(b));
}

INLINE int32x4_t vaddw_high_s16(int32x4_t sum, int16x8_t a)
{
    return vaddw_s16(sum, vget_high_s16(a));
}

#define MONA_WIDER(from, to, suffix)                                                               \
    INLINE to vmovl_high_##suffix(from a)                                                          \
    {                                                                                              \
        return vmovl_##suffix(vget_high_##suffix(a));                                              \
    }
MONA_WIDER(uint8x16_t, uint16x8_t, u8)
MONA_WIDER(int8x16_t, int16x8_t, s8)
MONA_WIDER(uint16x8_t, uint32x4_t, u16)
MONA_WIDER(int16x8_t, int32x4_t, s16)
#undef MONA_WIDER

INLINE uint8x16_t vqmovn_high_u16(uint8x8_t low, uint16x8_t a)
{
    return vcombine_u8(low, vqmovn_u16(a));
}

INLINE int8x16_t vqmovn_high_s16(int8x8_t low, int16x8_t a)
{
    return vcombine_s8(low, vqmovn_s16(a));
}

INLINE uint16x8_t vqmovn_high_u32(uint16x4_t low, uint32x4_t a)
{
    return vcombine_u16(low, vqmovn_u32(a));
}

INLINE int16x8_t vqmovn_high_s32(int16x4_t low, int32x4_t a)
{
    return vcombine_s16(low, vqmovn_s32(a));
}

/* ---- floats --------------------------------------------------------------------------------- */

INLINE float32x4_t vdivq_f32(float32x4_t a, float32x4_t b)
{
    return a / b;
}

/* Of a NaN and a number, the number; b is one, and neither is -0 where the other is +0. */
INLINE float32x4_t vmaxnmq_f32(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

INLINE float32x4_t vminnmq_f32(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

/* Rounds half to even, of a magnitude below 2^22; a NaN becomes 0. 1.5 * 2^23 has an ulp of 1, so
 * adding it rounds and leaves the integer in the low bits. What is larger becomes 2^17, which all
 * callers' narrowing saturates. */
INLINE int32x4_t vcvtnq_s32_f32(float32x4_t a)
{
    const float32x4_t magic = vdupq_n_f32(0x1.8p23f), most = vdupq_n_f32(0x1p17f);
    const uint32x4_t number = vandq_u32(vreinterpretq_u32_f32(a), vceqq_f32(a, a));
    const float32x4_t v =
        vmaxq_f32(vminq_f32(vreinterpretq_f32_u32(number), most), vnegq_f32(most));
    return vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(v, magic)), vreinterpretq_s32_f32(magic));
}

INLINE uint32x4_t vcvtnq_u32_f32(float32x4_t a)
{
    return vreinterpretq_u32_s32(vmaxq_s32(vcvtnq_s32_f32(a), vdupq_n_s32(0)));
}

INLINE float16x8_t vcvt_high_f16_f32(float16x4_t low, float32x4_t a)
{
    return vcombine_f16(low, vcvt_f16_f32(a));
}

INLINE float32x4_t vcvt_high_f32_f16(float16x8_t a)
{
    return vcvt_f32_f16(vget_high_f16(a));
}

#endif
