// SPDX-License-Identifier: Apache-2.0
/* The vector types of 16 bytes, `v16`, and of 16 floats, `vf`, on ARMv8.1-M's vector extension
 * (MVE, "Helium"), with the operations that vector_rows.h lists. Conversions between fp32 and fp16
 * round to nearest even and keep fp16's subnormals. Loads and stores of elements larger than a byte
 * must be aligned to the element, which planes need not be: these are copied as bytes. */
#ifndef MONA_MVE_VECTOR_H
#define MONA_MVE_VECTOR_H

#include <arm_mve.h>
#include <stdint.h>

#include "engine/cpu/c/compiler.h"

/* ---- 16 bytes ------------------------------------------------------------------------------- */

typedef uint8x16_t v16;

INLINE v16 load16(const void *p)
{
    return vldrbq_u8(p);
}

INLINE void store16(void *p, v16 v)
{
    vstrbq_u8(p, v);
}

INLINE v16 set16(uint8_t byte)
{
    return vdupq_n_u8(byte);
}

INLINE v16 even16(const uint8_t *p)
{
    return vld2q_u8(p).val[0];
}

/* Interleaving is done by stores. */
INLINE v16 zip8(v16 a, v16 b, const uint32_t half)
{
    uint8_t bytes[32];
    const uint8x16x2_t both = {{a, b}};
    vst2q_u8(bytes, both);
    return load16(bytes + 16 * half);
}

INLINE v16 zip16(v16 a, v16 b, const uint32_t half)
{
    uint16_t halves[16];
    const uint16x8x2_t both = {{vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)}};
    vst2q_u16(halves, both);
    return load16(halves + 8 * half);
}

INLINE v16 zip32(v16 a, v16 b, const uint32_t half)
{
    uint32_t words[8];
    const uint32x4x2_t both = {{vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)}};
    vst2q_u32(words, both);
    return load16(words + 4 * half);
}

INLINE v16 zip64(v16 a, v16 b, const uint32_t half)
{
    uint8_t bytes[24];
    if (half == 0) {
        store16(bytes, a), store16(bytes + 8, b);
        return load16(bytes);
    }
    store16(bytes + 8, b), store16(bytes, a);
    return load16(bytes + 8);
}

#define zip8_low(a, b) zip8(a, b, 0)
#define zip8_high(a, b) zip8(a, b, 1)
#define zip16_low(a, b) zip16(a, b, 0)
#define zip16_high(a, b) zip16(a, b, 1)
#define zip32_low(a, b) zip32(a, b, 0)
#define zip32_high(a, b) zip32(a, b, 1)
#define zip64_low(a, b) zip64(a, b, 0)
#define zip64_high(a, b) zip64(a, b, 1)

/* ---- 16 floats ------------------------------------------------------------------------------ */

#include "engine/cpu/arm/fours.h"

INLINE vf vf_load(const float *p)
{
    return (vf){vldrwq_f32(p), vldrwq_f32(p + 4), vldrwq_f32(p + 8), vldrwq_f32(p + 12)};
}

INLINE void vf_store(float *p, vf v)
{
    vstrwq_f32(p, v.a);
    vstrwq_f32(p + 4, v.b);
    vstrwq_f32(p + 8, v.c);
    vstrwq_f32(p + 12, v.d);
}

BOTH_OF_EACH(vf_and, vandq_f32)

/* Not vmaxnm and vminnm: these order zeros by their signs, vf_max and vf_min must not. */
INLINE float32x4_t four_max(float32x4_t x, float32x4_t y)
{
    return vpselq_f32(x, y, vcmpgtq_f32(x, y));
}

INLINE float32x4_t four_min(float32x4_t x, float32x4_t y)
{
    return vpselq_f32(x, y, vcmpgtq_f32(y, x));
}

BOTH_OF_EACH(vf_max, four_max)
BOTH_OF_EACH(vf_min, four_min)

/* Clamps to [low, high], neither of which is -0. A NaN becomes low. */
INLINE vf vf_clamp(vf v, float low, float high)
{
    const vf l = vf_set1(low), h = vf_set1(high), m = BOTH(v, l, vmaxnmq_f32);
    return BOTH(m, h, vminnmq_f32);
}

INLINE vf vf_from_s32(const int32_t *p)
{
    return (vf){vcvtq_f32_s32(vldrwq_s32(p)), vcvtq_f32_s32(vldrwq_s32(p + 4)),
                vcvtq_f32_s32(vldrwq_s32(p + 8)), vcvtq_f32_s32(vldrwq_s32(p + 12))};
}

/* Conversions to and from fp16, which lies in the lower half of a lane. They are instructions in
 * q0, as binutils 2.40 encodes them wrongly in other registers. */
INLINE float32x4_t to_half(float32x4_t v)
{
    register float32x4_t q __asm__("q0") = v;
    __asm__("vcvtb.f16.f32 q0, q0" : "+w"(q));
    return q;
}

INLINE float32x4_t from_half(uint32x4_t h)
{
    register float32x4_t q __asm__("q0") = vreinterpretq_f32_u32(h);
    __asm__("vcvtb.f32.f16 q0, q0" : "+w"(q));
    return q;
}

INLINE float32x4_t rounded(float32x4_t v)
{
    register float32x4_t q __asm__("q0") = v;
    __asm__("vcvtb.f16.f32 q0, q0\n\tvcvtb.f32.f16 q0, q0" : "+w"(q));
    return q;
}

INLINE vf vf_round(vf v)
{
    return EACH(v, rounded);
}

#include "engine/cpu/arm/rounding.h"

INLINE vf vf_half(vf v)
{
    return vf_round(vf_clamp(v, -65504, 65504));
}

INLINE float32x4_t clean(float32x4_t v)
{
    return vpselq_f32(v, vdupq_n_f32(0), vcmpeqq_f32(v, v));
}

INLINE vf vf_clean(vf v)
{
    return EACH(v, clean);
}

INLINE float32x4_t first(float32x4_t v, uint32_t n, uint32_t before)
{
    return vpselq_f32(v, vdupq_n_f32(0), vctp32q(n > before ? n - before : 0));
}

INLINE vf vf_first(vf v, uint32_t n)
{
    return (vf){first(v.a, n, 0), first(v.b, n, 4), first(v.c, n, 8), first(v.d, n, 12)};
}

/* ---- stored elements ------------------------------------------------------------------------ */

INLINE vf vf_u8(v16 v)
{
    uint8_t p[16];
    store16(p, v);
    return (vf){vcvtq_f32_u32(vldrbq_u32(p)), vcvtq_f32_u32(vldrbq_u32(p + 4)),
                vcvtq_f32_u32(vldrbq_u32(p + 8)), vcvtq_f32_u32(vldrbq_u32(p + 12))};
}

INLINE vf vf_s8(v16 v)
{
    int8_t p[16];
    store16(p, v);
    return (vf){vcvtq_f32_s32(vldrbq_s32(p)), vcvtq_f32_s32(vldrbq_s32(p + 4)),
                vcvtq_f32_s32(vldrbq_s32(p + 8)), vcvtq_f32_s32(vldrbq_s32(p + 12))};
}

INLINE vf vf_u16(const uint8_t *p)
{
    uint16_t h[16];
    store16(h, load16(p)), store16(h + 8, load16(p + 16));
    return (vf){vcvtq_f32_u32(vldrhq_u32(h)), vcvtq_f32_u32(vldrhq_u32(h + 4)),
                vcvtq_f32_u32(vldrhq_u32(h + 8)), vcvtq_f32_u32(vldrhq_u32(h + 12))};
}

INLINE vf vf_f16(const uint8_t *p)
{
    uint16_t h[16];
    store16(h, load16(p)), store16(h + 8, load16(p + 16));
    return (vf){from_half(vldrhq_u32(h)), from_half(vldrhq_u32(h + 4)),
                from_half(vldrhq_u32(h + 8)), from_half(vldrhq_u32(h + 12))};
}

/* The conversions round half to even, and saturate. */
INLINE uint32x4_t to_unsigned(float32x4_t v, uint32_t max)
{
    return vminq_u32(vcvtnq_u32_f32(v), vdupq_n_u32(max));
}

INLINE int32x4_t to_s8(float32x4_t v)
{
    return vmaxq_s32(vminq_s32(vcvtnq_s32_f32(v), vdupq_n_s32(127)), vdupq_n_s32(-128));
}

INLINE v16 vf_to_u8(vf v)
{
    uint8_t p[16];
    vstrbq_u32(p, to_unsigned(v.a, 255));
    vstrbq_u32(p + 4, to_unsigned(v.b, 255));
    vstrbq_u32(p + 8, to_unsigned(v.c, 255));
    vstrbq_u32(p + 12, to_unsigned(v.d, 255));
    return load16(p);
}

INLINE v16 vf_to_s8(vf v)
{
    int8_t p[16];
    vstrbq_s32(p, to_s8(v.a));
    vstrbq_s32(p + 4, to_s8(v.b));
    vstrbq_s32(p + 8, to_s8(v.c));
    vstrbq_s32(p + 12, to_s8(v.d));
    return load16(p);
}

INLINE void vf_to_u16(uint8_t *p, vf v)
{
    uint16_t h[16];
    vstrhq_u32(h, to_unsigned(v.a, 65535));
    vstrhq_u32(h + 4, to_unsigned(v.b, 65535));
    vstrhq_u32(h + 8, to_unsigned(v.c, 65535));
    vstrhq_u32(h + 12, to_unsigned(v.d, 65535));
    store16(p, load16(h)), store16(p + 16, load16(h + 8));
}

INLINE void vf_to_f16(uint8_t *p, vf v)
{
    const vf c = vf_clamp(v, -65504, 65504);
    uint16_t h[16];
    vstrhq_u32(h, vreinterpretq_u32_f32(to_half(c.a)));
    vstrhq_u32(h + 4, vreinterpretq_u32_f32(to_half(c.b)));
    vstrhq_u32(h + 8, vreinterpretq_u32_f32(to_half(c.c)));
    vstrhq_u32(h + 12, vreinterpretq_u32_f32(to_half(c.d)));
    store16(p, load16(h)), store16(p + 16, load16(h + 8));
}

/* Integers of 8 bits, of either sign, rounded half to even. v must lie in the type's range.
 * 1.5 * 2^23 has an ulp of 1, so adding it rounds and leaves the integer in the low bits. */
INLINE v16 vf_to_bytes(vf v)
{
    const vf sum = vf_add(v, vf_set1(0x1.8p23f));
    uint8_t p[16];
    vstrbq_u32(p, vreinterpretq_u32_f32(sum.a));
    vstrbq_u32(p + 4, vreinterpretq_u32_f32(sum.b));
    vstrbq_u32(p + 8, vreinterpretq_u32_f32(sum.c));
    vstrbq_u32(p + 12, vreinterpretq_u32_f32(sum.d));
    return load16(p);
}

#endif
