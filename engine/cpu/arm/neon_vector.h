// SPDX-License-Identifier: Apache-2.0
/* The vector types of 16 bytes, `v16`, and of 16 floats, `vf`, on Advanced SIMD, with the
 * operations that vector_rows.h lists. Conversions between fp32 and fp16 round to nearest even and
 * keep subnormals, as is the default. On ARMv7-A fp32 vectors flush subnormals, but fp16 values and
 * their products never are subnormal in fp32. */
#ifndef MONA_NEON_VECTOR_H
#define MONA_NEON_VECTOR_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/cpu/c/compiler.h"
#include "engine/cpu/isa_table.h"

#ifndef __aarch64__
#include "engine/cpu/arm/neon_armv7.h"
#endif

/* Those that the instruction sets of NEON share, and convolutions. */
MONA_DECLARE_ISA(neon)

/* ---- 16 bytes ------------------------------------------------------------------------------- */

typedef uint8x16_t v16;

INLINE v16 load16(const void *p)
{
    return vld1q_u8(p);
}

INLINE void store16(void *p, v16 v)
{
    vst1q_u8(p, v);
}

INLINE v16 set16(uint8_t byte)
{
    return vdupq_n_u8(byte);
}

INLINE v16 even16(const uint8_t *p)
{
    return vuzp1q_u8(load16(p), load16(p + 16));
}

BINARY(v16, zip8_low, vzip1q_u8)
BINARY(v16, zip8_high, vzip2q_u8)

#define ZIP(bits, part, vzip)                                                                      \
    INLINE v16 zip##bits##_##part(v16 a, v16 b)                                                    \
    {                                                                                              \
        return vreinterpretq_u8_u##bits(                                                           \
            vzip##_u##bits(vreinterpretq_u##bits##_u8(a), vreinterpretq_u##bits##_u8(b)));         \
    }
ZIP(16, low, vzip1q)
ZIP(16, high, vzip2q)
ZIP(32, low, vzip1q)
ZIP(32, high, vzip2q)
ZIP(64, low, vzip1q)
ZIP(64, high, vzip2q)

INLINE v16 add_floats(v16 a, v16 b)
{
    return vreinterpretq_u8_f32(vaddq_f32(vreinterpretq_f32_u8(a), vreinterpretq_f32_u8(b)));
}

/* ---- 16 floats ------------------------------------------------------------------------------ */

#include "engine/cpu/arm/fours.h"

INLINE vf vf_load(const float *p)
{
    return (vf){vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)};
}

INLINE void vf_store(float *p, vf v)
{
    vst1q_f32(p, v.a);
    vst1q_f32(p + 4, v.b);
    vst1q_f32(p + 8, v.c);
    vst1q_f32(p + 12, v.d);
}

BOTH_OF_EACH(vf_sub, vsubq_f32)
BOTH_OF_EACH(vf_div, vdivq_f32)

INLINE v16 vf_sums(vf v)
{
    return vreinterpretq_u8_f32(vaddq_f32(vaddq_f32(v.a, v.c), vaddq_f32(v.b, v.d)));
}

INLINE float32x4_t four_power2(float32x4_t v)
{
    const uint32x4_t exponent = vaddq_u32(vreinterpretq_u32_f32(v), vdupq_n_u32(127));
    return vreinterpretq_f32_u32(vshlq_n_u32(exponent, 23));
}

INLINE vf vf_power2(vf v)
{
    return EACH(v, four_power2);
}

INLINE float32x4_t four_and(float32x4_t x, uint32x4_t mask)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), mask));
}

INLINE vf vf_and(vf x, vf mask)
{
    return (vf){
        four_and(x.a, vreinterpretq_u32_f32(mask.a)), four_and(x.b, vreinterpretq_u32_f32(mask.b)),
        four_and(x.c, vreinterpretq_u32_f32(mask.c)), four_and(x.d, vreinterpretq_u32_f32(mask.d))};
}

/* Not fmax and fmin: these order zeros by their signs, vf_max and vf_min must not. */
INLINE float32x4_t four_max(float32x4_t x, float32x4_t y)
{
    return vbslq_f32(vcgtq_f32(x, y), x, y);
}

INLINE float32x4_t four_min(float32x4_t x, float32x4_t y)
{
    return vbslq_f32(vcltq_f32(x, y), x, y);
}

BOTH_OF_EACH(vf_max, four_max)
BOTH_OF_EACH(vf_min, four_min)

/* Clamps to [low, high], neither of which is -0. Then fmaxnm, like vf_max, gives max(-0, +0) = +0,
 * and a limit of zero has only one sign. A NaN becomes low. */
INLINE vf vf_clamp(vf v, float low, float high)
{
    const float32x4_t l = vdupq_n_f32(low), h = vdupq_n_f32(high);
    return (vf){vminnmq_f32(vmaxnmq_f32(v.a, l), h), vminnmq_f32(vmaxnmq_f32(v.b, l), h),
                vminnmq_f32(vmaxnmq_f32(v.c, l), h), vminnmq_f32(vmaxnmq_f32(v.d, l), h)};
}

INLINE vf vf_from_s32(const int32_t *p)
{
    return (vf){vcvtq_f32_s32(vld1q_s32(p)), vcvtq_f32_s32(vld1q_s32(p + 4)),
                vcvtq_f32_s32(vld1q_s32(p + 8)), vcvtq_f32_s32(vld1q_s32(p + 12))};
}

INLINE float16x8_t to_half(float32x4_t low, float32x4_t high)
{
    return vcvt_high_f16_f32(vcvt_f16_f32(low), high);
}

INLINE vf from_half(float16x8_t low, float16x8_t high)
{
    return (vf){vcvt_f32_f16(vget_low_f16(low)), vcvt_high_f32_f16(low),
                vcvt_f32_f16(vget_low_f16(high)), vcvt_high_f32_f16(high)};
}

INLINE vf vf_round(vf v)
{
    return from_half(to_half(v.a, v.b), to_half(v.c, v.d));
}

#include "engine/cpu/arm/rounding.h"

INLINE vf vf_half(vf v)
{
    return vf_round(vf_clamp(v, -65504, 65504));
}

INLINE vf vf_clean(vf v)
{
    return (vf){four_and(v.a, vceqq_f32(v.a, v.a)), four_and(v.b, vceqq_f32(v.b, v.b)),
                four_and(v.c, vceqq_f32(v.c, v.c)), four_and(v.d, vceqq_f32(v.d, v.d))};
}

INLINE vf vf_first(vf v, uint32_t n)
{
    static const uint32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint32x4_t count = vdupq_n_u32(n);
    return (vf){four_and(v.a, vcltq_u32(vld1q_u32(lanes), count)),
                four_and(v.b, vcltq_u32(vld1q_u32(lanes + 4), count)),
                four_and(v.c, vcltq_u32(vld1q_u32(lanes + 8), count)),
                four_and(v.d, vcltq_u32(vld1q_u32(lanes + 12), count))};
}

/* ---- stored elements ------------------------------------------------------------------------ */

INLINE vf from_u16(uint16x8_t low, uint16x8_t high)
{
    return (vf){vcvtq_f32_u32(vmovl_u16(vget_low_u16(low))), vcvtq_f32_u32(vmovl_high_u16(low)),
                vcvtq_f32_u32(vmovl_u16(vget_low_u16(high))), vcvtq_f32_u32(vmovl_high_u16(high))};
}

INLINE vf from_s16(int16x8_t low, int16x8_t high)
{
    return (vf){vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_high_s16(low)),
                vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_high_s16(high))};
}

INLINE vf vf_u8(v16 v)
{
    return from_u16(vmovl_u8(vget_low_u8(v)), vmovl_high_u8(v));
}

INLINE vf vf_s8(v16 v)
{
    const int8x16_t s = vreinterpretq_s8_u8(v);
    return from_s16(vmovl_s8(vget_low_s8(s)), vmovl_high_s8(s));
}

INLINE vf vf_u16(const uint8_t *p)
{
    return from_u16(vreinterpretq_u16_u8(load16(p)), vreinterpretq_u16_u8(load16(p + 16)));
}

INLINE vf vf_f16(const uint8_t *p)
{
    return from_half(vreinterpretq_f16_u8(load16(p)), vreinterpretq_f16_u8(load16(p + 16)));
}

/* The conversion rounds half to even. It saturates, and so do both narrowings. */
INLINE uint16x8_t to_u16(float32x4_t low, float32x4_t high)
{
    return vqmovn_high_u32(vqmovn_u32(vcvtnq_u32_f32(low)), vcvtnq_u32_f32(high));
}

INLINE int16x8_t to_s16(float32x4_t low, float32x4_t high)
{
    return vqmovn_high_s32(vqmovn_s32(vcvtnq_s32_f32(low)), vcvtnq_s32_f32(high));
}

INLINE v16 vf_to_u8(vf v)
{
    return vqmovn_high_u16(vqmovn_u16(to_u16(v.a, v.b)), to_u16(v.c, v.d));
}

INLINE v16 vf_to_s8(vf v)
{
    const int8x8_t low = vqmovn_s16(to_s16(v.a, v.b));
    return vreinterpretq_u8_s8(vqmovn_high_s16(low, to_s16(v.c, v.d)));
}

INLINE void vf_to_u16(uint8_t *p, vf v)
{
    store16(p, vreinterpretq_u8_u16(to_u16(v.a, v.b)));
    store16(p + 16, vreinterpretq_u8_u16(to_u16(v.c, v.d)));
}

INLINE void vf_to_f16(uint8_t *p, vf v)
{
    const vf c = vf_clamp(v, -65504, 65504);
    store16(p, vreinterpretq_u8_f16(to_half(c.a, c.b)));
    store16(p + 16, vreinterpretq_u8_f16(to_half(c.c, c.d)));
}

/* The low 16 bits of integers of 8 bits, of either sign, rounded half to even. v must lie in the
 * type's range. 1.5 * 2^23 has an ulp of 1, so adding it rounds and leaves the integer in the low
 * bits. */
INLINE uint16x8_t low_halves(float32x4_t low, float32x4_t high)
{
    const float32x4_t magic = vdupq_n_f32(0x1.8p23f);
    return vuzp1q_u16(vreinterpretq_u16_f32(vaddq_f32(low, magic)),
                      vreinterpretq_u16_f32(vaddq_f32(high, magic)));
}

INLINE v16 vf_to_bytes(vf v)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(low_halves(v.a, v.b)),
                     vreinterpretq_u8_u16(low_halves(v.c, v.d)));
}

#endif
