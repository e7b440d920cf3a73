// SPDX-License-Identifier: Apache-2.0
/* The vector type of 16 floats on AVX-512, in one register, with the operations that vector_rows.h
 * lists. */
#ifndef AC_AVX512_VECTOR_H
#define AC_AVX512_VECTOR_H

#include "engine/cpu/x86/x86.h"

typedef __m512 vf;

INLINE vf vf_set1(float x)
{
    return _mm512_set1_ps(x);
}

INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

INLINE void vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

INLINE vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

INLINE vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

/* vmaxps and vminps return their second operand unless the comparison holds. */
INLINE vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

INLINE vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

INLINE vf vf_and(vf a, vf b)
{
    return _mm512_and_ps(a, b);
}

INLINE vf vf_from_s32(const int32_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_loadu_si512(p));
}

INLINE vf vf_clamp(vf v, float low, float high)
{
    return _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(low)), _mm512_set1_ps(high));
}

INLINE __m256i to_half(vf v)
{
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vf vf_round(vf v)
{
    return _mm512_cvtph_ps(to_half(v));
}

INLINE vf vf_half(vf v)
{
    return vf_round(vf_clamp(v, -65504, 65504));
}

INLINE vf vf_clean(vf v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
}

INLINE vf vf_first(vf v, uint32_t n)
{
    return _mm512_maskz_mov_ps((__mmask16)((1u << n) - 1), v);
}

INLINE vf vf_u8(__m128i v)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(v));
}

INLINE vf vf_s8(__m128i v)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(v));
}

INLINE vf vf_u16(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)));
}

INLINE vf vf_f16(const uint8_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

INLINE __m128i vf_to_u8(vf v)
{
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(vf_clamp(v, 0, 255)));
}

INLINE __m128i vf_to_s8(vf v)
{
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(vf_clamp(v, -128, 127)));
}

INLINE void vf_to_u16(uint8_t *p, vf v)
{
    const __m512i q = _mm512_cvtps_epi32(vf_clamp(v, 0, 65535));
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(q));
}

INLINE void vf_to_f16(uint8_t *p, vf v)
{
    _mm256_storeu_si256((__m256i *)p, to_half(vf_clamp(v, -65504, 65504)));
}

#endif
