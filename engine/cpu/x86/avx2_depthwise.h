// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions. Part of avx2_conv.h.
 *
 * A step is 4 neighbouring columns of 16 channels. Zips put the columns of a channel side by side:
 * all 4 for vpdpbusd, or 2 and 2, widened, for vpmaddwd. FP16 multiplies one column at a time.
 * Pixels are computed one by one and finished from memory, to keep the code small; with vpmaddwd
 * block by block, where a pair of columns serves two pixels. */

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
 * one pixel and the second of another. */
INLINE void depthwise_pairs(__m256i *acc, const uint8_t *p, const uint8_t *w, const bool is_signed,
                            const uint32_t pixels, const uint32_t stride)
{
    UNROLL
    for (uint32_t k = 0; k < (pixels - 1) * stride + 3; k++) {
        const bool first = k % stride == 0 && k < pixels * stride;
        const bool second = k >= 2 && (k - 2) % stride == 0;
        if (!first && !second)
            continue;
        const v16 a = load16(p + (size_t)k * 16), b = load16(p + (size_t)k * 16 + 16);
        UNROLL
        for (uint32_t h = 0; h < 2; h++) {
            const v16 pair = h ? zip8_high(a, b) : zip8_low(a, b);
            const __m256i wide =
                is_signed ? _mm256_cvtepi8_epi16(pair) : _mm256_cvtepu8_epi16(pair);
            __m256i *one = acc + k / stride * 2 + h, *other = acc + (k - 2) / stride * 2 + h;
            if (first)
                *one = dot(*one, wide, load_vector(w + (size_t)h * 32));
            if (second)
                *other = dot(*other, wide, load_vector(w + 64 + (size_t)h * 32));
        }
    }
}

/* The sums of some pixels; with quads one. w: operands. */
INLINE void depthwise_int8(const job *j, const uint8_t *w, const bool is_signed,
                           const uint32_t pixels, const uint32_t stride, uint32_t x, int32_t *sums)
{
    __m256i acc[BLOCK * 2];
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        acc[i] = load_vector((const int32_t *)j->start[0] + i % 2 * 8);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0; s--) {
            if (ELEMENT == 1)
                depthwise_quads(acc, p, w, is_signed);
            else
                depthwise_pairs(acc, p, w, is_signed, pixels, stride);
            p += 64;
            w += 64 * ELEMENT;
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        store_vector(sums + (size_t)i * 8, acc[i]);
}

/* pixels: BLOCK, where the stride is 1 or 2, or 1. */
INLINE void depthwise_int8_sums(const job *j, const uint8_t *w, const bool is_signed,
                                uint32_t pixels, uint32_t x, int32_t *sums)
{
    if (ELEMENT == 1 || pixels == 1)
        depthwise_int8(j, w, is_signed, 1, 1, x, sums);
    else if (j->conv->stride == 1)
        depthwise_int8(j, w, is_signed, BLOCK, 1, x, sums);
    else
        depthwise_int8(j, w, is_signed, BLOCK, 2, x, sums);
}

INLINE void depthwise_f16_pixel(const job *j, const uint8_t *w, uint32_t x, float *sums)
{
    const float *weights = (const float *)(const void *)w;
    vf acc = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = mona_run_steps(j->conv, j->first_run + r); s > 0; s--) {
            acc = vf_fmadd(vf_f16(p), vf_load(weights), acc);
            p += 32;
            weights += LANES;
        }
    }
    vf_store(sums, acc);
}

INLINE void int8_store_sums(const job *j, const uint32_t pixels, uint32_t x, const int32_t *sums)
{
    __m256i acc[BLOCK * 2];
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        acc[i] = load_vector(sums + (size_t)i * 8);
    int8_store(j, true, acc, pixels, x);
}

/* Pixels of a row that are finished together. */
static uint32_t depthwise_pixels(const mona_depthwise_row *row)
{
    return min_u32(BLOCK, row->pixels);
}

static void depthwise_run(const job *j, bool plain)
{
    _Alignas(64) uint8_t sums[BLOCK * AC_FRACTAL * sizeof(int32_t)];
    tile_work *work = (tile_work *)(void *)(j->row->scratch + TILE_AT);
    const mona_type type = j->conv->source_type;
    const uint32_t pixels = depthwise_pixels(j->row);
    const bool blocks = ELEMENT == 2 && type != MONA_F16 && pixels == BLOCK && j->conv->stride <= 2;
    const uint32_t many = blocks ? BLOCK : 1;
    const uint8_t *w = j->weights[0];
    if (type != MONA_F16)
        w = convert_weights(work->weights, w, mona_block_steps(j->conv, j->n));
    for (uint32_t i = 0; i < j->pixels; i += pixels) {
        const uint32_t x = j->origin + min_u32(i, j->pixels - pixels);
        for (uint32_t k = 0; k < pixels; k += many) {
            int32_t *to = (int32_t *)(void *)(sums + (size_t)k * AC_FRACTAL * sizeof(int32_t));
            if (type == MONA_F16)
                depthwise_f16_pixel(j, w, x + k, (float *)(void *)to);
            else if (type == MONA_S8)
                depthwise_int8_sums(j, w, true, many, x + k, to);
            else
                depthwise_int8_sums(j, w, false, many, x + k, to);
        }
        if (plain && pixels == BLOCK)
            int8_store_sums(j, BLOCK, x, (const int32_t *)(const void *)sums);
        else if (plain)
            int8_store_sums(j, 1, x, (const int32_t *)(const void *)sums);
        else
            finish_block(j, x, pixels, sums);
    }
}

static void depthwise_row(const mona_depthwise_row *row)
{
    _Alignas(64) int32_t start[AC_FRACTAL];
    const clamps limits = clamps_of(row);
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        job j = job_of(row, &limits, n);
        j.out[0] = row->output.data + n * row->output.block_stride;
        j.pixels = row->pixels;
        const uint32_t pixels = depthwise_pixels(row);
        const bool half = row->conv->source_type == MONA_F16;
        const bool plain = !half && (pixels == BLOCK || pixels == 1) && int8_plain(&j);
        if (!half)
            int8_start(&j, plain, start);
        depthwise_run(&j, plain);
    }
}
