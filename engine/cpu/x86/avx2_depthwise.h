// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions. Part of avx2_conv.h.
 *
 * A register block is 7 pixels, of which most networks' maps have a multiple, x 8 channels.
 *
 * A step is 4 neighbouring columns of 16 channels. Zips put the columns of a channel side by side:
 * all 4 for vpdpbusd, or 2 and 2, widened, for vpmaddwd, where a pair of columns serves two
 * pixels. */

/* Adds the products of a step of a pixel. p: 4 columns of 8 channels; w: their weights. */
INLINE __m256i depthwise_quad(__m256i acc, const uint8_t *p, const uint8_t *w, const bool is_signed)
{
    const v16 flip = set16(is_signed ? 0x80 : 0);
    const v16 a = _mm_xor_si128(zip8_low(load8(p), load8(p + 16)), flip);
    const v16 b = _mm_xor_si128(zip8_low(load8(p + 32), load8(p + 48)), flip);
    return dot(acc, _mm256_set_m128i(zip16_high(a, b), zip16_low(a, b)), load_vector(w));
}

/* The same of pixels `stride` columns apart, by pairs: columns k and k + 1 are the first pair of
 * one pixel and the second of another. */
INLINE void depthwise_pairs(__m256i *acc, const uint8_t *p, const uint8_t *w, const bool is_signed,
                            const uint32_t pixels, const uint32_t stride)
{
    const __m256i w0 = load_vector(w), w1 = load_vector(w + 64);
    UNROLL
    for (uint32_t k = 0; k < (pixels - 1) * stride + 3; k++) {
        const bool first = k % stride == 0 && k < pixels * stride;
        const bool second = k >= 2 && (k - 2) % stride == 0;
        if (!first && !second)
            continue;
        const v16 pair = zip8_low(load8(p + (size_t)k * 16), load8(p + (size_t)k * 16 + 16));
        const __m256i wide = is_signed ? _mm256_cvtepi8_epi16(pair) : _mm256_cvtepu8_epi16(pair);
        if (first)
            acc[k / stride] = dot(acc[k / stride], wide, w0);
        if (second)
            acc[(k - 2) / stride] = dot(acc[(k - 2) / stride], wide, w1);
    }
}

/* Computes the sums of 8 channels of `pixels` pixels. at: where the first of these channels lies in
 * each run; w, start, sums: of that channel. */
INLINE void depthwise_half(const job *j, const mona_type type, const uint32_t pixels,
                           const uint32_t stride, size_t at, const uint8_t *w, const int32_t *start,
                           int32_t *sums)
{
    __m256i acc[DEPTHWISE];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = load_vector(start);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + at;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0; s--) {
            UNROLL
            for (uint32_t i = 0; i < pixels && ELEMENT == 1; i++)
                acc[i] = depthwise_quad(acc[i], p + (size_t)i * stride * 16, w, type == MONA_S8);
            if (ELEMENT == 2)
                depthwise_pairs(acc, p, w, type == MONA_S8, pixels, stride);
            p += 64;
            w += 64 * ELEMENT;
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        store_vector(sums + (size_t)i * AC_FRACTAL, acc[i]);
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
        int8_store(j, true, acc, DEPTHWISE, x);
}

INLINE void depthwise_f16(const job *j, const uint32_t pixels, const uint32_t stride, uint32_t x)
{
    vf acc[DEPTHWISE];
    depthwise_sums(acc, j, pixels, stride, x);
    f16_store(j, acc, pixels, x);
}

INLINE void depthwise_block(const job *j, const part *of, const mona_type type,
                            const uint32_t pixels, const uint32_t stride, uint32_t x)
{
    _Alignas(64) int32_t sums[DEPTHWISE * AC_FRACTAL];
    const size_t at = (size_t)x * j->conv->pixel_bytes;
    if (type == MONA_F16) {
        depthwise_f16(j, pixels, stride, x);
        return;
    }
    for (uint32_t c = 0; c < AC_FRACTAL; c += 8)
        depthwise_half(j, type, pixels, stride, at + c, of->weights + (size_t)c * 4,
                       (const int32_t *)j->start[0] + c, sums + c);
    depthwise_store(j, of->plain, pixels, x, sums);
}

INLINE void depthwise_blocks(const job *j, const part *p, const mona_type type,
                             const uint32_t pixels)
{
    for (uint32_t i = 0; i < j->pixels; i += pixels) {
        const uint32_t x = j->origin + min_u32(i, j->pixels - pixels);
        if (pixels == 1 || j->conv->stride == 1)
            depthwise_block(j, p, type, pixels, 1, x);
        else
            depthwise_block(j, p, type, pixels, 2, x);
    }
}

INLINE void depthwise_run(const job *j, const part *p, const mona_type type)
{
    if (j->pixels < DEPTHWISE || j->conv->stride > 2)
        depthwise_blocks(j, p, type, 1);
    else
        depthwise_blocks(j, p, type, DEPTHWISE);
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
