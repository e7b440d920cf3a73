// SPDX-License-Identifier: Apache-2.0
/* The vector type of 32 words on AVX-512, with the operations that vector_curves.h lists. */
#ifndef MONA_AVX512_WORDS_H
#define MONA_AVX512_WORDS_H

#include "engine/cpu/x86/x86.h"

enum { WORDS = 32 };

typedef __m512i vw;
typedef __m512i vw_table; /* 16 words twice */

INLINE vw vw_set(int16_t x)
{
    return _mm512_set1_epi16(x);
}

INLINE vw vw_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

INLINE void vw_store(uint8_t *p, vw v)
{
    _mm512_storeu_si512(p, v);
}

INLINE vw vw_load_bytes(const uint8_t *p)
{
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p));
}

INLINE void vw_store_bytes(uint8_t *p, vw v)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi16_epi8(v));
}

BINARY(vw, vw_add, _mm512_add_epi16)
BINARY(vw, vw_add_saturated, _mm512_adds_epi16)
BINARY(vw, vw_and, _mm512_and_si512)
BINARY(vw, vw_min, _mm512_min_epi16)
BINARY(vw, vw_max, _mm512_max_epi16)
BINARY(vw, vw_scaled, _mm512_mulhrs_epi16)

INLINE vw vw_left(vw a, uint32_t bits)
{
    return _mm512_sll_epi16(a, _mm_cvtsi32_si128((int)bits));
}

INLINE vw vw_right(vw a, uint32_t bits)
{
    return _mm512_srl_epi16(a, _mm_cvtsi32_si128((int)bits));
}

INLINE vw vw_right_signed(vw a, uint32_t bits)
{
    return _mm512_sra_epi16(a, _mm_cvtsi32_si128((int)bits));
}

INLINE vw_table vw_table_of(const int16_t *words)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)words));
}

INLINE vw vw_look(vw_table table, vw index)
{
    return _mm512_permutexvar_epi16(index, table);
}

#endif
