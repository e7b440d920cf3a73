// SPDX-License-Identifier: Apache-2.0
/* Row programs other than convolution, written once for every instruction set with vectors.
 * Included by each after its type `v16` (16 bytes) with load16 store16 set16(byte) even16(p) bytes
 * 0, 2, ... 30 from p on; 32 are read zip8_low(a, b), zip16_low, zip32_low, zip64_low: elements of 8
 * to 64 bits of the lower halves in turn; zip8_high ... zip64_high: of the upper halves; and
 * its type `vf` (16 floats) with vf_set1 vf_load vf_store vf_add vf_mul vf_and vf_from_s32
 *   vf_max(a, b)  a > b ? a : b           vf_min(a, b)  a < b ? a : b
 *   vf_round      rounded to fp16; for values that fp16 can hold
 *   vf_half       the same, saturating; no NaN may come in
 *   vf_clean      NaN becomes 0
 *   vf_first(v, n)  lanes n.. become zero
 *   vf_u8 vf_s8                 16 stored elements, a v16, to floats
 *   vf_u16 vf_f16               the same from memory
 *   vf_to_u8 vf_to_s8           rounded half to even, saturated; a v16
 *   vf_to_u16 vf_to_f16         rounded, saturated; store 16
 * Shapes that no shipped network or plane format leads to are left to the C versions. */
#ifndef AC_VECTOR_ROWS_H
#define AC_VECTOR_ROWS_H

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
    default: /* of arrays alone */
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

/* The same for the first count elements; nothing beyond them is touched. */
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

INLINE vf activate(vf t, uint8_t activation, const ac_epilogue *e, vf slope)
{
    const vf zero = vf_set1(0);
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU:
        return vf_max(t, zero);
    case MONA_ACT_PRELU: /* one of the two is zero, so their sum needs no rounding */
        return vf_add(vf_max(t, zero), vf_half(vf_mul(vf_min(t, zero), slope)));
    case MONA_ACT_CLIP:
        return vf_min(vf_max(t, vf_set1(e->clip_min)), vf_set1(e->clip_max));
    case MONA_ACT_NONE:
    case MONA_ACT_COUNT:
        break;
    }
    return t;
}

#endif
