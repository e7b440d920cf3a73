// SPDX-License-Identifier: Apache-2.0
/* Convolutions with at most 6 outputs, like the last layer of every network that mona ships. Part
 * of avx512.c.
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
    NARROW_TAPS = 32, /* most taps of 16 channels; with more, outputs lie side by side */
    NARROW_OUTPUTS = 6,
    NARROW_PIXELS = 16, /* pixels of a register block: 4 vectors of 4 pixels */
    NARROW_TILE = 96,
    NARROW_EARLY = 3, /* taps before the last block is finished */
};

/* One, four or six outputs are computed, with a vector of sums for each. start: what sums start at:
 * each output's value in one lane of a pixel, and zeros. */
typedef struct narrow_job {
    job base;
    uint32_t taps, width; /* width: bytes of a result: 1, 4 or 8 */
    __m512i start[NARROW_OUTPUTS];
    const uint8_t *at[NARROW_TAPS];                /* the first pixel's */
    __m512i weights[NARROW_TAPS * NARROW_OUTPUTS]; /* [tap][vector], 16 channels in every lane */
} narrow_job;

static bool narrow_possible(const ac_conv_row *row)
{
    const ac_conv *c = row->conv;
    return c->channels <= NARROW_OUTPUTS && c->source_type != MONA_F16 && c->c0 == 16 &&
           c->stride == 1 && row->output.type != MONA_F16 && row->pixels >= NARROW_PIXELS &&
           whole_taps(c, 0) && ac_block_steps(c, 0) / 4 <= NARROW_TAPS && clamps_of(row).possible;
}

/* 16 bytes in every 128-bit lane. */
INLINE __m512i in_every_lane(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

/* Four bytes each of four steps' outputs, of which the first is at p. */
INLINE __m512i narrow_steps(const uint8_t *p)
{
    __m512i v = in_every_lane(p);
    v = _mm512_mask_broadcast_i32x4(v, 0x00f0, load16(p + 64));
    v = _mm512_mask_broadcast_i32x4(v, 0x0f00, load16(p + 128));
    return _mm512_mask_broadcast_i32x4(v, 0xf000, load16(p + 192));
}

/* Where lane q of vector r is in narrow_steps() of outputs 0 to 3, or from vector 4 on of 4 to 7. */
static uint32_t narrow_at(uint32_t outputs, uint32_t r, uint32_t q)
{
    return 4 * q + (outputs == 1 ? 0 : r < 4 ? (q + r) % 4 : (q + r) % 2);
}

/* Reorders weights from [step][16 outputs][4 channels]. */
static void narrow_weights(narrow_job *j, uint32_t outputs)
{
    const uint8_t *from = j->base.weights[0];
    const int32_t *start = j->base.start[0];
    __m512i order[NARROW_OUTPUTS];
    for (uint32_t r = 0; r < outputs; r++) {
        int32_t at[4];
        for (uint32_t q = 0; q < 4; q++)
            at[q] = (int32_t)narrow_at(outputs, r, q);
        order[r] = in_every_lane(at);
        j->start[r] = _mm512_setzero_si512();
    }
    j->start[0] = outputs == 1 ? _mm512_maskz_set1_epi32(0x1111, start[0]) : in_every_lane(start);
    if (outputs > 4)
        j->start[4] = _mm512_maskz_mov_epi32(0x3333, in_every_lane(start + 4));
    for (uint32_t tap = 0; tap < j->taps; tap++, from += 256)
        for (uint32_t r = 0; r < outputs; r++)
            j->weights[tap * outputs + r] =
                _mm512_permutexvar_epi32(order[r], narrow_steps(from + r / 4 * 16));
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

/* Adds up the four lanes of each of 16 pixels, which lie in four vectors, one pixel after another. */
INLINE __m512i narrow_single(const __m512i a[4])
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i ab =
        _mm512_add_epi32(_mm512_unpacklo_epi32(a[0], a[1]), _mm512_unpackhi_epi32(a[0], a[1]));
    const __m512i cd =
        _mm512_add_epi32(_mm512_unpacklo_epi32(a[2], a[3]), _mm512_unpackhi_epi32(a[2], a[3]));
    return _mm512_permutexvar_epi32(
        order, _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)));
}

/* ---- the epilogue --------------------------------------------------------------------------- */

/* Whether the epilogue is plain and its residual has a layout that narrow_residuals() can read: one
 * channel, or as many as a result has. */
static bool narrow_plain(const ac_conv_row *row, const clamps *c, uint32_t width)
{
    const uint32_t c0 = row->residual.c0;
    return c->plain && (!c->add || c0 == (row->conv->epilogue.broadcast ? 1 : width));
}

/* The scaled residuals of outputs 4 h to 4 h + 3 of a plain epilogue, in vectors of 4 pixels. */
INLINE void narrow_residuals(const ac_conv_row *row, uint32_t x, const uint32_t h, vf residual[4])
{
    const uint32_t c0 = row->residual.c0;
    bytes_residual r = residual_at(row, 0, 0);
    r.data = row->residual.data + (size_t)x * c0;
    if (c0 == 4) {
        UNROLL
        for (uint32_t g = 0; g < 4; g++)
            residual[g] = residual_of(&r, g);
        return;
    }
    if (c0 == 8) {
        UNROLL
        for (uint32_t g = 0; g < 4; g++) {
            const __m256i pixels = _mm256_loadu_si256((const __m256i *)(const void *)r.data + g);
            const __m256i order = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
            const __m256i halves = _mm256_permutevar8x32_epi32(pixels, order);
            residual[g] = residual_from(&r, h ? _mm256_extracti128_si256(halves, 1)
                                              : _mm256_castsi256_si128(halves));
        }
        return;
    }
    const vf all = residual_of(&r, 0);
    const __m512i first = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    UNROLL
    for (uint32_t g = 0; g < 4; g++)
        residual[g] =
            _mm512_permutexvar_ps(_mm512_add_epi32(first, _mm512_set1_epi32((int32_t)g * 4)), all);
}

/* Channels 4 h to 4 h + 3 of the prepared residual of 4 pixels. */
INLINE vf four_residuals(const float *residual)
{
    vf v = _mm512_broadcast_f32x4(_mm_loadu_ps(residual));
    v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(residual + LANES));
    v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(residual + 2 * LANES));
    return _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(residual + 3 * LANES));
}

/* The scaled residuals of all other epilogues. */
INLINE void narrow_prepared(const ac_conv_row *row, uint32_t x, uint32_t h, vf residual[4])
{
    _Alignas(64) float prepared[NARROW_PIXELS * LANES];
    prepare_residual(row, 0, x, NARROW_PIXELS, prepared);
    UNROLL
    for (uint32_t g = 0; g < 4; g++)
        residual[g] = four_residuals(prepared + g * 4 * LANES + 4 * h);
}

/* Results of outputs 4 h to 4 h + 3 of 4 pixels, as integers. */
INLINE __m512i narrow_result(const clamps *c, __m512i sums, vf scale, vf residual)
{
    if (c->plain) {
        const vf offset = _mm512_mul_ps(scale, vf_set1(-0x1.8p23f));
        vf t = round_11_bits(_mm512_fmadd_ps(_mm512_castsi512_ps(sums), scale, offset));
        if (c->add)
            t = round_11_bits(_mm512_add_ps(vf_max(t, vf_set1(c->stage[0].low)), residual));
        return _mm512_cvtps_epi32(t);
    }
    vf t = apply(c->stage[0], _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale));
    if (c->add)
        t = apply(c->stage[1], _mm512_add_ps(vf_round(t), residual));
    return _mm512_cvtps_epi32(vf_round(t));
}

/* Results of outputs 4 h to 4 h + 3 of 16 pixels, 4 bytes a pixel, in the order dword (lane, vector
 * of sums). Outputs that do not exist are zero. sums: vectors of 4 pixels. */
INLINE __m512i narrow_finish(const job *j, const __m512i sums[4], const uint32_t h, uint32_t x)
{
    const uint32_t left = j->conv->channels - 4 * h;
    const uint32_t keep = left >= 4 ? UINT32_MAX : (1u << 8 * left) - 1;
    const vf scale = _mm512_castsi512_ps(in_every_lane(j->conv->epilogue.scale + 4 * h));
    vf residual[4] = {scale, scale, scale, scale};
    __m512i q[4];
    if (j->limits->add && j->limits->plain)
        narrow_residuals(j->row, x, h, residual);
    else if (j->limits->add)
        narrow_prepared(j->row, x, h, residual);
    UNROLL
    for (uint32_t g = 0; g < 4; g++)
        q[g] = narrow_result(j->limits, sums[g], scale, residual[g]);
    const __m512i bytes = packed(q, j->row->output.type == MONA_S8);
    return _mm512_and_si512(bytes, _mm512_set1_epi32((int32_t)keep));
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
        _Alignas(64) float prepared[NARROW_PIXELS * LANES];
        prepare_residual(j->row, 0, x, NARROW_PIXELS, prepared);
        const __m512i first = _mm512_mullo_epi32(
            _mm512_set1_epi32(LANES),
            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
        residual = _mm512_i32gather_ps(first, prepared, sizeof(float));
    }
    const __m512i q = narrow_result(j->limits, sums, scale, residual);
    const __m512i same[4] = {q, q, q, q};
    return four_to_bytes(same, j->row->output.type == MONA_S8);
}

/* ---- where results go ----------------------------------------------------------------------- */

/* Where results go. out: one pixel after another, 1, 4 or 8 bytes each. to: NULL, or two rows of
 * planes, of which the first takes outputs 0 and 1 and the second 2 and 3. */
typedef struct narrow_output {
    uint8_t *out;
    uint8_t *const *to;
} narrow_output;

/* Whether the results, as bytes, are what two rows of planes hold, or the only output's plane. */
static bool narrow_into_planes(const ac_conv_row *row)
{
    const ac_planes *p = row->planes;
    return p && p->block * p->block == row->conv->channels && row->conv->channels <= 4 &&
           p->type == row->output.type && (p->type == MONA_S8 || p->maximum >= 255);
}

INLINE void narrow_write(const narrow_output *o, const uint32_t outputs, uint32_t k, __m512i first,
                         __m512i second)
{
    const __m512i pixels = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    if (outputs == 4 && o->to) {
        static const uint16_t words[32] = {/* the lower words of all pixels, then the upper words */
                                           0,  8,  16, 24, 2,  10, 18, 26, 4,  12, 20,
                                           28, 6,  14, 22, 30, 1,  9,  17, 25, 3,  11,
                                           19, 27, 5,  13, 21, 29, 7,  15, 23, 31};
        const __m512i rows = _mm512_permutexvar_epi16(_mm512_loadu_si512(words), first);
        _mm256_storeu_si256((__m256i *)(void *)(o->to[0] + (size_t)k * 2),
                            _mm512_castsi512_si256(rows));
        _mm256_storeu_si256((__m256i *)(void *)(o->to[1] + (size_t)k * 2),
                            _mm512_extracti64x4_epi64(rows, 1));
        return;
    }
    const __m512i a = _mm512_permutexvar_epi32(pixels, first);
    if (outputs == 4) {
        _mm512_storeu_si512(o->out + (size_t)k * 4, a);
        return;
    }
    const __m512i b = _mm512_permutexvar_epi32(pixels, second);
    const __m512i order = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i later = _mm512_add_epi32(order, _mm512_set1_epi32(8));
    _mm512_storeu_si512(o->out + (size_t)k * 8, _mm512_permutex2var_epi32(a, order, b));
    _mm512_storeu_si512(o->out + (size_t)k * 8 + 64, _mm512_permutex2var_epi32(a, later, b));
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The sums of 16 pixels: of outputs 0 to 3, 4 pixels in each vector, and of outputs 4 and 5. Of one
 * output, all 16 are in the first vector. */
typedef struct narrow_sums {
    __m512i low[4], high[4];
} narrow_sums;

/* Multiplies the next tap of pixels x to x + 15. */
INLINE void narrow_tap(__m512i *acc, const narrow_job *j, const uint32_t outputs, const bool flip,
                       uint32_t tap, uint32_t x)
{
    const uint8_t *p = j->at[tap] + (size_t)x * 16;
    const __m512i *w = j->weights + (size_t)tap * outputs;
    __m512i a[4];
    UNROLL
    for (uint32_t g = 0; g < 4; g++) {
        a[g] = _mm512_loadu_si512(p + (size_t)g * 64);
        if (flip)
            a[g] = _mm512_xor_si512(a[g], _mm512_set1_epi8(-128));
    }
    UNROLL
    for (uint32_t o = 0; o < outputs; o++) {
        const __m512i b = w[o];
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
 * finished after the next one's first taps, so that they wait for one another's latencies in turn. */
INLINE void narrow_blocks(const narrow_job *j, const uint32_t outputs, const bool flip, uint32_t x,
                          uint32_t count, const narrow_output *to)
{
    const uint32_t early = min_u32(j->taps, NARROW_EARLY);
    narrow_sums sums = {0};
    uint32_t before = 0;
    for (uint32_t i = 0; i < count; i += NARROW_PIXELS) {
        const uint32_t k = min_u32(i, count - NARROW_PIXELS);
        __m512i acc[4 * NARROW_OUTPUTS];
        UNROLL
        for (uint32_t n = 0; n < 4 * outputs; n++)
            acc[n] = j->start[n % outputs];
        for (uint32_t tap = 0; tap < early; tap++)
            narrow_tap(acc, j, outputs, flip, tap, x + k);
        if (i)
            narrow_store(&j->base, outputs, &sums, x + before, to, before);
        for (uint32_t tap = early; tap < j->taps; tap++)
            narrow_tap(acc, j, outputs, flip, tap, x + k);
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

static __attribute__((noinline)) void conv_narrow(const ac_conv_row *row, const ac_isa *by)
{
    _Alignas(64) uint8_t results[NARROW_TILE * 8];
    _Alignas(64) int32_t start[AC_FRACTAL];
    clamps limits = clamps_of(row);
    narrow_job j;
    j.width = row->conv->channels > 4 ? 8 : row->conv->channels > 1 ? 4 : 1;
    limits.plain = narrow_plain(row, &limits, j.width);
    j.base = job_of(row, &limits, 0);
    j.taps = ac_block_steps(row->conv, 0) / 4;
    int8_start(&j.base, 0, start);
    for (uint32_t r = 0, tap = 0; r < j.base.run_count; r++)
        for (uint32_t i = 0; i < row->conv->run_elements[r]; i += 16)
            j.at[tap++] = j.base.runs[r] + i;
    narrow_weights(&j, j.width == 8 ? NARROW_OUTPUTS : j.width);
    const bool planes = narrow_into_planes(row);
    const narrow_output whole = {planes ? row->planes->rows[0] : row->output.data,
                                 planes ? row->planes->rows : NULL};
    if (planes || (!row->planes && row->output.c0 == j.width)) {
        narrow_tile(&j, 0, row->pixels, &whole);
        return;
    }
    const narrow_output part = {results, NULL};
    const ac_row tile = {results, 0, j.width, row->output.type};
    for (uint32_t i = 0; i < row->pixels; i += NARROW_TILE) {
        const uint32_t count = min_u32(NARROW_TILE, row->pixels),
                       x = min_u32(i, row->pixels - count);
        narrow_tile(&j, x, count, &part);
        ac_scatter(by, row, &tile, 0, x, count);
    }
}
