// SPDX-License-Identifier: Apache-2.0
/* Convolutions of whole maps without margins (mona_conv_row.edges): products with padding are left
 * out, which are a fifth of those of 3x3 on 7x7. Part of avx512.c.
 *
 * A register block is 14, 8 or 7 pixels x 32 outputs. Its first or last pixel does not read some of
 * the runs; these are multiplied for one pixel less. Meanwhile the cache is told which weights come
 * next. */

enum { EDGE_STEPS = AC_FRACTAL }; /* elements of a run */

/* Multiplies a run, which lies at p for the first pixel. before, after: the first, the last pixel
 * does not read it. */
INLINE void edge_int8(__m512i *acc, const uint32_t pixels, const uint32_t blocks, const bool before,
                      const bool after, const uint8_t *p, const uint8_t *weights[2])
{
    const uint8_t *w[2] = {weights[0], weights[1]};
    if (before)
        int8_steps(acc + blocks, pixels - 1, blocks, AC_FRACTAL, p + AC_FRACTAL, 4, w);
    else if (after)
        int8_steps(acc, pixels - 1, blocks, AC_FRACTAL, p, 4, w);
    else
        int8_steps(acc, pixels, blocks, AC_FRACTAL, p, 4, w);
}

INLINE void edge_f16(vf *acc, const uint32_t pixels, const uint32_t blocks, const bool before,
                     const bool after, const float *p, const float *weights[2])
{
    const float *w[2] = {weights[0], weights[1]};
    if (before)
        f16_steps(acc + blocks, pixels - 1, blocks, AC_FRACTAL, p + AC_FRACTAL, EDGE_STEPS, w);
    else if (after)
        f16_steps(acc, pixels - 1, blocks, AC_FRACTAL, p, EDGE_STEPS, w);
    else
        f16_steps(acc, pixels, blocks, AC_FRACTAL, p, EDGE_STEPS, w);
}

/* So many lines of soon come to the cache while a run is multiplied. */
INLINE void edge_fetch(const uint8_t **soon, const uint8_t *end, const uint32_t lines)
{
    for (uint32_t i = 0; i < lines && *soon < end; i++, *soon += 64)
        _mm_prefetch(*soon, _MM_HINT_T1);
}

INLINE void edge_int8_block(const job *j, const uint32_t pixels, const uint32_t blocks, uint32_t x)
{
    const mona_edge *edges = j->row->edges;
    const uint8_t *soon = j->row->soon, *const end = soon + (x ? 0 : j->row->soon_bytes);
    const uint32_t rest = j->pixels - x - pixels;
    const uint8_t *w[2] = {j->weights[0], j->weights[blocks - 1]};
    __m512i acc[MAX_SUMS];
    UNROLL
    for (uint32_t i = 0; i < pixels * blocks; i++)
        acc[i] = _mm512_loadu_si512(j->start[i % blocks]);
    for (uint32_t r = 0; r < j->run_count; r++, w[0] += 256, w[1] += 256) {
        if (!j->runs[r])
            continue;
        edge_fetch(&soon, end, 2);
        edge_int8(acc, pixels, blocks, edges[r].first > x, edges[r].last > rest,
                  j->runs[r] + (size_t)x * AC_FRACTAL, w);
    }
    int8_store(j, acc, pixels, blocks, x);
}

INLINE void edge_f16_block(const job *j, const uint32_t pixels, const uint32_t blocks, uint32_t x)
{
    const mona_edge *edges = j->row->edges;
    const uint8_t *soon = j->row->soon, *const end = soon + (x ? 0 : j->row->soon_bytes);
    const uint32_t rest = j->pixels - x - pixels, step = EDGE_STEPS * LANES;
    const float *w[2] = {(const float *)(const void *)j->weights[0],
                         (const float *)(const void *)j->weights[blocks - 1]};
    vf acc[MAX_SUMS];
    UNROLL
    for (uint32_t i = 0; i < pixels * blocks; i++)
        acc[i] = vf_load(j->start[i % blocks]);
    for (uint32_t r = 0; r < j->run_count; r++, w[0] += step, w[1] += step) {
        if (!j->runs[r])
            continue;
        edge_fetch(&soon, end, 8);
        edge_f16(acc, pixels, blocks, edges[r].first > x, edges[r].last > rest,
                 (const float *)(const void *)j->runs[r] + (size_t)x * AC_FRACTAL, w);
    }
    UNROLL
    for (uint32_t b = 0; b < blocks; b++)
        f16_store(j, acc, pixels, blocks, b, x);
}

/* The last block is moved back to end at the last pixel. */
INLINE void edge_pixels(const job *j, const uint32_t pixels, const uint32_t blocks)
{
    const bool half = j->conv->source_type == MONA_F16;
    for (uint32_t i = 0; i < j->pixels; i += pixels) {
        const uint32_t x = min_u32(i, j->pixels - pixels);
        if (half)
            edge_f16_block(j, pixels, blocks, x);
        else
            edge_int8_block(j, pixels, blocks, x);
    }
}

/* Computes the job, or returns false and does nothing. */
static bool edge_run_blocks(const job *j, uint32_t blocks)
{
    if (!j->row->edges)
        return false;
    if (blocks == 1)
        edge_pixels(j, 7, 1);
    else if (j->pixels % 14 == 0)
        edge_pixels(j, 14, 2);
    else if (j->pixels % 8 == 0)
        edge_pixels(j, 8, 2);
    else
        edge_pixels(j, 7, 2);
    return true;
}
