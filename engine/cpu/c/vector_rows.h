// SPDX-License-Identifier: Apache-2.0
/* Row programs other than convolution, written once for every instruction set with vectors.
 *
 * Each instruction set defines two vector types and their functions, then includes this file.
 *
 * `v16`, 16 bytes:
 *   load16(p)             16 bytes from p on
 *   store16(p, v)
 *   set16(byte)           the same byte 16 times
 *   even16(p)             bytes 0, 2, ... 30 from p on; may read 32 bytes
 *   zip8_low(a, b)        the elements of 8 bits of the lower halves of a and b, alternating
 *   zip16_low, zip32_low, zip64_low      the same for elements of 16, 32 and 64 bits
 *   zip8_high ... zip64_high             the same for the upper halves
 *   add_floats(a, b)      the sums of the 4 floats in each
 *
 * `vf`, 16 floats:
 *   vf_set1(x), vf_load(p), vf_store(p, v), vf_add(a, b), vf_mul(a, b), vf_and(a, b)
 *   vf_sub(a, b), vf_div(a, b), vf_power2(v), see functions.h
 *   vf_max(a, b)          a > b ? a : b
 *   vf_min(a, b)          a < b ? a : b
 *   vf_round(v)           rounded to fp16; beyond its range an infinity
 *   round_11_bits(v)      the same, except for subnormals of fp16 and the sign of zeros
 *   times_11_bits(v, factor_of(x))     round_11_bits(v * x), where x has 11 bits and v * x is exact
 *   vf_half(v)            the same, saturating; v holds no NaN
 *   vf_clean(v)           each NaN replaced by 0
 *   vf_first(v, n)        lanes from n on replaced by 0
 *   vf_sums(v)            4 floats, of which i is (v[i] + v[i + 8]) + (v[i + 4] + v[i + 12])
 *   vf_from_s32(p)        from 16 s32 at p
 *   vf_u8(v), vf_s8(v)    from the 16 elements of a v16
 *   vf_u16(p), vf_f16(p)  from 16 elements at p
 *   vf_to_u8(v), vf_to_s8(v)             rounded half to even and saturated, as a v16
 *   vf_to_bytes(v)        either, if v lies in the type's range
 *   vf_to_u16(p, v), vf_to_f16(p, v)     the same, stored at p
 *
 * Shapes that no built-in model and no plane format needs are left to the C versions. */
#ifndef MONA_VECTOR_ROWS_H
#define MONA_VECTOR_ROWS_H

#include "engine/cpu/c/epilogue.h"
#include "engine/cpu/c/rows.h"

enum { LANES = 16 };

INLINE vf vf_from(mona_type type, const uint8_t *p)
{
    switch (type) {
    case MONA_U8:
        return vf_u8(load16(p));
    case MONA_S8:
        return vf_s8(load16(p));
    case MONA_U16:
        return vf_u16(p);
    case MONA_F16:
    default: /* types that only arrays have */
        break;
    }
    return vf_f16(p);
}

INLINE void vf_to(mona_type type, uint8_t *p, vf v)
{
    if (type == MONA_U8)
        store16(p, vf_to_u8(v));
    else if (type == MONA_S8)
        store16(p, vf_to_s8(v));
    else
        vf_to_f16(p, v);
}

/* Stores f16(v) in fewer steps. The limits of bytes are fp16 values, so v may be clamped first;
 * then subnormals of fp16 become 0. */
INLINE void vf_half_to(mona_type type, uint8_t *p, vf v)
{
    const bool u8 = type == MONA_U8;
    if (type == MONA_F16)
        vf_to_f16(p, v);
    else
        store16(p, vf_to_bytes(round_11_bits(vf_clamp(v, u8 ? 0 : -128, u8 ? 255 : 127))));
}

/* Stores four vectors of values in the range of bytes. FOUR_PAY: in less time than one by one. */
#ifdef VF_TO_FOUR
enum { FOUR_PAY = true };
#else
enum { FOUR_PAY = false };
INLINE void vf_to_four(uint8_t *p, const vf v[4], bool is_signed)
{
    (void)is_signed;
    for (uint32_t i = 0; i < 4; i++)
        store16(p + (size_t)i * LANES, vf_to_bytes(v[i]));
}
#endif

/* vf_half_to() for four vectors. */
INLINE void vf_half_to_four(mona_type type, uint8_t *p, vf v[4])
{
    const bool u8 = type == MONA_U8;
    UNROLL
    for (uint32_t i = 0; i < 4; i++)
        if (type == MONA_F16)
            vf_to_f16(p + (size_t)i * LANES * 2, v[i]);
        else
            v[i] = round_11_bits(vf_clamp(v[i], u8 ? 0 : -128, u8 ? 255 : 127));
    if (type != MONA_F16)
        vf_to_four(p, v, !u8);
}

/* vf_from() and vf_to() for the first count elements. Nothing beyond them is read or written. */
INLINE vf vf_from_some(mona_type type, const uint8_t *p, uint32_t count)
{
    uint8_t bytes[2 * LANES] = {0};
    memcpy(bytes, p, count * mona_type_size(type));
    return vf_from(type, bytes);
}

INLINE void vf_to_some(mona_type type, uint8_t *p, vf v, uint32_t count)
{
    uint8_t bytes[2 * LANES];
    vf_to(type, bytes, v);
    memcpy(p, bytes, count * mona_type_size(type));
}

INLINE vf activate(vf t, uint8_t activation, const mona_epilogue *e, vf slope)
{
    const vf zero = vf_set1(0);
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU:
        return vf_max(t, zero);
    case MONA_ACT_PRELU: /* one summand is zero, so the sum needs no rounding */
        return vf_add(vf_max(t, zero), vf_half(vf_mul(vf_min(t, zero), slope)));
    case MONA_ACT_CLIP:
        return vf_min(vf_max(t, vf_set1(e->clip_min)), vf_set1(e->clip_max));
    default: /* functions are applied by function_row() */
        break;
    }
    return t;
}

#endif
