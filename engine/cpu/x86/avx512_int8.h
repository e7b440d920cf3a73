// SPDX-License-Identifier: Apache-2.0
/* INT8 convolutions. Part of avx512.c.
 *
 * A register block is 24 pixels x 16 outputs, or 14 x 32. A step loads 4 neighbouring bytes of a
 * pixel into every lane, and vpdpbusd multiplies them with the 4 weights of each of 16 outputs.
 *
 * vpdpbusd takes unsigned x signed bytes. S8 sources are offset, s + 128 = s ^ 0x80, and the
 * accumulators start at mona_conv.unsigned_bias. This is exact: s32 arithmetic is modulo 2^32, and
 * the true sum fits. Sign bits are flipped in scratch memory, for all runs of a piece of the row at
 * once. */

enum { MAX_SUMS = 28 /* accumulators of a register block */ };

/* 4 bytes in every lane. */
INLINE __m512i quad_at(const uint8_t *p)
{
    int32_t quad;
    memcpy(&quad, p, sizeof quad);
    return _mm512_set1_epi32(quad);
}

/* Multiplies `steps` steps of all pixels, those of the first pixel at p. distance: bytes between
 * pixels, which may be a constant. Pixels are addressed in fours, as x86 can add 0 to 3
 * distances. */
INLINE void int8_steps(__m512i *acc, const uint32_t pixels, const uint32_t blocks,
                       const uint32_t distance, const uint8_t *p, uint32_t steps,
                       const uint8_t *w[2])
{
    const uint8_t *fours[MAX_PIXELS / 4];
    UNROLL
    for (uint32_t g = 0; g * 4 < pixels; g++)
        fours[g] = p + (size_t)g * 4 * distance;
    for (uint32_t s = 0; s < steps; s++, w[0] += 64) {
        const __m512i b0 = _mm512_load_si512(w[0]);
        const __m512i b1 = blocks == 2 ? _mm512_load_si512(w[1]) : b0;
        if (blocks == 2) /* w[1] of a single block is NULL */
            w[1] += 64;
        UNROLL
        for (uint32_t g = 0; g * 4 < pixels; g++)
            FORGET(fours[g]);
        UNROLL
        for (uint32_t i = 0; i < pixels; i++) {
            const __m512i a = quad_at(fours[i / 4] + (size_t)(i % 4) * distance);
            acc[i * blocks] = _mm512_dpbusd_epi32(acc[i * blocks], a, b0);
            KEEP_IN_PLACE(acc[i * blocks]);
            if (blocks == 2) {
                acc[i * 2 + 1] = _mm512_dpbusd_epi32(acc[i * 2 + 1], a, b1);
                KEEP_IN_PLACE(acc[i * 2 + 1]);
            }
        }
        UNROLL
        for (uint32_t g = 0; g * 4 < pixels; g++)
            fours[g] += 4;
    }
}

INLINE void int8_store_block(const job *j, const __m512i *acc, const uint32_t pixels,
                             const uint32_t blocks, const uint32_t b, uint32_t x)
{
    if (!j->limits->plain)
        slow_store(j, acc, pixels, blocks, b, x);
    else if (j->limits->add)
        plain_store(j, true, acc, pixels, blocks, b, x);
    else
        plain_store(j, false, acc, pixels, blocks, b, x);
}

INLINE void int8_store(const job *j, const __m512i *acc, const uint32_t pixels,
                       const uint32_t blocks, uint32_t x)
{
    int8_store_block(j, acc, pixels, blocks, 0, x);
    if (blocks == 2)
        int8_store_block(j, acc, pixels, blocks, 1, x);
}

/* One pixel of `blocks` blocks, for which int8_steps() would wait for each product: a run's steps
 * go to CHAINS sums in turn. Sums of integers may be formed in any order. */
INLINE void int8_single(const job *j, const uint32_t blocks, uint32_t x)
{
    enum { CHAINS = 4 };
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint8_t *w[2] = {j->weights[0], j->weights[1]};
    __m512i sums[2][CHAINS], acc[2];
    UNROLL
    for (uint32_t i = 0; i < blocks * CHAINS; i++)
        sums[i / CHAINS][i % CHAINS] =
            i % CHAINS ? _mm512_setzero_si512() : _mm512_loadu_si512(j->start[i / CHAINS]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)(x - j->runs_origin) * j->conv->pixel_bytes;
        const uint32_t steps = (elements[r] + 3u) / 4;
        for (uint32_t s = 0; s < steps; s += CHAINS) {
            UNROLL
            for (uint32_t k = 0; k < CHAINS; k++) {
                if (s + k == steps)
                    break;
                const __m512i a = quad_at(p + (size_t)(s + k) * 4);
                UNROLL
                for (uint32_t b = 0; b < blocks; b++, w[b - 1] += 64)
                    sums[b][k] = _mm512_dpbusd_epi32(sums[b][k], a, _mm512_load_si512(w[b]));
            }
        }
    }
    UNROLL
    for (uint32_t b = 0; b < blocks; b++)
        acc[b] = _mm512_add_epi32(_mm512_add_epi32(sums[b][0], sums[b][1]),
                                  _mm512_add_epi32(sums[b][2], sums[b][3]));
    int8_store(j, acc, 1, blocks, x);
}

INLINE void int8_block(const job *j, const uint32_t pixels, const uint32_t blocks,
                       const uint32_t distance, uint32_t x)
{
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint8_t *w[2] = {j->weights[0], j->weights[1]};
    const size_t offset = (size_t)(x - j->runs_origin) * distance;
    __m512i acc[MAX_SUMS];
    if (pixels == 1) {
        int8_single(j, blocks, x);
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * blocks; i++)
        acc[i] = _mm512_loadu_si512(j->start[i % blocks]);
    for (uint32_t r = 0; r < j->run_count; r++)
        int8_steps(acc, pixels, blocks, distance, j->runs[r] + offset, (elements[r] + 3u) / 4, w);
    int8_store(j, acc, pixels, blocks, x);
}

/* Few steps: a filter of three rows with one or three steps each, like the first layer of a network
 * that takes one or three channels. Its weights stay in registers, and blocks are as small as a
 * store's, so that a CPU finishes some while it multiplies others. */
INLINE void int8_few(const job *j, const uint32_t steps, const uint32_t distance)
{
    const uint32_t end = j->origin + j->pixels, first = j->runs_origin;
    const uint8_t *runs[3] = {j->runs[0], j->runs[1], j->runs[2]};
    const __m512i start = _mm512_loadu_si512(j->start[0]);
    const plain e = plain_of(j, false, 0, j->origin);
    __m512i w[9];
    UNROLL
    for (uint32_t s = 0; s < 3 * steps; s++) {
        w[s] = _mm512_load_si512(j->weights[0] + (size_t)s * 64);
        KEEP_IN_PLACE(w[s]);
    }
    for (uint32_t i = j->origin; i < end; i += 4) {
        const uint32_t x = min_u32(i, end - 4);
        __m512i acc[4] = {start, start, start, start};
        UNROLL
        for (uint32_t s = 0; s < 3 * steps; s++) {
            const uint8_t *p = runs[s / steps] + (size_t)(x - first) * distance + s % steps * 4;
            UNROLL
            for (uint32_t k = 0; k < 4; k++)
                acc[k] = _mm512_dpbusd_epi32(acc[k], quad_at(p + (size_t)k * distance), w[s]);
        }
        plain_four(&e, false, acc, 1, x - j->origin);
    }
}

/* Computes the job with few steps, or returns false and does nothing. Three steps of a pair are
 * faster with operands that both blocks use. */
static bool int8_few_run(const job *source, uint32_t blocks)
{
    const mona_conv *c = source->conv;
    const uint32_t steps = (c->run_elements[source->first_run] + 3u) / 4;
    const bool one = steps == 1 && c->pixel_bytes == 1;
    const bool three = steps == 3 && c->pixel_bytes == 4 && blocks == 1;
    if (!(one || three) || source->run_count != 3 || mona_block_steps(c, source->n) != 3 * steps ||
        source->pixels < 4 || !source->limits->plain || source->limits->add)
        return false;
    job j = *source;
    for (uint32_t b = 0; b < blocks; b++, next_block(&j))
        if (one)
            int8_few(&j, 1, 1);
        else
            int8_few(&j, 3, 4);
    return true;
}

/* Computes the row in blocks of `many` pixels, then of `few`, then at most one of `last`. The last
 * block is moved back to end at the last pixel. j->pixels >= few >= last. */
INLINE void int8_pixels(const job *j, const uint32_t many, const uint32_t few, const uint32_t last,
                        const uint32_t blocks, const uint32_t distance)
{
    const uint32_t end = j->origin + j->pixels;
    uint32_t x = j->origin;
    for (; end - x >= many; x += many)
        int8_block(j, many, blocks, distance, x);
    for (; x + last < end; x += few)
        int8_block(j, few, blocks, distance, min_u32(x, end - few));
    if (x < end)
        int8_block(j, last, blocks, distance, end - last);
}

/* Smaller blocks waste no pixels of rows of whole eights, and a CPU finishes some while it
 * multiplies others, which pays where there is a residual. */
static void int8_pair(const job *j)
{
    const uint32_t distance = j->conv->pixel_bytes;
    if (j->pixels < 7)
        int8_pixels(j, 1, 1, 1, 2, distance);
    else if (distance == AC_FRACTAL && j->pixels % 8 == 0 && (j->limits->add || j->pixels <= 16))
        int8_pixels(j, 8, 8, 8, 2, AC_FRACTAL);
    else if (distance == AC_FRACTAL)
        int8_pixels(j, 14, 7, 4, 2, AC_FRACTAL);
    else
        int8_pixels(j, 14, 7, 4, 2, distance);
}

/* With a third distance clang 14 would keep the sums in memory, in all three. */
static void int8_one(const job *j)
{
    const uint32_t distance = j->conv->pixel_bytes;
    if (j->pixels < 8)
        int8_pixels(j, 1, 1, 1, 1, distance);
    else if (distance == AC_FRACTAL)
        int8_pixels(j, 24, 8, 8, 1, AC_FRACTAL);
    else
        int8_pixels(j, 24, 8, 8, 1, distance);
}

static void int8_run(const job *j, uint32_t blocks)
{
    if (int8_few_run(j, blocks))
        return;
    if (blocks == 2)
        int8_pair(j);
    else
        int8_one(j);
}

/* Prepares a job, which from then on needs limits and start. */
static void int8_prepare(job *j, uint32_t blocks, clamps *limits, int32_t start[2][AC_FRACTAL])
{
    *limits = *j->limits;
    limits->plain = limits->plain && (!limits->add || residual_in_bytes(j->row));
    j->limits = limits;
    for (uint32_t b = 0; b < blocks; b++)
        int8_start(j, b, limits->plain, start[b]);
}

/* ---- S8 ------------------------------------------------------------------------------------- */

enum {
    FLIPPED_BYTES =
        MONA_SCRATCH_TILES - MONA_SCRATCH - 128, /* flip_signs() writes, and others read, more */
    FLIPPED_CACHED = 16384,                      /* of which so many stay in the L1 cache */
    FLIPPED_PIXELS = 14,                         /* fewest pixels for which a smaller piece pays */
};

/* Pixels of a piece of which so many bytes of each run fit. */
static uint32_t flipped_pixels(const mona_conv *c, uint32_t bytes)
{
    const uint32_t longest = c->run_elements[c->first_run[0]];
    return bytes < longest ? 0 : (bytes - longest) / c->pixel_bytes + 1;
}

/* Copies count bytes with their sign bits flipped. Up to 63 more are read and written. */
static void flip_signs(uint8_t *to, const uint8_t *from, size_t count)
{
    const __m512i sign = _mm512_set1_epi8(-128);
    for (size_t i = 0; i < count; i += 64)
        _mm512_storeu_si512(to + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), sign));
}

/* Flips `count` pixels from x on of runs [first, end). One that begins in what another has copied,
 * or right after it, shares it. */
static void flip_runs(const mona_conv_row *row, uint32_t first, uint32_t end, uint32_t x,
                      uint32_t count, const uint8_t **runs, uint8_t *to)
{
    const mona_conv *c = row->conv;
    const uint8_t *source = NULL;
    size_t copied = 0;
    for (uint32_t r = first; r < end; r++) {
        const uint8_t *from = row->runs[r] + (size_t)x * c->pixel_bytes;
        const size_t bytes = (size_t)(count - 1) * c->pixel_bytes + c->run_elements[r];
        size_t ahead = (uintptr_t)from - (uintptr_t)source; /* wraps if it begins before */
        if (!source || ahead > copied) {
            to += copied;
            source = from;
            ahead = copied = 0;
        }
        runs[r] = to + ahead;
        if (ahead + bytes > copied) {
            flip_signs(to + copied, source + copied, ahead + bytes - copied);
            copied = ahead + bytes;
        }
    }
}

/* Computes a row of S8 as rows of U8, for all outputs at once. Of a grouped convolution these may
 * be the outputs of later groups alone; then there are no other runs than theirs. */
static void conv_flipped(const mona_conv_row *row, const mona_isa *by)
{
    mona_conv conv = *row->conv;
    const uint32_t first = conv.first_run[0];
    const uint32_t end = conv.first_run[conv.blocks - 1] + conv.run_count[conv.blocks - 1];
    const uint32_t all = end - first;
    const size_t addresses = end * sizeof(uint8_t *);
    const uint8_t **runs =
        (const uint8_t **)(void *)(row->scratch + (MONA_SCRATCH_TILES - addresses));
    const uint32_t room = addresses < FLIPPED_BYTES ? (uint32_t)(FLIPPED_BYTES - addresses) : 0;
    uint32_t count = flipped_pixels(&conv, FLIPPED_CACHED / all);
    if (count < min_u32(FLIPPED_PIXELS, row->pixels))
        count = min_u32(FLIPPED_PIXELS, flipped_pixels(&conv, room / all));
    if (!count) {
        mona_c_conv_row(row);
        return;
    }
    mona_conv_row part = *row;
    if (count >= FLIPPED_PIXELS && count < row->pixels) {
        /* Pieces as equal as possible, as the last one is moved back. */
        const uint32_t pieces = (row->pixels - 1) / (count - count % 7) + 1;
        count = round_up((row->pixels - 1) / pieces + 1, 7);
    }
    count = min_u32(count, row->pixels);
    conv.source_type = MONA_U8;
    part.conv = &conv;
    part.runs = runs;
    for (uint32_t i = 0; i < row->pixels; i += count) {
        const uint32_t x = min_u32(i, row->pixels - count);
        flip_runs(row, first, end, x, count, runs, row->scratch + MONA_SCRATCH);
        conv_pixels(&part, by, x, count);
    }
}
