// SPDX-License-Identifier: Apache-2.0
/* The vector type of 8 words on Advanced SIMD, with the operations that vector_curves.h lists. */
#ifndef MONA_NEON_WORDS_H
#define MONA_NEON_WORDS_H

#include "engine/cpu/arm/neon_vector.h"

enum { WORDS = 8 };

typedef int16x8_t vw;

/* The lower and the upper bytes of 16 words. */
typedef struct vw_table {
    uint8x16_t low, high;
} vw_table;

INLINE vw vw_set(int16_t x)
{
    return vdupq_n_s16(x);
}

INLINE vw vw_load(const uint8_t *p)
{
    return vreinterpretq_s16_u8(vld1q_u8(p));
}

INLINE void vw_store(uint8_t *p, vw v)
{
    vst1q_u8(p, vreinterpretq_u8_s16(v));
}

INLINE vw vw_load_bytes(const uint8_t *p)
{
    return vreinterpretq_s16_u16(vmovl_u8(vld1_u8(p)));
}

INLINE void vw_store_bytes(uint8_t *p, vw v)
{
    vst1_u8(p, vqmovun_s16(v));
}

BINARY(vw, vw_add, vaddq_s16)
BINARY(vw, vw_add_saturated, vqaddq_s16)
BINARY(vw, vw_and, vandq_s16)
BINARY(vw, vw_min, vminq_s16)
BINARY(vw, vw_max, vmaxq_s16)
BINARY(vw, vw_scaled, vqrdmulhq_s16)

INLINE vw vw_left(vw a, uint32_t bits)
{
    return vshlq_s16(a, vdupq_n_s16((int16_t)bits));
}

INLINE vw vw_right(vw a, uint32_t bits)
{
    return vreinterpretq_s16_u16(
        vshlq_u16(vreinterpretq_u16_s16(a), vdupq_n_s16((int16_t) - (int16_t)bits)));
}

INLINE vw vw_right_signed(vw a, uint32_t bits)
{
    return vshlq_s16(a, vdupq_n_s16((int16_t) - (int16_t)bits));
}

INLINE vw_table vw_table_of(const int16_t *words)
{
    const uint8x16_t a = vreinterpretq_u8_s16(vld1q_s16(words)),
                     b = vreinterpretq_u8_s16(vld1q_s16(words + 8));
    return (vw_table){vuzp1q_u8(a, b), vuzp2q_u8(a, b)};
}

INLINE vw vw_look(vw_table table, vw index)
{
    const uint8x16_t at = vreinterpretq_u8_s16(index);
    const uint8x16_t low = vqtbl1q_u8(table.low, at), high = vqtbl1q_u8(table.high, at);
    return vreinterpretq_s16_u8(vtrn1q_u8(low, high));
}

#endif
