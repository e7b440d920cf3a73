// SPDX-License-Identifier: Apache-2.0
/* INT8 convolutions with three columns by Winograd's filter (engine/cpu/winograd.h), for AVX2,
 * where operands of 16 bits cost as much as bytes: half the multiplications of avx2_conv.h. A tile
 * is 24 pixels, 6 quads of 4, which take the place of the 6 pixels of a register block; or 16
 * pixels, where fewer are then computed twice. */
#ifndef AC_AVX2_WINOGRAD_H
#define AC_AVX2_WINOGRAD_H

#include "engine/cpu/winograd.h"

enum {
    QUADS = BLOCK, /* at most */
    FEW_QUADS = 4,
    WINOGRAD_ROWS = 6,  /* transformed at a time */
    WINOGRAD_STEPS = 8, /* pairs of channels */
};

/* Samples of some rows: [position][row][quad][16 channels]. */
typedef int16_t winograd_samples[WINOGRAD_POSITIONS][WINOGRAD_ROWS][QUADS][16];
/* Products of a block of outputs: [position][quad][16 outputs]. */
typedef int32_t winograd_products[WINOGRAD_POSITIONS][QUADS][AC_FRACTAL];

/* ---- samples --------------------------------------------------------------------------------- */

INLINE __m256i winograd_pixel(const uint8_t *p, const bool is_signed)
{
    return is_signed ? _mm256_cvtepi8_epi16(load16(p)) : _mm256_cvtepu8_epi16(load16(p));
}

/* Transforms a row of the tile, whose first sample is `from`. */
INLINE void winograd_row(winograd_samples to, uint32_t r, const uint8_t *from, const bool is_signed,
                         uint32_t quads)
{
    __m256i d0 = winograd_pixel(from, is_signed), d1 = winograd_pixel(from + 16, is_signed);
    for (uint32_t q = 0; q < quads; q++) {
        from += WINOGRAD_PIXELS * 16;
        const __m256i d2 = winograd_pixel(from - 32, is_signed);
        const __m256i d3 = winograd_pixel(from - 16, is_signed);
        const __m256i d4 = winograd_pixel(from, is_signed);
        const __m256i d5 = winograd_pixel(from + 16, is_signed);
        const __m256i a = _mm256_sub_epi16(d4, _mm256_slli_epi16(d2, 2));
        const __m256i b = _mm256_sub_epi16(d3, _mm256_slli_epi16(d1, 2));
        const __m256i c = _mm256_sub_epi16(d4, d2);
        const __m256i e = _mm256_sub_epi16(d3, d1), e2 = _mm256_add_epi16(e, e);
        store_vector(to[0][r][q],
                     _mm256_add_epi16(_mm256_sub_epi16(a, d2), _mm256_slli_epi16(d0, 2)));
        store_vector(to[1][r][q], _mm256_add_epi16(a, b));
        store_vector(to[2][r][q], _mm256_sub_epi16(a, b));
        store_vector(to[3][r][q], _mm256_add_epi16(c, e2));
        store_vector(to[4][r][q], _mm256_sub_epi16(c, e2));
        store_vector(to[5][r][q],
                     _mm256_sub_epi16(_mm256_sub_epi16(d5, d3), _mm256_slli_epi16(e, 2)));
        d0 = d4;
        d1 = d5;
    }
}

/* Transforms rows [first, first + rows) of the tile at pixel x. */
static void winograd_transform(winograd_samples to, const job *j, uint32_t first, uint32_t rows,
                               uint32_t x, uint32_t quads)
{
    const ac_conv *c = j->conv;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t r = first + i, whole = c->winograd_whole;
        const uint8_t *from =
            j->row->runs[r < whole ? r : whole + (r - whole) * WINOGRAD_TAPS] + (size_t)x * 16;
        if (c->source_type == MONA_S8)
            winograd_row(to, i, from, true, quads);
        else
            winograd_row(to, i, from, false, quads);
    }
}

/* ---- products -------------------------------------------------------------------------------- */

/* Adds the products of `rows` rows at one position to sums, or sets them. */
INLINE void winograd_multiply(int32_t sums[QUADS][AC_FRACTAL], const int16_t (*samples)[QUADS][16],
                              const int16_t *weights, uint32_t rows, bool add, const uint32_t quads)
{
    __m256i acc[QUADS * 2];
    UNROLL
    for (uint32_t i = 0; i < quads * 2; i++)
        acc[i] = add ? load_vector(sums[i / 2] + i % 2 * 8) : _mm256_setzero_si256();
    for (uint32_t r = 0; r < rows; r++) {
        const int16_t *a = samples[r][0];
        for (uint32_t s = 0; s < WINOGRAD_STEPS; s++, a += 2, weights += 32) {
            FORGET(a);
            const __m256i b0 = load_vector(weights), b1 = load_vector(weights + 16);
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
    }
    UNROLL
    for (uint32_t i = 0; i < quads * 2; i++)
        store_vector(sums[i / 2] + i % 2 * 8, acc[i]);
}

static void winograd_products_of(winograd_products sums, const job *j, uint32_t block,
                                 const winograd_samples samples, uint32_t first, uint32_t rows,
                                 uint32_t quads)
{
    const ac_conv *c = j->conv;
    const size_t position = (size_t)c->winograd_rows * WINOGRAD_ROW_WEIGHTS;
    const int16_t *w = c->winograd + (size_t)(j->n + block) * WINOGRAD_POSITIONS * position +
                       (size_t)first * WINOGRAD_ROW_WEIGHTS;
    for (uint32_t p = 0; p < WINOGRAD_POSITIONS; p++, w += position)
        if (quads == QUADS)
            winograd_multiply(sums[p], samples[p], w, rows, first, QUADS);
        else
            winograd_multiply(sums[p], samples[p], w, rows, first, FEW_QUADS);
}

/* ---- results --------------------------------------------------------------------------------- */

INLINE __m256i winograd_divided(__m256i sum24)
{
    return _mm256_mullo_epi32(_mm256_srai_epi32(sum24, 3),
                              _mm256_set1_epi32((int32_t)WINOGRAD_THIRD));
}

/* The accumulators of the 4 pixels of quad q. */
INLINE void winograd_sums(__m256i acc[WINOGRAD_PIXELS * 2], const winograd_products m, uint32_t q,
                          const int32_t *start)
{
    UNROLL
    for (uint32_t h = 0; h < 2; h++) {
        const __m256i m1 = load_vector(m[1][q] + h * 8), m2 = load_vector(m[2][q] + h * 8);
        const __m256i m3 = load_vector(m[3][q] + h * 8), m4 = load_vector(m[4][q] + h * 8);
        const __m256i a = _mm256_add_epi32(m1, m2), b = _mm256_sub_epi32(m1, m2);
        const __m256i c = _mm256_add_epi32(m3, m4), d = _mm256_sub_epi32(m3, m4);
        const __m256i sums[WINOGRAD_PIXELS] = {
            _mm256_add_epi32(_mm256_add_epi32(load_vector(m[0][q] + h * 8), a), c),
            _mm256_add_epi32(b, _mm256_slli_epi32(d, 1)),
            _mm256_add_epi32(a, _mm256_slli_epi32(c, 2)),
            _mm256_add_epi32(_mm256_add_epi32(b, _mm256_slli_epi32(d, 3)),
                             load_vector(m[5][q] + h * 8)),
        };
        const __m256i first = load_vector(start + h * 8);
        UNROLL
        for (uint32_t i = 0; i < WINOGRAD_PIXELS; i++)
            acc[i * 2 + h] = _mm256_add_epi32(winograd_divided(sums[i]), first);
    }
}

static void winograd_results(const job *j, const winograd_products m, bool plain, uint32_t x,
                             uint32_t quads)
{
    for (uint32_t q = 0; q < quads; q++, x += WINOGRAD_PIXELS) {
        __m256i acc[WINOGRAD_PIXELS * 2];
        winograd_sums(acc, m, q, j->start[0]);
        if (plain)
            int8_store(j, true, acc, WINOGRAD_PIXELS, x);
        else
            int8_store(j, false, acc, WINOGRAD_PIXELS, x);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* One or two blocks of a tile. jobs: one for each block. */
static __attribute__((noinline)) void winograd_tile(const job *jobs, const bool *plain,
                                                    uint32_t blocks, uint32_t x, uint32_t quads)
{
    int16_t(*samples)[WINOGRAD_ROWS][QUADS][16] = (void *)(jobs[0].row->scratch + WORK_AT);
    winograd_products *products =
        (void *)(jobs[0].row->scratch + WORK_AT + sizeof(winograd_samples));
    _Static_assert(sizeof(winograd_samples) + 2 * sizeof(winograd_products) <= WORK_BYTES,
                   "they fit");
    const ac_conv *c = jobs[0].conv;
    for (uint32_t first = 0, rows; first < c->winograd_rows; first += rows) {
        rows = min_u32(WINOGRAD_ROWS, c->winograd_rows - first);
        winograd_transform(samples, &jobs[0], first, rows, x, quads);
        for (uint32_t b = 0; b < blocks; b++)
            winograd_products_of(products[b], &jobs[0], b,
                                 (const int16_t(*)[WINOGRAD_ROWS][QUADS][16])samples, first, rows,
                                 quads);
    }
    for (uint32_t b = 0; b < blocks; b++)
        winograd_results(&jobs[b], (const int32_t(*)[QUADS][AC_FRACTAL])products[b], plain[b], x,
                         quads);
}

/* The last tile is moved back to end at the last pixel: those are taken of which so fewer are
 * computed. */
static uint32_t winograd_quads(uint32_t pixels)
{
    const uint32_t few = FEW_QUADS * WINOGRAD_PIXELS, many = QUADS * WINOGRAD_PIXELS;
    return pixels < many || (pixels + few - 1) / few * few < (pixels + many - 1) / many * many
               ? FEW_QUADS
               : QUADS;
}

static bool winograd_serves(const ac_conv_row *row)
{
    return row->conv->winograd && row->pixels >= FEW_QUADS * WINOGRAD_PIXELS;
}

static void winograd_run(const job *source, uint32_t blocks)
{
    _Alignas(64) int32_t start[2][AC_FRACTAL];
    job jobs[2] = {*source, *source};
    bool plain[2];
    for (uint32_t b = 0; b < blocks; b++) {
        if (b)
            next_block(&jobs[b]);
        plain[b] = int8_plain(&jobs[b]);
        int8_start(&jobs[b], plain[b], start[b]);
    }
    const uint32_t quads = winograd_quads(source->pixels), pixels = quads * WINOGRAD_PIXELS;
    for (uint32_t i = 0; i < source->pixels; i += pixels)
        winograd_tile(jobs, plain, blocks, source->origin + min_u32(i, source->pixels - pixels),
                      quads);
}

#endif
