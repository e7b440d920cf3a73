// SPDX-License-Identifier: Apache-2.0
/* The vector type of 16 words on AVX2, with the operations that vector_curves.h lists. */
#ifndef MONA_AVX2_WORDS_H
#define MONA_AVX2_WORDS_H

#include "engine/cpu/x86/avx2_vector.h"

enum { WORDS = 16 };

typedef __m256i vw;

/* The lower and the upper bytes of 16 words, in both halves. */
typedef struct vw_table {
    __m256i low, high;
} vw_table;

INLINE vw vw_set(int16_t x)
{
    return _mm256_set1_epi16(x);
}

INLINE vw vw_load(const uint8_t *p)
{
    return load_vector(p);
}

INLINE void vw_store(uint8_t *p, vw v)
{
    store_vector(p, v);
}

INLINE vw vw_load_bytes(const uint8_t *p)
{
    return _mm256_cvtepu8_epi16(load16(p));
}

INLINE void vw_store_bytes(uint8_t *p, vw v)
{
    store16(p, _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}

BINARY(vw, vw_add, _mm256_add_epi16)
BINARY(vw, vw_add_saturated, _mm256_adds_epi16)
BINARY(vw, vw_and, _mm256_and_si256)
BINARY(vw, vw_min, _mm256_min_epi16)
BINARY(vw, vw_max, _mm256_max_epi16)
BINARY(vw, vw_scaled, _mm256_mulhrs_epi16)

INLINE vw vw_left(vw a, uint32_t bits)
{
    return _mm256_sll_epi16(a, _mm_cvtsi32_si128((int)bits));
}

INLINE vw vw_right(vw a, uint32_t bits)
{
    return _mm256_srl_epi16(a, _mm_cvtsi32_si128((int)bits));
}

INLINE vw vw_right_signed(vw a, uint32_t bits)
{
    return _mm256_sra_epi16(a, _mm_cvtsi32_si128((int)bits));
}

INLINE vw_table vw_table_of(const int16_t *words)
{
    const __m128i even = _mm_set1_epi16(0xff), a = load16(words), b = load16(words + 8);
    const __m128i low = _mm_packus_epi16(_mm_and_si128(a, even), _mm_and_si128(b, even));
    const __m128i high = _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
    return (vw_table){_mm256_broadcastsi128_si256(low), _mm256_broadcastsi128_si256(high)};
}

/* An index byte whose top bit is set gives zero. */
INLINE vw vw_look(vw_table table, vw index)
{
    const __m256i low = _mm256_or_si256(index, _mm256_set1_epi16((int16_t)0x8000));
    const __m256i high = _mm256_or_si256(_mm256_slli_epi16(index, 8), _mm256_set1_epi16(0x80));
    return _mm256_or_si256(_mm256_shuffle_epi8(table.low, low),
                           _mm256_shuffle_epi8(table.high, high));
}

#endif
