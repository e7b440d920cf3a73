// SPDX-License-Identifier: Apache-2.0
/* Rounding to the 11 bits of fp16, which one conversion to fp16 and back does here. Included after
 * vf_round. */
#ifndef MONA_ARM_ROUNDING_H
#define MONA_ARM_ROUNDING_H

INLINE vf round_11_bits(vf v)
{
    return vf_round(v);
}

typedef vf factor;

INLINE factor factor_of(float x)
{
    return vf_set1(x);
}

INLINE vf times_11_bits(vf v, factor x)
{
    return vf_round(vf_mul(v, x));
}

#endif
