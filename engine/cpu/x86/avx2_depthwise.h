// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions. Part of avx2_conv.h.
 *
 * A step is 4 neighbouring columns of 16 channels. Zips put the columns of a channel side by side:
 * all 4 for vpdpbusd, or 2 and 2, widened, for vpmaddwd. FP16 multiplies one column at a time. */

/* Adds the products of a step. p: 4 columns; w: their weights. */
INLINE void depthwise_step(__m256i *acc, const uint8_t *p, const uint8_t *w, const bool is_signed)
{
    const v16 flip = set16(ELEMENT == 1 && is_signed ? 0x80 : 0);
    v16 columns[4], pairs[4];
    UNROLL
    for (int t = 0; t < 4; t++)
        columns[t] = _mm_xor_si128(load16(p + (size_t)t * 16), flip);
    UNROLL
    for (int t = 0; t < 2; t++) {
        pairs[2 * t] = zip8_low(columns[2 * t], columns[2 * t + 1]);
        pairs[2 * t + 1] = zip8_high(columns[2 * t], columns[2 * t + 1]);
    }
    UNROLL
    for (int h = 0; h < 2; h++) { /* channels 0 to 7, 8 to 15 */
        if (ELEMENT == 1) {
            const v16 low = zip16_low(pairs[h], pairs[2 + h]);
            const v16 high = zip16_high(pairs[h], pairs[2 + h]);
            acc[h] = dot(acc[h], _mm256_set_m128i(high, low), load_vector(w + (size_t)h * 32));
            continue;
        }
        UNROLL
        for (int t = 0; t < 2; t++) {
            const v16 pair = pairs[2 * t + h];
            const __m256i wide =
                is_signed ? _mm256_cvtepi8_epi16(pair) : _mm256_cvtepu8_epi16(pair);
            acc[h] = dot(acc[h], wide, load_vector(w + (size_t)t * 64 + (size_t)h * 32));
        }
    }
}

/* w: operands. */
INLINE void depthwise_int8_block(const job *j, const bool plain, const uint8_t *w,
                                 const uint32_t pixels, const bool is_signed, uint32_t x)
{
    const uint32_t distance = j->conv->pixel_bytes;
    __m256i acc[BLOCK * 2];
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        acc[i] = load_vector((const int32_t *)j->start[0] + i % 2 * 8);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance;
        for (uint32_t s = ac_run_steps(j->conv, j->first_run + r); s > 0; s--) {
            UNROLL
            for (uint32_t i = 0; i < pixels; i++)
                depthwise_step(acc + (size_t)i * 2, p + (size_t)i * distance, w, is_signed);
            p += 64;
            w += 64 * ELEMENT;
        }
    }
    int8_store(j, plain, acc, pixels, x);
}

INLINE void depthwise_f16_block(const job *j, const uint32_t pixels, uint32_t x)
{
    const uint32_t distance = j->conv->pixel_bytes;
    const float *w = (const float *)(const void *)j->weights[0];
    vf acc[BLOCK];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * distance;
        for (uint32_t s = ac_run_steps(j->conv, j->first_run + r); s > 0;
             s--, p += 32, w += LANES) {
            const vf b = vf_load(w);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++)
                acc[i] = vf_fmadd(vf_f16(p + (size_t)i * distance), b, acc[i]);
        }
    }
    f16_store(j, acc, pixels, x);
}

/* w: operands of INT8. */
INLINE void depthwise_pixels(const job *j, const bool plain, const uint8_t *w,
                             const uint32_t pixels)
{
    for (uint32_t i = 0; i < j->pixels; i += pixels) {
        const uint32_t x = j->origin + min_u32(i, j->pixels - pixels);
        if (j->conv->source_type == MONA_F16)
            depthwise_f16_block(j, pixels, x);
        else if (j->conv->source_type == MONA_S8)
            depthwise_int8_block(j, plain, w, pixels, true, x);
        else
            depthwise_int8_block(j, plain, w, pixels, false, x);
    }
}

static void depthwise_run(const job *j, bool plain)
{
    tile_work *work = (tile_work *)(void *)(j->row->scratch + WORK_AT);
    const uint8_t *w = j->weights[0];
    if (j->conv->source_type != MONA_F16)
        w = convert_weights(work->weights, w, ac_block_steps(j->conv, j->n));
    if (j->pixels < BLOCK)
        depthwise_pixels(j, plain, w, 1);
    else
        depthwise_pixels(j, plain, w, BLOCK);
}
