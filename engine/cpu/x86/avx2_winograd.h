// SPDX-License-Identifier: Apache-2.0
/* INT8 convolutions with three columns by Winograd's F(4, 3). Part of avx2_conv.h, for AVX2, where
 * operands of 16 bits cost as much as bytes: four results of a row of the filter from six products
 * instead of twelve.
 *
 * With samples d[0..5] and weights g[0..2], result i is the sum of g[t] d[i + t]. Let B d and G g
 * be, with the rational matrix G times 24,
 *
 *   B d = 4 d0 - 5 d2 + d4               24 G g = 6 g0
 *         4 d1 + 4 d2 - d3 - d4                  4 (g0 + g1 + g2)
 *         4 d2 - 4 d1 + d3 - d4                  4 (g0 - g1 + g2)
 *         2 d3 - 2 d1 - d2 + d4                  g0 + 2 g1 + 4 g2
 *         2 d1 - 2 d3 - d2 + d4                  g0 - 2 g1 + 4 g2
 *         4 d1 - 5 d3 + d5                       24 g2
 *
 * and m the products, position by position. Then 24 times the results are
 *
 *   m0 + m1 + m2 +    m3 +   m4
 *        m1 - m2 + 2 (m3 -   m4)
 *        m1 + m2 + 4 (m3 +   m4)
 *        m1 - m2 + 8 (m3 -   m4) + m5
 *
 * (Lavin and Gray, "Fast algorithms for convolutional neural networks".) The transform is linear,
 * so products of all rows and channels are summed first. With integers this is exact: arithmetic is
 * modulo 2^32, where a multiplication by the inverse of 3 leaves 8 times the results. These must
 * fit: see mona_conv.winograd_rows. For bytes, |B d| <= 2040 and |24 G g| <= 3072.
 *
 * A quad is 4 results of a row, and takes the place of a pixel of a register block. Samples of a
 * piece of the row are transformed once for all outputs; weights of few rows when a session is
 * made, others for each block of 16 and each piece, since that takes less time than reading four
 * times as many bytes. */
#ifndef MONA_AVX2_WINOGRAD_H
#define MONA_AVX2_WINOGRAD_H

enum {
    WINOGRAD_PIXELS = 4,
    WINOGRAD_POSITIONS = MONA_WINOGRAD_POSITIONS,
    WINOGRAD_THIRD = -1431655765, /* times 3 is 1 modulo 2^32 */
    QUADS = 60,                   /* most of a piece */
    FEW_QUADS = 4,                /* fewest, as few as the smallest register block has */
    WHOLE_STEPS = 4,              /* of a row under 16 channels, for each column */
    CHUNK = MONA_WINOGRAD_FEW,    /* rows of the filter whose weights are transformed at a time */
    ROW_WEIGHTS = 16 * 16,        /* of a row, a channel block and a block of outputs */
};

/* In scratch, behind what other kernels use. Samples: [position][line][quad][16 channels]. */
typedef struct winograd_work {
    _Alignas(64) int16_t weights[WINOGRAD_POSITIONS * CHUNK * ROW_WEIGHTS];
    _Alignas(64) int32_t products[WINOGRAD_POSITIONS][QUADS][AC_FRACTAL];
    const int16_t *rows[MONA_WINOGRAD_ROWS]; /* samples of each row of the filter */
    const uint8_t *transformed;              /* of which the weights are, or NULL */
    uint32_t position;                       /* from one position's samples to the next's */
    uint32_t quads;                          /* of the piece */
    _Alignas(64) int16_t samples[];
} winograd_work;

enum {
    SAMPLES = (MONA_SCRATCH_WINOGRAD - MONA_SCRATCH - (int)sizeof(winograd_work)) / 32 - BLOCK,
    /* of 16 channels, besides those of the last register block, that do not matter */
};

/* ---- samples --------------------------------------------------------------------------------- */

INLINE __m256i winograd_pixel(const uint8_t *p, const bool is_signed)
{
    return is_signed ? _mm256_cvtepi8_epi16(load16(p)) : _mm256_cvtepu8_epi16(load16(p));
}

INLINE void winograd_quads(int16_t *to, size_t position, const uint8_t *from, const bool is_signed,
                           uint32_t quads)
{
    __m256i d[WINOGRAD_POSITIONS];
    d[4] = winograd_pixel(from, is_signed);
    d[5] = winograd_pixel(from + 16, is_signed);
    for (const int16_t *end = to + (size_t)quads * 16; to < end; to += 16) {
        d[0] = d[4];
        d[1] = d[5];
        UNROLL
        for (uint32_t i = 2; i < WINOGRAD_POSITIONS; i++)
            d[i] = winograd_pixel(from + (size_t)i * 16, is_signed);
        from += WINOGRAD_PIXELS * 16;
        const __m256i a = _mm256_sub_epi16(_mm256_slli_epi16(d[2], 2), d[4]);
        const __m256i b = _mm256_sub_epi16(_mm256_slli_epi16(d[1], 2), d[3]);
        const __m256i c = _mm256_sub_epi16(d[4], d[2]);
        const __m256i e = _mm256_sub_epi16(d[3], d[1]), e2 = _mm256_add_epi16(e, e);
        const __m256i first = _mm256_sub_epi16(_mm256_slli_epi16(d[0], 2), d[2]);
        store_vector(to, _mm256_sub_epi16(first, a));
        store_vector(to + position, _mm256_add_epi16(a, b));
        store_vector(to + 2 * position, _mm256_sub_epi16(a, b));
        store_vector(to + 3 * position, _mm256_add_epi16(c, e2));
        store_vector(to + 4 * position, _mm256_sub_epi16(c, e2));
        store_vector(to + 5 * position,
                     _mm256_sub_epi16(_mm256_sub_epi16(d[5], d[3]), _mm256_add_epi16(e2, e2)));
    }
}

static void winograd_line(int16_t *to, size_t position, const uint8_t *from, bool is_signed,
                          uint32_t quads)
{
    if (is_signed)
        winograd_quads(to, position, from, true, quads);
    else
        winograd_quads(to, position, from, false, quads);
}

/* Transforms what pixels x to x + count - 1 read. Rows of the filter under a channel block share a
 * line if they lie `apart` quads apart; else the last quad is moved
 * back to end at the last pixel. */
static void winograd_transform(winograd_work *work, const mona_conv_row *row, uint32_t x,
                               uint32_t count, uint32_t apart)
{
    const mona_conv *c = row->conv;
    const uint32_t height = apart ? c->winograd_height : 1, lines = c->winograd_rows / height;
    const uint32_t quads = work->quads + (height - 1) * apart, whole = c->winograd_whole;
    const bool moved = !apart && count % WINOGRAD_PIXELS;
    int16_t *to = work->samples;
    work->position = lines * quads * 16;
    for (uint32_t r = 0; r < c->winograd_rows; r += height, to += (size_t)quads * 16) {
        const uint8_t *from = row->runs[r < whole ? r : whole + (r - whole) * 3] + (size_t)x * 16;
        for (uint32_t i = 0; i < height; i++)
            work->rows[r + i] = to + (size_t)i * apart * 16;
        winograd_line(to, work->position, from, c->source_type == MONA_S8, quads - moved);
        if (moved)
            winograd_line(to + (size_t)(quads - 1) * 16, work->position,
                          from + (size_t)(count - WINOGRAD_PIXELS) * 16, c->source_type == MONA_S8,
                          1);
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The weights of two channels and 8 outputs at all positions. g: those of each column. */
INLINE void winograd_pairs(int16_t *to, __m256i g0, __m256i g1, __m256i g2)
{
    const __m256i ends = _mm256_add_epi16(g0, g2), twice = _mm256_add_epi16(g1, g1);
    const __m256i four = _mm256_add_epi16(g0, _mm256_slli_epi16(g2, 2));
    const size_t position = CHUNK * ROW_WEIGHTS;
    store_vector(to, _mm256_mullo_epi16(g0, _mm256_set1_epi16(6)));
    store_vector(to + position, _mm256_slli_epi16(_mm256_add_epi16(ends, g1), 2));
    store_vector(to + 2 * position, _mm256_slli_epi16(_mm256_sub_epi16(ends, g1), 2));
    store_vector(to + 3 * position, _mm256_add_epi16(four, twice));
    store_vector(to + 4 * position, _mm256_sub_epi16(four, twice));
    store_vector(to + 5 * position, _mm256_mullo_epi16(g2, _mm256_set1_epi16(24)));
}

/* Transforms the weights of a row, [column][step][16 outputs][4], to [position][pair of
 * channels][16 outputs][2]. */
static void winograd_weights(int16_t *to, const uint8_t *from, uint32_t steps)
{
    const size_t column = (size_t)steps * 64;
    for (uint32_t i = 0; i < steps * 2; i++, from += 32, to += i % 2 ? 16 : 48) { /* 8 outputs */
        UNROLL
        for (uint32_t half = 0; half < 2; half++)
            winograd_pairs(to + (size_t)half * 32, widen_half(from, half),
                           widen_half(from + column, half), widen_half(from + 2 * column, half));
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Rows [first, first + count) of the filter. */
typedef struct winograd_rows {
    uint32_t first, count;
    uint32_t whole, last_steps; /* how many have WHOLE_STEPS; what those after them have */
} winograd_rows;

INLINE uint32_t winograd_steps(const winograd_rows *rows, uint32_t r)
{
    return r < rows->whole ? WHOLE_STEPS : rows->last_steps;
}

/* Adds the products of rows at one position to sums, or sets them. at: where the quads' samples lie
 * in those of a row. */
INLINE void winograd_multiply(int32_t (*sums)[AC_FRACTAL], const int16_t *const *samples, size_t at,
                              const int16_t *weights, const winograd_rows *rows,
                              const uint32_t quads)
{
    __m256i acc[BLOCK * 2];
    UNROLL
    for (uint32_t i = 0; i < quads * 2; i++)
        acc[i] = rows->first ? load_vector(sums[i / 2] + i % 2 * 8) : _mm256_setzero_si256();
    for (uint32_t r = 0; r < rows->count; r++) {
        const int16_t *a = samples[r] + at, *w = weights + (size_t)r * ROW_WEIGHTS;
        const uint32_t steps = winograd_steps(rows, r);
        UNROLL
        for (uint32_t s = 0; s < WHOLE_STEPS; s++) {
            UNROLL
            for (uint32_t half = 0; half < 2; half++, a += 2, w += 32) {
                FORGET(a);
                const __m256i b0 = load_vector(w), b1 = load_vector(w + 16);
                UNROLL
                for (uint32_t i = 0; i < quads; i++) {
                    int32_t lane;
                    memcpy(&lane, a + (size_t)i * 16, sizeof lane);
                    const __m256i all = _mm256_set1_epi32(lane);
                    acc[i * 2] = dot(acc[i * 2], all, b0);
                    KEEP_IN_PLACE(acc[i * 2]);
                    acc[i * 2 + 1] = dot(acc[i * 2 + 1], all, b1);
                    KEEP_IN_PLACE(acc[i * 2 + 1]);
                }
            }
            if (s + 1 == steps)
                break;
        }
    }
    UNROLL
    for (uint32_t i = 0; i < quads * 2; i++)
        store_vector(sums[i / 2] + i % 2 * 8, acc[i]);
}

/* Adds those of some rows to all products, or sets them, in register blocks as equal as possible.
 * position: from one position's weights to the next's. */
static __attribute__((noinline)) void winograd_chunk(winograd_work *work, const int16_t *weights,
                                                     size_t position, const winograd_rows *rows)
{
    const int16_t *const *samples = (const int16_t *const *)work->rows + rows->first;
    for (uint32_t p = 0; p < WINOGRAD_POSITIONS; p++, weights += position) {
        uint32_t blocks = (work->quads + BLOCK - 1) / BLOCK;
        for (uint32_t q = 0, block; q < work->quads; q += block, blocks--) {
            int32_t(*sums)[AC_FRACTAL] = work->products[p] + q;
            const size_t at = (size_t)p * work->position + (size_t)q * 16;
            block = (work->quads - q + blocks - 1) / blocks;
            if (block == BLOCK)
                winograd_multiply(sums, samples, at, weights, rows, BLOCK);
            else if (block == BLOCK - 1)
                winograd_multiply(sums, samples, at, weights, rows, BLOCK - 1);
            else
                winograd_multiply(sums, samples, at, weights, rows, FEW_QUADS);
        }
    }
}

/* ---- results --------------------------------------------------------------------------------- */

INLINE __m256i winograd_divided(__m256i sum24)
{
    return _mm256_srai_epi32(_mm256_mullo_epi32(sum24, _mm256_set1_epi32(WINOGRAD_THIRD)), 3);
}

/* The accumulators of the 4 pixels of quad q. */
INLINE void winograd_sums(__m256i acc[WINOGRAD_PIXELS * 2], const winograd_work *work, uint32_t q,
                          const int32_t *start)
{
    UNROLL
    for (uint32_t h = 0; h < 2; h++) {
        __m256i m[WINOGRAD_POSITIONS];
        UNROLL
        for (uint32_t p = 0; p < WINOGRAD_POSITIONS; p++)
            m[p] = load_vector(work->products[p][q] + h * 8);
        const __m256i a = _mm256_add_epi32(m[1], m[2]), b = _mm256_sub_epi32(m[1], m[2]);
        const __m256i c = _mm256_add_epi32(m[3], m[4]), d = _mm256_sub_epi32(m[3], m[4]);
        const __m256i sums[WINOGRAD_PIXELS] = {
            _mm256_add_epi32(_mm256_add_epi32(m[0], a), c),
            _mm256_add_epi32(b, _mm256_slli_epi32(d, 1)),
            _mm256_add_epi32(a, _mm256_slli_epi32(c, 2)),
            _mm256_add_epi32(_mm256_add_epi32(b, _mm256_slli_epi32(d, 3)), m[5]),
        };
        const __m256i first = load_vector(start + h * 8);
        UNROLL
        for (uint32_t i = 0; i < WINOGRAD_PIXELS; i++)
            acc[i * 2 + h] = _mm256_add_epi32(winograd_divided(sums[i]), first);
    }
}

INLINE void winograd_results(const job *j, const winograd_work *work, const bool plain)
{
    for (uint32_t q = 0; q < work->quads; q++) {
        const uint32_t at = min_u32(q * WINOGRAD_PIXELS, j->pixels - WINOGRAD_PIXELS);
        __m256i acc[WINOGRAD_PIXELS * 2];
        winograd_sums(acc, work, q, j->start[0]);
        int8_store(j, plain, acc, WINOGRAD_PIXELS, j->origin + at);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Computes a block of outputs of a piece whose samples are transformed. */
static void winograd_run(job *j)
{
    _Alignas(64) int32_t start[AC_FRACTAL];
    winograd_work *work = (winograd_work *)(void *)(j->row->scratch + MONA_SCRATCH);
    const mona_conv *c = j->conv;
    const uint32_t all = c->winograd_rows, whole = c->winograd_whole;
    const bool plain = int8_plain(j);
    const uint8_t *w = j->weights[0];
    for (winograd_rows rows = {0}; rows.first < all; rows.first += CHUNK) {
        rows.count = min_u32(CHUNK, all - rows.first);
        rows.whole = whole - min_u32(rows.first, whole);
        rows.last_steps = whole < all ? mona_run_steps(c, whole) : 0;
        const int16_t *weights = work->weights;
        size_t position = CHUNK * ROW_WEIGHTS;
        const bool kept = c->winograd || work->transformed == w;
        if (c->winograd) {
            position = (size_t)all * ROW_WEIGHTS;
            weights = c->winograd + j->n * WINOGRAD_POSITIONS * position;
        }
        work->transformed = w;
        for (uint32_t r = 0, steps; r < rows.count; r++, w += (size_t)3 * steps * 64) {
            steps = winograd_steps(&rows, r);
            if (!kept)
                winograd_weights(work->weights + (size_t)r * ROW_WEIGHTS, w, steps);
        }
        winograd_chunk(work, weights, position, &rows);
    }
    int8_start(j, 0, plain, start);
    if (plain)
        winograd_results(j, work, true);
    else
        winograd_results(j, work, false);
}

/* Most quads of a piece, if rows of the filter under a channel block lie `apart` quads apart or, if
 * that is 0, anywhere. */
static uint32_t quads_that_fit(const mona_conv *c, uint32_t apart)
{
    const uint32_t height = apart ? c->winograd_height : 1, more = (height - 1) * apart;
    const uint32_t fit = SAMPLES / (c->winograd_rows / height * WINOGRAD_POSITIONS);
    return fit > more ? min_u32(QUADS, fit - more) : 0;
}

static bool winograd_serves(const mona_conv_row *row)
{
    return ELEMENT == 2 && row->conv->winograd_rows && row->pixels >= FEW_QUADS * WINOGRAD_PIXELS;
}

static void conv_winograd(const mona_conv_row *row, const mona_isa *by)
{
    enum { ENOUGH = 16, SCATTERED = SCATTER_PIXELS / WINOGRAD_PIXELS };
    winograd_work *work = (winograd_work *)(void *)(row->scratch + MONA_SCRATCH);
    const uint32_t pitch = row->conv->winograd_pitch / WINOGRAD_PIXELS;
    const uint32_t apart = quads_that_fit(row->conv, pitch) < ENOUGH ? 0 : pitch;
    const uint32_t fit = quads_that_fit(row->conv, apart);
    const uint32_t most = mona_scatter_needed(row) ? min_u32(SCATTERED, fit) : fit;
    const uint32_t quads = (row->pixels + WINOGRAD_PIXELS - 1) / WINOGRAD_PIXELS;
    const uint32_t pieces = (quads + most - 1) / most;
    work->quads = (quads + pieces - 1) / pieces;
    work->transformed = NULL;
    const uint32_t count = min_u32(work->quads * WINOGRAD_PIXELS, row->pixels);
    for (uint32_t i = 0; i < row->pixels; i += count) {
        const uint32_t x = min_u32(i, row->pixels - count);
        winograd_transform(work, row, x, count, apart);
        conv_pixels(row, by, x, count);
    }
}

#endif
