// SPDX-License-Identifier: Apache-2.0
/* Convolutions whose last block of 16 outputs is not full, such as 28 outputs, which are 16 and 12.
 * Part of avx512.c.
 *
 * With outputs side by side, the lanes of outputs that do not exist would multiply zeros. Here a
 * vector holds 16 pixels of one step of K and is multiplied with the weights of one output.
 * Register blocks are 4, 8, 10 or 12 outputs x 32 pixels, so at most 3 outputs too many are
 * computed. Sources are first transposed to the stack, step by step: a tile of 32 pixels and the
 * columns beyond it that the filter reads, converted to fp32 where needed. A
 * kernel column is then an offset of one lane. Sums are transposed back in registers, 16 outputs of
 * 16 pixels, and go through the usual epilogue.
 *
 * In this file a lane is 32 bits: a float, or 4 bytes. */

enum {
    PLANAR_PIXELS = 32,
    PLANAR_STRIDE = 36, /* lanes from one step of the tile to the next */
    PLANAR_TAPS = 5,    /* most kernel columns; with fewer than 3, transposing does not pay */
    PLANAR_STEPS = 84,
    PLANAR_SOURCES = 16,
    PLANAR_OUTPUTS = 12, /* most outputs */
};

/* Neighbouring runs of a row of the source: `taps` kernel columns of `steps` steps each. */
typedef struct planar_source {
    const uint8_t *data;
    uint32_t taps, steps;
} planar_source;

typedef struct planar {
    uint32_t count;
    planar_source sources[PLANAR_SOURCES];
    _Alignas(64) int32_t tile[PLANAR_STEPS * PLANAR_STRIDE];
    _Alignas(64) int32_t sums[AC_FRACTAL * PLANAR_PIXELS]; /* [output][pixel] */
} planar;

/* Finds the sources. A run of several kernel columns is one source, and so are neighbouring runs of
 * one column each. False: planar_sums() cannot compute this convolution. */
static bool planar_find(planar *p, const job *j)
{
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    const uint32_t step = j->conv->source_type == MONA_F16 ? 1 : 4;
    uint32_t steps = 0;
    p->count = 0;
    for (uint32_t r = 0; r < j->run_count; steps += p->sources[p->count++].steps) {
        const uint32_t channels = min_u32(elements[r], AC_FRACTAL), taps = elements[r] / channels;
        planar_source s = {j->runs[r], taps, (channels + step - 1) / step};
        for (r++; taps == 1 && r < j->run_count && elements[r] == channels &&
                  j->runs[r] == s.data + (size_t)s.taps * j->conv->pixel_bytes;
             r++)
            s.taps++;
        if (s.taps < 3 || s.taps > PLANAR_TAPS || steps + s.steps > PLANAR_STEPS ||
            p->count == PLANAR_SOURCES)
            return false;
        p->sources[p->count] = s;
    }
    return true;
}

/* Outputs of the job's block b. */
static uint32_t outputs_of(const job *j, uint32_t b)
{
    return min_u32(AC_FRACTAL, j->conv->channels - (j->n + b) * AC_FRACTAL);
}

/* For INT8, if there is a full block as well, transposing costs as much as it saves. A column
 * follows the one before it only where pixels are single taps as they are stored, not gathered
 * ones. */
static bool planar_possible(const job *j, uint32_t blocks)
{
    const uint32_t stored = j->conv->source_type == MONA_F16 ? 2 : 1;
    return j->conv->c0 == AC_FRACTAL && j->conv->pixel_bytes == AC_FRACTAL * stored &&
           j->conv->stride == 1 && j->pixels >= PLANAR_PIXELS &&
           outputs_of(j, blocks - 1) <= PLANAR_OUTPUTS &&
           (blocks == 1 || j->conv->source_type == MONA_F16);
}

/* Transposes 16 x 16 lanes. */
INLINE void transpose16(vf v[16])
{
    vf t[16];
    UNROLL
    for (uint32_t i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    UNROLL
    for (uint32_t i = 0; i < 16; i++) { /* lane l of v[4 a + c]: column 4 l + c, rows 4 a to 4 a
                                           + 3 */
        const __m512d a = _mm512_castps_pd(t[i / 4 * 4 + i % 4 / 2]);
        const __m512d b = _mm512_castps_pd(t[i / 4 * 4 + i % 4 / 2 + 2]);
        v[i] = _mm512_castpd_ps(i % 2 ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b));
    }
    UNROLL
    for (uint32_t c = 0; c < 4; c++) {
        const vf even0 = _mm512_shuffle_f32x4(v[c], v[4 + c], 0x88);
        const vf even1 = _mm512_shuffle_f32x4(v[8 + c], v[12 + c], 0x88);
        const vf odd0 = _mm512_shuffle_f32x4(v[c], v[4 + c], 0xdd);
        const vf odd1 = _mm512_shuffle_f32x4(v[8 + c], v[12 + c], 0xdd);
        v[c] = _mm512_shuffle_f32x4(even0, even1, 0x88);
        v[4 + c] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
        v[8 + c] = _mm512_shuffle_f32x4(even0, even1, 0xdd);
        v[12 + c] = _mm512_shuffle_f32x4(odd0, odd1, 0xdd);
    }
}

/* Transposes 16 columns of a source to the tile. from: the first column. */
INLINE void f16_columns(int32_t *to, const uint8_t *from, uint32_t steps)
{
    vf v[16];
    UNROLL
    for (uint32_t i = 0; i < 16; i++)
        v[i] = vf_f16(from + (size_t)i * 2 * AC_FRACTAL);
    transpose16(v);
    UNROLL
    for (uint32_t i = 0; i < 16; i++)
        if (i < steps)
            _mm512_storeu_ps(to + (size_t)i * PLANAR_STRIDE, v[i]);
}

/* The same for INT8. A vector is 4 columns, one in each 128-bit lane. Transposed within lanes, step
 * s has column 4 i + l at (lane l, i). */
INLINE void int8_columns(int32_t *to, const uint8_t *from, uint32_t steps)
{
    __m512i v[4], t[4];
    UNROLL
    for (uint32_t i = 0; i < 4; i++)
        v[i] = _mm512_loadu_si512(from + (size_t)i * 64);
    UNROLL
    for (uint32_t i = 0; i < 4; i += 2) {
        t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
    }
    UNROLL
    for (uint32_t s = 0; s < 4; s++) {
        const __m512i step = s % 2 ? _mm512_unpackhi_epi64(t[s / 2], t[s / 2 + 2])
                                   : _mm512_unpacklo_epi64(t[s / 2], t[s / 2 + 2]);
        if (s < steps)
            _mm512_storeu_si512(to + (size_t)s * PLANAR_STRIDE, lanes_turned(step));
    }
}

/* Transposes the columns beyond the tile's pixels, one at a time. */
static void planar_rest(int32_t *to, const uint8_t *from, const planar_source *s, const bool half)
{
    for (uint32_t i = 0; i + 1 < s->taps; i++) {
        _Alignas(64) int32_t column[16];
        if (half)
            _mm512_store_ps(column, vf_f16(from + (size_t)i * 2 * AC_FRACTAL));
        else
            _mm_store_si128((__m128i *)(void *)column, load16(from + (size_t)i * AC_FRACTAL));
        for (uint32_t c = 0; c < s->steps; c++)
            to[c * PLANAR_STRIDE + i] = column[c];
    }
}

static void planar_stage(planar *p, mona_type type, uint32_t x)
{
    const bool half = type == MONA_F16;
    const size_t pixel = half ? 2 * AC_FRACTAL : AC_FRACTAL;
    int32_t *to = p->tile;
    for (uint32_t i = 0; i < p->count; i++) {
        const planar_source *s = &p->sources[i];
        const uint8_t *from = s->data + (size_t)x * pixel;
        for (uint32_t k = 0; k < PLANAR_PIXELS; k += 16)
            if (half)
                f16_columns(to + k, from + k * pixel, s->steps);
            else
                int8_columns(to + k, from + k * pixel, s->steps);
        planar_rest(to + PLANAR_PIXELS, from + PLANAR_PIXELS * pixel, s, half);
        to += (size_t)s->steps * PLANAR_STRIDE;
    }
}

/* sum: floats, or integers as their bits. */
INLINE vf planar_multiply(const bool half, vf sum, vf a, const int32_t *w)
{
    const __m512i b = _mm512_set1_epi32(*w);
    if (half)
        return _mm512_fmadd_ps(a, _mm512_castsi512_ps(b), sum);
    return _mm512_castsi512_ps(
        _mm512_dpbusd_epi32(_mm512_castps_si512(sum), _mm512_castps_si512(a), b));
}

/* Computes the sums of `outputs` outputs, which it returns, as [output][pixel]. w, start: those of
 * the first output. */
INLINE uint32_t planar_sums(const planar *p, const bool half, const uint32_t outputs,
                            const int32_t *w, const int32_t *start, int32_t *sums)
{
    const int32_t *rows = p->tile;
    vf acc[PLANAR_OUTPUTS * 2];
    UNROLL
    for (uint32_t i = 0; i < outputs * 2; i++)
        acc[i] = _mm512_castsi512_ps(_mm512_set1_epi32(start[i / 2]));
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t steps = p->sources[i].steps;
        for (uint32_t tap = 0; tap < p->sources[i].taps; tap++) {
            const int32_t *a = rows + tap;
            for (uint32_t s = 0; s < steps; s++, a += PLANAR_STRIDE, w += AC_FRACTAL) {
                const vf a0 = _mm512_loadu_ps(a), a1 = _mm512_loadu_ps(a + 16);
                UNROLL
                for (uint32_t o = 0; o < outputs; o++) {
                    acc[o * 2] = planar_multiply(half, acc[o * 2], a0, w + o);
                    KEEP_IN_PLACE(acc[o * 2]);
                    acc[o * 2 + 1] = planar_multiply(half, acc[o * 2 + 1], a1, w + o);
                    KEEP_IN_PLACE(acc[o * 2 + 1]);
                }
            }
        }
        rows += (size_t)steps * PLANAR_STRIDE;
    }
    UNROLL
    for (uint32_t i = 0; i < outputs * 2; i++)
        _mm512_storeu_ps(sums + i * 16, acc[i]);
    return outputs;
}

/* Finishes the job's first block for the 16 pixels from x on. sums: those of the first pixel. */
static __attribute__((noinline)) void planar_finish(const job *j, const int32_t *sums, uint32_t x)
{
    vf v[16];
    __m512i bits[16];
    UNROLL
    for (uint32_t i = 0; i < 16; i++)
        v[i] = _mm512_loadu_ps(sums + (size_t)i * PLANAR_PIXELS);
    transpose16(v);
    UNROLL
    for (uint32_t i = 0; i < 16; i++)
        bits[i] = _mm512_castps_si512(v[i]);
    if (j->conv->source_type == MONA_F16)
        f16_store(j, v, 16, 1, 0, x);
    else
        int8_store(j, bits, 16, 1, x);
}

/* Computes the job's first block for pixels x to x + 31, which are staged. */
INLINE void planar_block(planar *p, const bool half, const job *j, uint32_t x)
{
    int32_t *sums = p->sums;
    const int32_t *w = (const int32_t *)(const void *)j->weights[0], *start = j->start[0];
    const uint32_t outputs = outputs_of(j, 0);
    uint32_t o = 0;
    if (outputs > PLANAR_OUTPUTS)
        o += planar_sums(p, half, 8, w, start, sums);
    if (outputs > o + 10)
        o += planar_sums(p, half, 12, w + o, start + o, sums + (size_t)o * PLANAR_PIXELS);
    else if (outputs > o + 8)
        o += planar_sums(p, half, 10, w + o, start + o, sums + (size_t)o * PLANAR_PIXELS);
    else if (outputs > o + 4)
        o += planar_sums(p, half, 8, w + o, start + o, sums + (size_t)o * PLANAR_PIXELS);
    else
        o += planar_sums(p, half, 4, w + o, start + o, sums + (size_t)o * PLANAR_PIXELS);
    for (; o < AC_FRACTAL; o++) /* what weights of zero would give */
        for (uint32_t k = 0; k < PLANAR_PIXELS; k += 16)
            _mm512_storeu_si512(sums + (size_t)o * PLANAR_PIXELS + k, _mm512_set1_epi32(start[o]));
    for (uint32_t k = 0; k < PLANAR_PIXELS; k += 16)
        planar_finish(j, sums + k, x + k);
}

/* Computes the job this way, or returns false and does nothing. */
static __attribute__((noinline)) bool planar_run(const job *j, uint32_t blocks)
{
    planar p;
    const uint32_t end = j->origin + j->pixels;
    if (!planar_possible(j, blocks) || !planar_find(&p, j))
        return false;
    for (uint32_t i = j->origin; i < end; i += PLANAR_PIXELS) {
        const uint32_t x = min_u32(i, end - PLANAR_PIXELS);
        job one = *j;
        planar_stage(&p, j->conv->source_type, x - j->runs_origin);
        for (uint32_t b = 0; b < blocks; b++) {
            if (j->conv->source_type == MONA_F16)
                planar_block(&p, true, &one, x);
            else
                planar_block(&p, false, &one, x);
            next_block(&one);
        }
    }
    return true;
}
