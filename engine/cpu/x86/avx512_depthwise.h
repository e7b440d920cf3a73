// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions. Part of avx512.c.
 *
 * A step is 4 neighbouring columns of 16 channels, 64 bytes, and vpdpbusd wants the 4 columns of a
 * channel side by side: two permutations turn the 4 x 16 bytes around. So 3x3 takes 3 products for
 * 16 results, where the dense form takes 36. Filters of at most 3 columns leave one of the 4 over,
 * so that neighbouring pixels share them: the second's weights move up by a column. */

/* From [4 columns][16 channels] to [16 channels][4 columns]. */
INLINE __m512i columns_together(__m512i v)
{
    const __m512i turn =
        _mm512_broadcast_i32x4(_mm_set_epi8(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0));
    return _mm512_shuffle_epi8(lanes_turned(v), turn);
}

INLINE void depthwise_int8_block(const job *j, const uint32_t pixels, const bool flip, uint32_t x)
{
    const uint32_t distance = j->conv->pixel_bytes;
    const __m512i sign = _mm512_set1_epi8(flip ? -128 : 0);
    const uint8_t *w = j->weights[0];
    __m512i acc[MAX_SUMS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = _mm512_loadu_si512(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0; s--, p += 64, w += 64) {
            const __m512i b = _mm512_load_si512(w);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                __m512i a = columns_together(_mm512_loadu_si512(p + (size_t)i * distance));
                if (flip)
                    a = _mm512_xor_si512(a, sign);
                acc[i] = _mm512_dpbusd_epi32(acc[i], a, b);
            }
        }
    }
    int8_store(j, acc, pixels, 1, x);
}

/* The same for an even number of pixels that share columns. */
INLINE void depthwise_int8_pairs(const job *j, const uint32_t pixels, const bool flip, uint32_t x)
{
    const __m512i sign = _mm512_set1_epi8(flip ? -128 : 0);
    const uint8_t *w = j->weights[0];
    __m512i acc[MAX_SUMS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = _mm512_loadu_si512(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++, w += 64) {
        const uint8_t *p = j->runs[r] + (size_t)x * AC_FRACTAL;
        const __m512i first = _mm512_load_si512(w), second = _mm512_slli_epi32(first, 8);
        UNROLL
        for (uint32_t i = 0; i < pixels; i += 2) {
            __m512i a = columns_together(_mm512_loadu_si512(p + (size_t)i * AC_FRACTAL));
            if (flip)
                a = _mm512_xor_si512(a, sign);
            acc[i] = _mm512_dpbusd_epi32(acc[i], a, first);
            acc[i + 1] = _mm512_dpbusd_epi32(acc[i + 1], a, second);
        }
    }
    int8_store(j, acc, pixels, 1, x);
}

INLINE void depthwise_f16_block(const job *j, const uint32_t pixels, const uint32_t stride,
                                uint32_t x)
{
    vf acc[MAX_SUMS];
    depthwise_sums(acc, j, pixels, stride, x);
    f16_store(j, acc, pixels, 1, 0, x);
}

INLINE void depthwise_pixels(const job *j, const uint32_t pixels)
{
    const uint32_t end = j->origin + j->pixels;
    const bool is_signed = j->conv->source_type == MONA_S8;
    const bool pairs = pixels % 2 == 0 && j->conv->pixel_bytes == AC_FRACTAL &&
                       j->conv->run_elements[j->first_run] <= 3;
    for (uint32_t i = j->origin; i < end; i += pixels) {
        const uint32_t x = min_u32(i, end - pixels);
        if (j->conv->source_type == MONA_F16 && j->conv->stride == 1)
            depthwise_f16_block(j, pixels, 1, x);
        else if (j->conv->source_type == MONA_F16)
            depthwise_f16_block(j, pixels, 2, x);
        else if (pairs && is_signed)
            depthwise_int8_pairs(j, pixels, true, x);
        else if (pairs)
            depthwise_int8_pairs(j, pixels, false, x);
        else if (is_signed)
            depthwise_int8_block(j, pixels, true, x);
        else
            depthwise_int8_block(j, pixels, false, x);
    }
}

static void depthwise_run(const job *j)
{
    if (j->pixels < 7 || (j->conv->source_type == MONA_F16 && j->conv->stride > 2))
        depthwise_pixels(j, 1);
    else if (j->pixels % 16 == 0)
        depthwise_pixels(j, 16);
    else if (j->pixels < 28 && j->pixels != 14)
        depthwise_pixels(j, 7);
    else
        depthwise_pixels(j, 14);
}
