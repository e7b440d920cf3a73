// SPDX-License-Identifier: Apache-2.0
/* Depthwise convolutions. Part of avx2_conv.h.
 *
 * A step is 4 neighbouring columns of 16 channels. Zips put the columns of a channel side by side:
 * all 4 for vpdpbusd, or 2 and 2, widened, for vpmaddwd. FP16 multiplies one column at a time.
 * Pixels are computed one by one and finished from memory, to keep the code small; with vpmaddwd
 * block by block, where a pair of columns serves two pixels. */

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

/* The sums of a pixel. w: operands. */
INLINE void depthwise_int8_pixel(const job *j, const uint8_t *w, const bool is_signed, uint32_t x,
                                 int32_t *sums)
{
    __m256i acc[2] = {load_vector(j->start[0]), load_vector((const int32_t *)j->start[0] + 8)};
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = ac_run_steps(j->conv, j->first_run + r); s > 0; s--) {
            depthwise_step(acc, p, w, is_signed);
            p += 64;
            w += 64 * ELEMENT;
        }
    }
    store_vector(sums, acc[0]);
    store_vector(sums + 8, acc[1]);
}

/* The sums of a block of pixels, `stride` columns apart. Columns k and k + 1 are the first pair of
 * a step of one pixel and the second of another. w: operands of 16 bits. */
INLINE void depthwise_int8_block(const job *j, const uint8_t *w, const bool is_signed,
                                 const uint32_t stride, uint32_t x, int32_t *sums)
{
    __m256i acc[BLOCK * 2];
    UNROLL
    for (uint32_t i = 0; i < BLOCK * 2; i++)
        acc[i] = load_vector((const int32_t *)j->start[0] + i % 2 * 8);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = ac_run_steps(j->conv, j->first_run + r); s > 0; s--, p += 64, w += 128) {
            UNROLL
            for (uint32_t k = 0; k < (BLOCK - 1) * stride + 3; k++) {
                const bool first = k % stride == 0 && k < BLOCK * stride;
                const bool second = k >= 2 && (k - 2) % stride == 0;
                if (!first && !second)
                    continue;
                const v16 a = load16(p + (size_t)k * 16), b = load16(p + (size_t)k * 16 + 16);
                UNROLL
                for (uint32_t h = 0; h < 2; h++) {
                    const v16 pair = h ? zip8_high(a, b) : zip8_low(a, b);
                    const __m256i wide =
                        is_signed ? _mm256_cvtepi8_epi16(pair) : _mm256_cvtepu8_epi16(pair);
                    __m256i *one = acc + k / stride * 2 + h,
                            *other = acc + (k - 2) / stride * 2 + h;
                    if (first)
                        *one = dot(*one, wide, load_vector(w + (size_t)h * 32));
                    if (second)
                        *other = dot(*other, wide, load_vector(w + 64 + (size_t)h * 32));
                }
            }
        }
    }
    UNROLL
    for (uint32_t i = 0; i < BLOCK * 2; i++)
        store_vector(sums + (size_t)i * 8, acc[i]);
}

INLINE void depthwise_f16_pixel(const job *j, const uint8_t *w, uint32_t x, float *sums)
{
    const float *weights = (const float *)(const void *)w;
    vf acc = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        for (uint32_t s = ac_run_steps(j->conv, j->first_run + r); s > 0; s--) {
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
static uint32_t depthwise_pixels(const ac_depthwise_row *row)
{
    return min_u32(BLOCK, row->pixels);
}

/* Computes the sums of a block of pixels, or returns false and does nothing. */
static bool depthwise_block(const job *j, const uint8_t *w, uint32_t x, int32_t *sums)
{
    const mona_type type = j->conv->source_type;
    const uint32_t stride = j->conv->stride;
    if (ELEMENT == 1 || type == MONA_F16 || depthwise_pixels(j->row) != BLOCK || stride > 2)
        return false;
    if (type == MONA_U8 && stride == 1)
        depthwise_int8_block(j, w, false, 1, x, sums);
    else if (type == MONA_U8)
        depthwise_int8_block(j, w, false, 2, x, sums);
    else if (stride == 1)
        depthwise_int8_block(j, w, true, 1, x, sums);
    else
        depthwise_int8_block(j, w, true, 2, x, sums);
    return true;
}

static void depthwise_run(const job *j, bool plain)
{
    _Alignas(64) uint8_t sums[BLOCK * AC_FRACTAL * sizeof(int32_t)];
    tile_work *work = (tile_work *)(void *)(j->row->scratch + TILE_AT);
    const mona_type type = j->conv->source_type;
    const uint32_t pixels = depthwise_pixels(j->row);
    const uint8_t *w = j->weights[0];
    if (type != MONA_F16)
        w = convert_weights(work->weights, w, ac_block_steps(j->conv, j->n));
    for (uint32_t i = 0; i < j->pixels; i += pixels) {
        const uint32_t x = j->origin + min_u32(i, j->pixels - pixels);
        const bool done = depthwise_block(j, w, x, (int32_t *)(void *)sums);
        for (uint32_t k = 0; k < pixels && !done; k++) {
            uint8_t *to = sums + (size_t)k * AC_FRACTAL * sizeof(int32_t);
            if (type == MONA_F16)
                depthwise_f16_pixel(j, w, x + k, (float *)(void *)to);
            else if (type == MONA_S8)
                depthwise_int8_pixel(j, w, true, x + k, (int32_t *)(void *)to);
            else
                depthwise_int8_pixel(j, w, false, x + k, (int32_t *)(void *)to);
        }
        if (plain && pixels == BLOCK)
            int8_store_sums(j, BLOCK, x, (const int32_t *)(const void *)sums);
        else if (plain)
            int8_store_sums(j, 1, x, (const int32_t *)(const void *)sums);
        else
            finish_block(j, x, pixels, sums);
    }
}

static void depthwise_row(const ac_depthwise_row *row)
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
