// SPDX-License-Identifier: Apache-2.0
/* The vector type of 16 bytes on x86, `v16`, with the operations that vector_rows.h lists. */
#ifndef MONA_X86_H
#define MONA_X86_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/cpu/c/compiler.h"

/* Makes gcc update accumulator v in place. Without it gcc renames each accumulator in every
 * iteration, which takes twice the registers, and spills. */
#define KEEP_IN_PLACE(v) __asm__("" : "+v"(v))

typedef __m128i v16;

INLINE v16 load8(const void *p)
{
    return _mm_loadl_epi64((const __m128i *)p);
}

INLINE v16 load16(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

INLINE void store16(void *p, v16 v)
{
    _mm_storeu_si128((__m128i *)p, v);
}

INLINE v16 set16(uint8_t byte)
{
    return _mm_set1_epi8((char)byte);
}

INLINE v16 add_floats(v16 a, v16 b)
{
    return _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}

INLINE v16 even16(const uint8_t *p)
{
    const v16 low = _mm_set1_epi16(0xff);
    return _mm_packus_epi16(_mm_and_si128(load16(p), low), _mm_and_si128(load16(p + 16), low));
}

BINARY(v16, zip8_low, _mm_unpacklo_epi8)
BINARY(v16, zip8_high, _mm_unpackhi_epi8)
BINARY(v16, zip16_low, _mm_unpacklo_epi16)
BINARY(v16, zip16_high, _mm_unpackhi_epi16)
BINARY(v16, zip32_low, _mm_unpacklo_epi32)
BINARY(v16, zip32_high, _mm_unpackhi_epi32)
BINARY(v16, zip64_low, _mm_unpacklo_epi64)
BINARY(v16, zip64_high, _mm_unpackhi_epi64)

#endif
