// SPDX-License-Identifier: Apache-2.0
/* Convolutions with at most 6 outputs (narrow.h). Part of avx512.c.
 *
 * With 16 outputs side by side most lanes would compute nothing. Here a vector holds 4 pixels x 16
 * channels of one tap, as they lie in memory. vpdpbusd multiplies it with 16 weights of this tap,
 * the same for every pixel. This gives 4 partial sums a pixel, one for each 4 channels, which are
 * added up at the end of K. With 3 x 3 taps of 16 channels, 16 pixels take 9 x 4 vpdpbusd for each
 * output, so 144 for 4 outputs. With outputs side by side a pixel takes 36, so 16 take 576, for any
 * number of outputs up to 16.
 *
 * With four outputs a vector of sums has one output in each lane of a pixel: vector r has output (q
 * + r) % 4 in lane q, for channels 4 q to 4 q + 3. Rotated by r lanes, all four have output q in
 * lane q and are added. Outputs 4 and 5 take two vectors, with each output in two lanes. */

enum {
    NARROW_TAPS = 32,
    NARROW_OUTPUTS = MONA_NARROW_OUTPUTS,
    NARROW_TILE = 96,
    NARROW_EARLY = 3, /* taps before the last block is finished */
};

/* One, four or six outputs are computed, with a vector of sums for each. start: what sums start at:
 * each output's value in one lane of a pixel, and zeros. */
typedef struct narrow_job {
    job base;
    uint32_t taps, width; /* width: bytes of a result: 1, 4 or 8 */
    __m512i start[NARROW_OUTPUTS];
    const uint8_t *at[NARROW_TAPS]; /* the first pixel's */
} narrow_job;

static bool narrow_possible(const mona_conv_row *row)
{
    const mona_conv *c = row->conv;
    return c->narrow && row->output.type != MONA_F16 && row->pixels >= NARROW_PIXELS &&
           clamps_of(row).possible;
}

static void narrow_start(narrow_job *j, uint32_t outputs)
{
    const int32_t *start = j->base.start[0];
    for (uint32_t r = 0; r < outputs; r++)
        j->start[r] = _mm512_setzero_si512();
    j->start[0] = outputs == 1 ? _mm512_maskz_set1_epi32(0x1111, start[0]) : in_every_lane(start);
    if (outputs > 4)
        j->start[4] = _mm512_maskz_mov_epi32(0x3333, in_every_lane(start + 4));
}

/* Adds up vectors r = 0 to 3 of four pixels: output q in lane q. */
INLINE __m512i narrow_four(const __m512i a[4])
{
    return _mm512_add_epi32(
        _mm512_add_epi32(a[0], _mm512_shuffle_epi32(a[1], 0x93)),
        _mm512_add_epi32(_mm512_shuffle_epi32(a[2], 0x4e), _mm512_shuffle_epi32(a[3], 0x39)));
}

/* Adds up vectors r = 4 and 5: outputs 4, 5, 4 and 5 in lanes 0 to 3. */
INLINE __m512i narrow_two(const __m512i a[2])
{
    const __m512i halves = _mm512_add_epi32(a[0], _mm512_shuffle_epi32(a[1], 0xb1));
    return _mm512_add_epi32(halves, _mm512_shuffle_epi32(halves, 0x4e));
}

/* Adds up the four lanes of each of 16 pixels, which lie in four vectors, one pixel after
 * another. */
INLINE __m512i narrow_single(const __m512i a[4])
{
    const __m512i ab =
        _mm512_add_epi32(_mm512_unpacklo_epi32(a[0], a[1]), _mm512_unpackhi_epi32(a[0], a[1]));
    const __m512i cd =
        _mm512_add_epi32(_mm512_unpacklo_epi32(a[2], a[3]), _mm512_unpackhi_epi32(a[2], a[3]));
    return lanes_turned(
        _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)));
}

/* Results of the only output of 16 pixels, one after another, in the first 16 bytes. */
INLINE __m512i narrow_finish_single(const job *j, __m512i sums, uint32_t x)
{
    const vf scale = vf_set1(j->conv->epilogue.scale[0]);
    vf residual = scale;
    if (j->limits->add && j->limits->plain) {
        bytes_residual r = residual_at(j->row, 0, 0);
        r.data = j->row->residual.data + x;
        residual = residual_of(&r, 0);
    } else if (j->limits->add) {
        float prepared[NARROW_PIXELS * LANES];
        prepare_residual(j->row, 0, x, NARROW_PIXELS, prepared);
        for (uint32_t i = 1; i < NARROW_PIXELS; i++)
            prepared[i] = prepared[i * LANES];
        residual = vf_load(prepared);
    }
    const __m512i q = narrow_result(j->limits, sums, scale, residual);
    const __m512i same[4] = {q, q, q, q};
    return four_to_bytes(same, j->row->output.type == MONA_S8);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The sums of 16 pixels: of outputs 0 to 3, 4 pixels in each vector, and of outputs 4 and 5. Of one
 * output, all 16 are in the first vector. */
typedef struct narrow_sums {
    __m512i low[4], high[4];
} narrow_sums;

/* Multiplies the next tap of pixels x to x + 15. w: the weights of the first. */
INLINE void narrow_tap(__m512i *acc, const narrow_job *j, const uint8_t *w, const uint32_t outputs,
                       const bool flip, uint32_t tap, uint32_t x)
{
    const uint8_t *p = j->at[tap] + (size_t)x * 16;
    w += (size_t)tap * outputs * AC_FRACTAL;
    __m512i a[4];
    UNROLL
    for (uint32_t g = 0; g < 4; g++) {
        a[g] = _mm512_loadu_si512(p + (size_t)g * 64);
        if (flip)
            a[g] = _mm512_xor_si512(a[g], _mm512_set1_epi8(-128));
    }
    UNROLL
    for (uint32_t o = 0; o < outputs; o++) {
        const __m512i b = in_every_lane(w + (size_t)o * AC_FRACTAL);
        UNROLL
        for (uint32_t g = 0; g < 4; g++) {
            acc[g * outputs + o] = _mm512_dpbusd_epi32(acc[g * outputs + o], a[g], b);
            KEEP_IN_PLACE(acc[g * outputs + o]);
        }
    }
}

INLINE void narrow_add_up(narrow_sums *s, const uint32_t outputs, const __m512i *acc)
{
    if (outputs == 1) {
        s->low[0] = narrow_single(acc);
        return;
    }
    UNROLL
    for (uint32_t g = 0; g < 4; g++) {
        s->low[g] = narrow_four(acc + g * outputs);
        if (outputs > 4)
            s->high[g] = narrow_two(acc + g * outputs + 4);
    }
}

/* Writes pixels x to x + 15 of the row as pixels k to k + 15 of the output. */
INLINE void narrow_store(const job *j, const uint32_t outputs, const narrow_sums *s, uint32_t x,
                         const narrow_output *to, uint32_t k)
{
    if (outputs == 1) {
        const __m512i bytes = narrow_finish_single(j, s->low[0], x);
        store16(to->out + k, _mm512_castsi512_si128(bytes));
        return;
    }
    const __m512i first = narrow_finish(j, s->low, 0, x);
    narrow_write(to, outputs, k, first, outputs > 4 ? narrow_finish(j, s->high, 1, x) : first);
}

/* count >= NARROW_PIXELS. The last block is moved back to end at the last pixel. A block's sums are
 * finished after the next one's first taps, so that they wait for one another's latencies in
 * turn. */
INLINE void narrow_blocks(const narrow_job *j, const uint32_t outputs, const bool flip, uint32_t x,
                          uint32_t count, const narrow_output *to)
{
    const uint32_t early = min_u32(j->taps, NARROW_EARLY);
    const uint8_t *w = j->base.conv->narrow;
    narrow_sums sums = {0};
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i += NARROW_PIXELS) {
        const uint32_t k = min_u32(i, count - NARROW_PIXELS);
        __m512i acc[4 * NARROW_OUTPUTS];
        UNROLL
        for (uint32_t n = 0; n < 4 * outputs; n++)
            acc[n] = j->start[n % outputs];
        for (uint32_t tap = 0; tap < early; tap++)
            narrow_tap(acc, j, w, outputs, flip, tap, x + k);
        if (i)
            narrow_store(&j->base, outputs, &sums, x + before, to, before);
        for (uint32_t tap = early; tap < j->taps; tap++)
            narrow_tap(acc, j, w, outputs, flip, tap, x + k);
        narrow_add_up(&sums, outputs, acc);
        before = k;
    }
    narrow_store(&j->base, outputs, &sums, x + before, to, before);
}

static void narrow_tile(const narrow_job *j, uint32_t x, uint32_t count, const narrow_output *to)
{
    const bool flip = j->base.conv->source_type == MONA_S8;
    if (j->width == 1 && !flip)
        narrow_blocks(j, 1, false, x, count, to);
    else if (j->width == 1)
        narrow_blocks(j, 1, true, x, count, to);
    else if (j->width == 4 && !flip)
        narrow_blocks(j, 4, false, x, count, to);
    else if (j->width == 4)
        narrow_blocks(j, 4, true, x, count, to);
    else if (!flip)
        narrow_blocks(j, NARROW_OUTPUTS, false, x, count, to);
    else
        narrow_blocks(j, NARROW_OUTPUTS, true, x, count, to);
}

static __attribute__((noinline)) void conv_narrow(const mona_conv_row *row, const mona_isa *by)
{
    _Alignas(64) uint8_t results[NARROW_TILE * 8];
    _Alignas(64) int32_t start[AC_FRACTAL];
    clamps limits = clamps_of(row);
    narrow_job j;
    j.width = row->conv->channels > 4 ? 8 : row->conv->channels > 1 ? 4 : 1;
    limits.plain = narrow_plain(row, &limits, j.width);
    j.base = job_of(row, &limits, 0);
    j.taps = mona_block_steps(row->conv, 0) / 4;
    int8_start(&j.base, 0, j.base.limits->plain, start);
    for (uint32_t r = 0, tap = 0; r < j.base.run_count; r++)
        for (uint32_t i = 0; i < row->conv->run_elements[r]; i += 16)
            j.at[tap++] = j.base.runs[r] + i;
    narrow_start(&j, mona_narrow_vectors(row->conv->channels));
    const bool planes = narrow_into_planes(row);
    const narrow_output whole = {planes ? row->planes->rows[0] : row->output.data,
                                 planes ? row->planes->rows : NULL};
    if (planes || (!row->planes && row->output.c0 == j.width)) {
        narrow_tile(&j, 0, row->pixels, &whole);
        return;
    }
    const narrow_output part = {results, NULL};
    const mona_row tile = {results, 0, j.width, row->output.type};
    for (uint32_t i = 0; i < row->pixels; i += NARROW_TILE) {
        const uint32_t count = min_u32(NARROW_TILE, row->pixels),
                       x = min_u32(i, row->pixels - count);
        narrow_tile(&j, x, count, &part);
        mona_scatter(by, row, &tile, 0, x, count);
    }
}
