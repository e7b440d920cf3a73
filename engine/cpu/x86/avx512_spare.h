// SPDX-License-Identifier: Apache-2.0
/* INT8 convolutions on CPUs that have vector ports besides those that multiply
 * (mona_conv.spare_ports), where shuffles and blends cost vpdpbusd no time. Part of avx512.c.
 *
 * Taps: 24 pixels x 16 outputs of avx512_int8.h take 25 loads and 24 vpdpbusd a step, and a CPU
 * executes two of each per cycle. If runs are whole taps of 16 channels, all 16 channels of every
 * fourth pixel are loaded at once and spread by shuffles: 19 loads a step.
 *
 * Mixed: in a pair of blocks whose last has at most 12 outputs, such as 28, the last block's
 * outputs of 4 pixels, one pixel after another, fill 48 lanes: 3 vectors instead of 4. Their
 * operands are blends of neighbouring pixels' operands: in lanes 0 to 11 of the first vector pixel
 * 0, in the others pixel 1, and so on. Weights are mona_conv.mixed. A register block
 * is 12 pixels: 12 sums of the full block and 9 of the last. */

enum { TAPS_PIXELS = 24 };

/* The four operands of the pixel at p. */
INLINE void taps_operands(__m512i a[4], const uint8_t *p, const bool shuffled)
{
    if (!shuffled) {
        UNROLL
        for (uint32_t k = 0; k < 4; k++)
            a[k] = quad_at(p + (size_t)k * 4);
        return;
    }
    __m512i all = _mm512_broadcast_i32x4(load16(p));
    KEEP_IN_PLACE(all);
    a[0] = _mm512_shuffle_epi32(all, 0x00);
    a[1] = _mm512_shuffle_epi32(all, 0x55);
    a[2] = _mm512_shuffle_epi32(all, 0xaa);
    a[3] = _mm512_shuffle_epi32(all, 0xff);
}

/* Multiplies `taps` taps, returns where the weights of the next begin. */
INLINE const uint8_t *taps_multiply(__m512i *acc, const uint8_t *p, uint32_t taps, const uint8_t *w)
{
    for (uint32_t t = 0; t < taps; t++, w += 256, p += AC_FRACTAL) {
        __m512i b[4];
        UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            b[k] = _mm512_load_si512(w + (size_t)k * 64);
            KEEP_IN_PLACE(b[k]);
        }
        FORGET(p);
        UNROLL
        for (uint32_t i = 0; i < TAPS_PIXELS; i++) {
            __m512i a[4];
            taps_operands(a, p + (size_t)i * AC_FRACTAL, i % 4 == 0);
            UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                acc[i] = _mm512_dpbusd_epi32(acc[i], a[k], b[k]);
                KEEP_IN_PLACE(acc[i]);
            }
        }
    }
    return w;
}

/* Computes TAPS_PIXELS pixels from x on. */
INLINE void taps_block(const job *j, uint32_t x)
{
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint8_t *w = j->weights[0];
    const __m512i start = _mm512_loadu_si512(j->start[0]);
    __m512i acc[TAPS_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < TAPS_PIXELS; i++)
        acc[i] = start;
    for (uint32_t r = 0; r < j->run_count; r++)
        w = taps_multiply(acc, j->runs[r] + (size_t)(x - j->runs_origin) * AC_FRACTAL,
                          elements[r] / AC_FRACTAL, w);
    int8_store(j, acc, TAPS_PIXELS, 1, x);
}

/* Computes the row in blocks of TAPS_PIXELS, then of 8 as usual. */
static __attribute__((noinline)) void taps_run(const job *j)
{
    const uint32_t end = j->origin + j->pixels;
    uint32_t x = j->origin;
    for (; end - x >= TAPS_PIXELS; x += TAPS_PIXELS)
        taps_block(j, x);
    for (; x < end; x += 8)
        int8_block(j, 8, 1, AC_FRACTAL, min_u32(x, end - 8));
}

/* ---- mixed ---------------------------------------------------------------------------------- */

enum {
    MIXED_PIXELS = 12,
    MIXED_OUTPUTS = MONA_MIXED_OUTPUTS,
    MIXED_ROTATIONS = MONA_MIXED_ROTATIONS,
    MIXED_SUMS = MIXED_PIXELS / 4 * (4 + MIXED_ROTATIONS),
    MIXED_ROW = 48, /* a shorter row is not worth more weights */
};

/* v: 16 lanes, one for each output. */
INLINE __m512i mixed_rotation(__m512i v, const uint32_t r)
{
    const __m512i first = _mm512_set_epi32(3, 2, 1, 0, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i second = _mm512_set_epi32(7, 6, 5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6, 5, 4);
    const __m512i third = _mm512_set_epi32(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 10, 9, 8);
    return _mm512_permutexvar_epi32(r == 0 ? first : r == 1 ? second : third, v);
}

/* Lanes of pixel 4 g + r in the blend of it and the next pixel. */
INLINE __m512i mixed_operand(const __m512i a[4], const uint32_t r)
{
    const __mmask16 next[MIXED_ROTATIONS] = {0xf000, 0xff00, 0xfff0};
    return _mm512_mask_mov_epi32(a[r], next[r], a[r + 1]);
}

/* Multiplies `steps` steps. sums: for each four pixels, 4 of the full block and 3 of the last. */
INLINE void mixed_steps(__m512i *sums, const uint32_t distance, const uint8_t *p, uint32_t steps,
                        const uint8_t *w[2])
{
    const uint8_t *fours[MIXED_PIXELS / 4];
    UNROLL
    for (uint32_t g = 0; g < MIXED_PIXELS / 4; g++)
        fours[g] = p + (size_t)g * 4 * distance;
    for (uint32_t s = 0; s < steps; s++, w[0] += 64, w[1] += MIXED_ROTATIONS * 64) {
        const __m512i b = _mm512_load_si512(w[0]);
        __m512i rotated[MIXED_ROTATIONS];
        UNROLL
        for (uint32_t r = 0; r < MIXED_ROTATIONS; r++) {
            rotated[r] = _mm512_load_si512(w[1] + (size_t)r * 64);
            KEEP_IN_PLACE(rotated[r]);
        }
        UNROLL
        for (uint32_t g = 0; g < MIXED_PIXELS / 4; g++) {
            __m512i *sum = sums + (size_t)g * (4 + MIXED_ROTATIONS), a[4];
            FORGET(fours[g]);
            UNROLL
            for (uint32_t i = 0; i < 4; i++) {
                a[i] = quad_at(fours[g] + (size_t)i * distance);
                KEEP_IN_PLACE(a[i]);
                sum[i] = _mm512_dpbusd_epi32(sum[i], a[i], b);
                KEEP_IN_PLACE(sum[i]);
            }
            UNROLL
            for (uint32_t r = 0; r < MIXED_ROTATIONS; r++) {
                sum[4 + r] = _mm512_dpbusd_epi32(sum[4 + r], mixed_operand(a, r), rotated[r]);
                KEEP_IN_PLACE(sum[4 + r]);
            }
            fours[g] += 4;
        }
    }
}

/* Stores the sums, one vector for each pixel and block. Lanes beyond the last output are what
 * weights of zero would give. */
INLINE void mixed_store(const job *j, const __m512i *sums, uint32_t x)
{
    const __m512i start = _mm512_loadu_si512(j->start[1]);
    __m512i acc[2 * MIXED_PIXELS];
    UNROLL
    for (uint32_t g = 0; g < MIXED_PIXELS / 4; g++, sums += 4 + MIXED_ROTATIONS) {
        const __m512i *last = sums + 4;
        const __m512i lanes[4] = {last[0], _mm512_alignr_epi32(last[1], last[0], 12),
                                  _mm512_alignr_epi32(last[2], last[1], 8),
                                  _mm512_alignr_epi32(last[2], last[2], 4)};
        UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            acc[(g * 4 + i) * 2] = sums[i];
            acc[(g * 4 + i) * 2 + 1] =
                _mm512_mask_mov_epi32(start, (1 << MIXED_OUTPUTS) - 1, lanes[i]);
        }
    }
    int8_store(j, acc, MIXED_PIXELS, 2, x);
}

/* Computes MIXED_PIXELS pixels from x on. */
INLINE void mixed_block(const job *j, const uint32_t distance, uint32_t x)
{
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint8_t *w[2] = {j->weights[0], j->conv->mixed};
    const size_t offset = (size_t)(x - j->runs_origin) * distance;
    const __m512i start = _mm512_loadu_si512(j->start[0]), last = _mm512_loadu_si512(j->start[1]);
    __m512i sums[MIXED_SUMS];
    UNROLL
    for (uint32_t i = 0; i < MIXED_SUMS; i++) {
        const uint32_t k = i % (4 + MIXED_ROTATIONS);
        sums[i] = k < 4 ? start : mixed_rotation(last, k - 4);
    }
    for (uint32_t r = 0; r < j->run_count; r++)
        mixed_steps(sums, distance, j->runs[r] + offset, (elements[r] + 3u) / 4, w);
    mixed_store(j, sums, x);
}

static __attribute__((noinline)) void mixed_run(const job *j)
{
    const uint32_t end = j->origin + j->pixels, distance = j->conv->pixel_bytes;
    for (uint32_t i = j->origin; i < end; i += MIXED_PIXELS) {
        const uint32_t x = min_u32(i, end - MIXED_PIXELS);
        if (distance == AC_FRACTAL)
            mixed_block(j, AC_FRACTAL, x);
        else
            mixed_block(j, distance, x);
    }
}

/* ---- which ---------------------------------------------------------------------------------- */

static bool taps_possible(const job *j, uint32_t blocks)
{
    return blocks == 1 && j->conv->pixel_bytes == AC_FRACTAL && j->conv->c0 == AC_FRACTAL &&
           j->pixels >= TAPS_PIXELS && whole_taps(j->conv, j->n);
}

static bool mixed_possible(const job *j, uint32_t blocks)
{
    return j->conv->mixed && blocks == 2 && outputs_of(j, 1) <= MIXED_OUTPUTS &&
           j->conv->pixel_bytes > 1 && j->pixels >= MIXED_ROW;
}

/* Computes the job in one of these ways, or returns false and does nothing. */
static bool spare_run(const job *j, uint32_t blocks)
{
    if (!j->conv->spare_ports || j->conv->source_type != MONA_U8)
        return false;
    if (taps_possible(j, blocks))
        return taps_run(j), true;
    if (mixed_possible(j, blocks))
        return mixed_run(j), true;
    return false;
}
