// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions. Part of avx2_conv.h.
 *
 * A step is 4 neighbouring columns of 16 channels. Zips put the columns of a channel side by side:
 * all 4 for vpdpbusd, or 2 and 2, widened, for vpmaddwd, where a pair of columns serves two
 * pixels. */

/* Adds the products of a step of a pixel. p: 4 columns; w: their weights. */
INLINE void depthwise_quads(__m256i *acc, const uint8_t *p, const uint8_t *w, const bool is_signed)
{
    const v16 flip = set16(is_signed ? 0x80 : 0);
    v16 columns[4];
    UNROLL
    for (int t = 0; t < 4; t++)
        columns[t] = _mm_xor_si128(load16(p + (size_t)t * 16), flip);
    UNROLL
    for (int h = 0; h < 2; h++) { /* channels 0 to 7, 8 to 15 */
        const v16 a = h ? zip8_high(columns[0], columns[1]) : zip8_low(columns[0], columns[1]);
        const v16 b = h ? zip8_high(columns[2], columns[3]) : zip8_low(columns[2], columns[3]);
        acc[h] = dot(acc[h], _mm256_set_m128i(zip16_high(a, b), zip16_low(a, b)),
                     load_vector(w + (size_t)h * 32));
    }
}

/* The same of pixels `stride` columns apart, by pairs: columns k and k + 1 are the first pair of
 * one pixel and the second of another. Channels 8 to 15 load columns again: registers are few. */
INLINE void depthwise_pairs(__m256i *acc, const uint8_t *p, const uint8_t *w, const bool is_signed,
                            const uint32_t pixels, const uint32_t stride)
{
    UNROLL
    for (uint32_t h = 0; h < 2; h++, acc++, w += 32) {
        const __m256i w0 = load_vector(w), w1 = load_vector(w + 64);
        FORGET(p);
        UNROLL
        for (uint32_t k = 0; k < (pixels - 1) * stride + 3; k++) {
            const bool first = k % stride == 0 && k < pixels * stride;
            const bool second = k >= 2 && (k - 2) % stride == 0;
            if (!first && !second)
                continue;
            const v16 a = load16(p + (size_t)k * 16), b = load16(p + (size_t)k * 16 + 16);
            const v16 pair = h ? zip8_high(a, b) : zip8_low(a, b);
            const __m256i wide =
                is_signed ? _mm256_cvtepi8_epi16(pair) : _mm256_cvtepu8_epi16(pair);
            if (first)
                acc[k / stride * 2] = dot(acc[k / stride * 2], wide, w0);
            if (second)
                acc[(k - 2) / stride * 2] = dot(acc[(k - 2) / stride * 2], wide, w1);
        }
    }
}

/* By way of memory, to keep the code small. */
static __attribute__((noinline)) void depthwise_store(const job *j, bool plain, uint32_t pixels,
                                                      uint32_t x, const int32_t *sums)
{
    const __m256i *acc = (const __m256i *)(const void *)sums;
    if (!plain)
        finish_block(j, x, sums, sums + pixels * AC_FRACTAL);
    else if (pixels == 1)
        int8_store(j, true, acc, 1, x);
    else
        int8_store(j, true, acc, BLOCK, x);
}

INLINE void depthwise_f16(const job *j, const uint32_t pixels, const uint32_t stride, uint32_t x)
{
    vf acc[BLOCK];
    depthwise_sums(acc, j, pixels, stride, x);
    f16_store(j, acc, pixels, x);
}

INLINE void depthwise_block(const job *j, const part *of, const mona_type type,
                            const uint32_t pixels, const uint32_t stride, uint32_t x)
{
    _Alignas(64) int32_t sums[BLOCK * AC_FRACTAL];
    const uint8_t *w = of->weights;
    __m256i acc[BLOCK * 2];
    if (type == MONA_F16) {
        depthwise_f16(j, pixels, stride, x);
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        acc[i] = load_vector((const int32_t *)j->start[0] + i % 2 * 8);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0; s--) {
            UNROLL
            for (uint32_t i = 0; i < pixels && ELEMENT == 1; i++)
                depthwise_quads(acc + i * 2, p + (size_t)i * stride * 16, w, type == MONA_S8);
            if (ELEMENT == 2)
                depthwise_pairs(acc, p, w, type == MONA_S8, pixels, stride);
            p += 64;
            w += 64 * ELEMENT;
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        store_vector(sums + (size_t)i * 8, acc[i]);
    depthwise_store(j, of->plain, pixels, x, sums);
}

INLINE void depthwise_run(const job *j, const part *p, const mona_type type)
{
    const uint32_t stride = j->conv->stride;
    const uint32_t pixels = j->pixels >= BLOCK && stride <= 2 ? BLOCK : 1;
    for (uint32_t i = 0; i < j->pixels; i += pixels) {
        const uint32_t x = j->origin + min_u32(i, j->pixels - pixels);
        if (pixels == 1)
            depthwise_block(j, p, type, 1, 1, x);
        else if (stride == 1)
            depthwise_block(j, p, type, BLOCK, 1, x);
        else
            depthwise_block(j, p, type, BLOCK, 2, x);
    }
}

static void depthwise_row(const mona_depthwise_row *row)
{
    _Alignas(64) int32_t start[AC_FRACTAL];
    const mona_type type = row->conv->source_type;
    const clamps limits = clamps_of(row);
    tile_work *work = (tile_work *)(void *)(row->scratch + TILE_AT);
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        job j = job_of(row, &limits, n);
        part p = {.plain = int8_plain(&j)};
        j.out[0] = row->output.data + n * row->output.block_stride;
        j.pixels = row->pixels;
        if (type == MONA_F16) {
            depthwise_run(&j, &p, MONA_F16);
            continue;
        }
        p.weights = convert_weights(work->weights, j.weights[0], mona_block_steps(j.conv, n));
        int8_start(&j, 0, p.plain, start);
        if (type == MONA_S8)
            depthwise_run(&j, &p, MONA_S8);
        else
            depthwise_run(&j, &p, MONA_U8);
    }
}
