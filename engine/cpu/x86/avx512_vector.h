// SPDX-License-Identifier: Apache-2.0
/* The vector type of 16 floats on AVX-512, in one register, with the operations that vector_rows.h
 * lists. */
#ifndef MONA_AVX512_VECTOR_H
#define MONA_AVX512_VECTOR_H

#include <stdbool.h>

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

BINARY(vf, vf_add, _mm512_add_ps)
BINARY(vf, vf_sub, _mm512_sub_ps)
BINARY(vf, vf_mul, _mm512_mul_ps)
BINARY(vf, vf_div, _mm512_div_ps)

/* a * b + c and c - a * b, rounded once. */
INLINE vf vf_fmadd(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE vf vf_fnmadd(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

INLINE vf vf_power2(vf v)
{
    const __m512i exponent = _mm512_add_epi32(_mm512_castps_si512(v), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(exponent, 23));
}

/* vmaxps and vminps return their second operand unless the comparison holds. */
BINARY(vf, vf_max, _mm512_max_ps)
BINARY(vf, vf_min, _mm512_min_ps)
BINARY(vf, vf_and, _mm512_and_ps)

INLINE v16 vf_sums(vf v)
{
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    return add_floats(_mm_castps_si128(_mm256_castps256_ps128(eight)),
                      _mm_castps_si128(_mm256_extractf128_ps(eight, 1)));
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

INLINE __m128i vf_to_bytes(vf v)
{
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v));
}

INLINE __m128i vf_to_u8(vf v)
{
    return vf_to_bytes(vf_clamp(v, 0, 255));
}

INLINE __m128i vf_to_s8(vf v)
{
    return vf_to_bytes(vf_clamp(v, -128, 127));
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

/* Dwords (lane, i) become (i, lane). */
INLINE __m512i lanes_turned(__m512i v)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return _mm512_permutexvar_epi32(order, v);
}

/* Packs four pixels to bytes. Packing works within lanes of 128 bits, so the order of the results
 * is dword (lane, pixel). */
INLINE __m512i packed(const __m512i q[4], bool is_signed)
{
    const __m512i a = _mm512_packs_epi32(q[0], q[1]), b = _mm512_packs_epi32(q[2], q[3]);
    return is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
}

/* The same, with one pixel after another. */
INLINE __m512i four_to_bytes(const __m512i q[4], bool is_signed)
{
    return lanes_turned(packed(q, is_signed));
}

#define VF_TO_FOUR
INLINE void vf_to_four(uint8_t *p, const vf v[4], bool is_signed)
{
    __m512i q[4];
    UNROLL
    for (uint32_t i = 0; i < 4; i++)
        q[i] = _mm512_cvtps_epi32(v[i]);
    _mm512_storeu_si512(p, four_to_bytes(q, is_signed));
}

#include "engine/cpu/c/fused_rounding.h"

/* Pairs of entries 2 i and 2 i + 1 for 32 i's, of which vpermi2w reads six bits. upper: those of i
 * >= 64. */
INLINE __m512i pairs_at(__m512i i, __mmask32 upper, const __m512i table[4])
{
    return _mm512_mask_blend_epi16(upper, _mm512_permutex2var_epi16(table[0], i, table[1]),
                                   _mm512_permutex2var_epi16(table[2], i, table[3]));
}

/* Looks up even bytes and odd ones apart: a pair, from which a shift by 0 or 8 bits selects. */
INLINE __m512i looked_up(__m512i bytes, const __m512i table[4])
{
    const __m512i eight = _mm512_set1_epi16(8);
    const __mmask32 upper = _mm512_test_epi16_mask(bytes, _mm512_set1_epi16(0x80));
    const __m512i even = pairs_at(_mm512_srli_epi16(bytes, 1), upper, table);
    const __m512i odd = pairs_at(_mm512_srli_epi16(bytes, 9), _mm512_movepi16_mask(bytes), table);
    const __m512i down = _mm512_and_si512(_mm512_slli_epi16(bytes, 3), eight);
    const __m512i up = _mm512_andnot_si512(_mm512_srli_epi16(bytes, 5), eight);
    return _mm512_mask_blend_epi8(0xaaaaaaaaaaaaaaaa, _mm512_srlv_epi16(even, down),
                                  _mm512_sllv_epi16(odd, up));
}

INLINE void apply_table(uint8_t *p, size_t count, const uint8_t *table)
{
    __m512i parts[4];
    for (int i = 0; i < 4; i++)
        parts[i] = _mm512_loadu_si512(table + (size_t)i * 64);
    for (; count >= 64; count -= 64, p += 64)
        _mm512_storeu_si512(p, looked_up(_mm512_loadu_si512(p), parts));
    const __mmask64 rest = ((__mmask64)1 << count) - 1;
    if (count)
        _mm512_mask_storeu_epi8(p, rest, looked_up(_mm512_maskz_loadu_epi8(rest, p), parts));
}

#endif
