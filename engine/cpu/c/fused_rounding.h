// SPDX-License-Identifier: Apache-2.0
/* Rounding to the 11 bits of fp16 by two multiply-adds, as avx512_epilogue.h derives it. Included
 * after a vector type. */
#ifndef MONA_FUSED_ROUNDING_H
#define MONA_FUSED_ROUNDING_H

INLINE vf round_11_bits(vf t)
{
    const vf power = vf_set1(8192);
    return vf_fmadd(t, power, vf_fnmadd(t, power, t));
}

/* A number of 11 bits to multiply by, so that t = v * x is not needed on its own: 8192 x and 8191 x
 * are exact, and if t is so too, the result is the same. */
typedef struct factor {
    vf more, less;
} factor;

INLINE factor factor_of(float x)
{
    return (factor){vf_set1(8192 * x), vf_set1(-8191 * x)};
}

INLINE vf times_11_bits(vf v, factor x)
{
    return vf_fmadd(v, x.more, vf_mul(v, x.less));
}

#endif
