// SPDX-License-Identifier: Apache-2.0
/* The vector type of 16 floats on AVX2, in two registers, with the operations that vector_rows.h
 * lists. */
#ifndef MONA_AVX2_VECTOR_H
#define MONA_AVX2_VECTOR_H

#include "engine/cpu/x86/x86.h"

typedef struct vf {
    __m256 l, h;
} vf;

INLINE __m256i load_vector(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

INLINE void store_vector(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

INLINE vf vf_set1(float x)
{
    return (vf){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}

INLINE vf vf_load(const float *p)
{
    return (vf){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

INLINE void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v.l);
    _mm256_storeu_ps(p + 8, v.h);
}

#define BOTH_HALVES(name, operation)                                                               \
    INLINE vf name(vf a, vf b)                                                                     \
    {                                                                                              \
        return (vf){operation(a.l, b.l), operation(a.h, b.h)};                                     \
    }
BOTH_HALVES(vf_add, _mm256_add_ps)
BOTH_HALVES(vf_sub, _mm256_sub_ps)
BOTH_HALVES(vf_mul, _mm256_mul_ps)
BOTH_HALVES(vf_div, _mm256_div_ps)

INLINE __m256 eight_power2(__m256 v)
{
    const __m256i exponent = _mm256_add_epi32(_mm256_castps_si256(v), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
}

INLINE vf vf_power2(vf v)
{
    return (vf){eight_power2(v.l), eight_power2(v.h)};
}

/* a * b + c and c - a * b, rounded once. */
INLINE vf vf_fmadd(vf a, vf b, vf c)
{
    return (vf){_mm256_fmadd_ps(a.l, b.l, c.l), _mm256_fmadd_ps(a.h, b.h, c.h)};
}

INLINE vf vf_fnmadd(vf a, vf b, vf c)
{
    return (vf){_mm256_fnmadd_ps(a.l, b.l, c.l), _mm256_fnmadd_ps(a.h, b.h, c.h)};
}

/* vmaxps and vminps return their second operand unless the comparison holds. */
BOTH_HALVES(vf_max, _mm256_max_ps)
BOTH_HALVES(vf_min, _mm256_min_ps)
BOTH_HALVES(vf_and, _mm256_and_ps)

INLINE v16 vf_sums(vf v)
{
    const __m256 eight = _mm256_add_ps(v.l, v.h);
    return add_floats(_mm_castps_si128(_mm256_castps256_ps128(eight)),
                      _mm_castps_si128(_mm256_extractf128_ps(eight, 1)));
}

INLINE vf from_s32(__m256i low, __m256i high)
{
    return (vf){_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(high)};
}

INLINE vf vf_from_s32(const int32_t *p)
{
    return from_s32(_mm256_loadu_si256((const __m256i *)p),
                    _mm256_loadu_si256((const __m256i *)(p + 8)));
}

INLINE vf vf_clamp(vf v, float low, float high)
{
    return vf_min(vf_max(v, vf_set1(low)), vf_set1(high));
}

enum { ROUND = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

INLINE vf vf_round(vf v)
{
    return (vf){_mm256_cvtph_ps(_mm256_cvtps_ph(v.l, ROUND)),
                _mm256_cvtph_ps(_mm256_cvtps_ph(v.h, ROUND))};
}

INLINE vf vf_half(vf v)
{
    return vf_round(vf_clamp(v, -65504, 65504));
}

INLINE vf vf_clean(vf v)
{
    return vf_and(v,
                  (vf){_mm256_cmp_ps(v.l, v.l, _CMP_ORD_Q), _mm256_cmp_ps(v.h, v.h, _CMP_ORD_Q)});
}

INLINE vf vf_first(vf v, uint32_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                  count = _mm256_set1_epi32((int)n);
    const __m256i low = _mm256_cmpgt_epi32(count, lane);
    const __m256i high = _mm256_cmpgt_epi32(count, _mm256_add_epi32(lane, _mm256_set1_epi32(8)));
    return vf_and(v, (vf){_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)});
}

INLINE vf vf_u8(__m128i v)
{
    return from_s32(_mm256_cvtepu8_epi32(v), _mm256_cvtepu8_epi32(_mm_srli_si128(v, 8)));
}

INLINE vf vf_s8(__m128i v)
{
    return from_s32(_mm256_cvtepi8_epi32(v), _mm256_cvtepi8_epi32(_mm_srli_si128(v, 8)));
}

INLINE vf vf_u16(const uint8_t *p)
{
    return from_s32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)),
                    _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p + 16))));
}

INLINE vf vf_f16(const uint8_t *p)
{
    return (vf){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)),
                _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 16)))};
}

/* Rounded half to even, as 16 s16. */
INLINE __m256i to_s16(vf v)
{
    const __m256i lanes = _mm256_packs_epi32(_mm256_cvtps_epi32(v.l), _mm256_cvtps_epi32(v.h));
    return _mm256_permute4x64_epi64(lanes, 0xd8);
}

INLINE __m128i vf_to_bytes(vf v)
{
    const __m256i q = _mm256_and_si256(to_s16(v), _mm256_set1_epi16(0xff));
    return _mm_packus_epi16(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

INLINE __m128i vf_to_u8(vf v)
{
    const __m256i q = to_s16(vf_clamp(v, 0, 255));
    return _mm_packus_epi16(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

INLINE __m128i vf_to_s8(vf v)
{
    const __m256i q = to_s16(vf_clamp(v, -128, 127));
    return _mm_packs_epi16(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

INLINE void vf_to_u16(uint8_t *p, vf v)
{
    const vf c = vf_clamp(v, 0, 65535);
    const __m256i lanes = _mm256_packus_epi32(_mm256_cvtps_epi32(c.l), _mm256_cvtps_epi32(c.h));
    _mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(lanes, 0xd8));
}

INLINE void vf_to_f16(uint8_t *p, vf v)
{
    const vf c = vf_clamp(v, -65504, 65504);
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(c.l, ROUND));
    _mm_storeu_si128((__m128i *)(p + 16), _mm256_cvtps_ph(c.h, ROUND));
}

#include "engine/cpu/c/fused_rounding.h"

/* vpshufb looks up 16 entries and gives 0 for indices with bit 7 set: adding 0x70 with saturation
 * sets it in all bytes that are not 0 to 15. */
static void apply_table(uint8_t *p, size_t count, const uint8_t *table)
{
    const __m256i sixteen = _mm256_set1_epi8(16), high = _mm256_set1_epi8(0x70);
    __m256i parts[16];
    for (int i = 0; i < 16; i++)
        parts[i] = _mm256_broadcastsi128_si256(load16(table + (size_t)i * 16));
    for (; count >= 32; count -= 32, p += 32) {
        __m256i index = load_vector(p), found = _mm256_setzero_si256();
        UNROLL
        for (int i = 0; i < 16; i++, index = _mm256_sub_epi8(index, sixteen)) {
            const __m256i at = _mm256_adds_epu8(index, high);
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(parts[i], at));
        }
        store_vector(p, found);
    }
    for (size_t i = 0; i < count; i++)
        p[i] = table[p[i]];
}

/* Widens elements 2 half and 2 half + 1 of each 4 of 32. */
INLINE __m256i widen_half(const uint8_t *from, const int half)
{
    const __m256i first = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(-1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13));
    const __m256i order = _mm256_add_epi16(first, _mm256_set1_epi16((int16_t)(half * 0x200)));
    return _mm256_srai_epi16(_mm256_shuffle_epi8(load_vector(from), order), 8);
}

#endif
