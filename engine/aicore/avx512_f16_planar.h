/* FP16 convolutions whose last 16 outputs are few, as 28 are 16 and 12. Part of avx512.c.
 *
 * With outputs side by side the lanes of those that do not exist would multiply zeros. Here a
 * vector is 16 pixels of one channel, multiplied with one weight of one output: any number of
 * outputs is computed, in register blocks of 8 or 4 outputs x 32 pixels. Sources are therefore
 * transposed on their way to fp32: a tile of 32 pixels, with the columns that the filter reads
 * beyond, lies on the stack channel by channel, where a kernel column is an offset of one float.
 * Sums are transposed back, 16 outputs of 16 pixels in registers, into the usual epilogue. */

enum {
    PLANAR_PIXELS = 32,
    PLANAR_STRIDE = 36, /* floats of a channel of the tile */
    PLANAR_TAPS = 5,    /* kernel columns, at most */
    PLANAR_CHANNELS = 84,
    PLANAR_SOURCES = 16,
};

/* Runs side by side in a row of the source: `taps` kernel columns of `channels` channels each. */
typedef struct planar_source {
    const uint8_t *data;
    uint32_t taps, channels;
} planar_source;

typedef struct planar {
    uint32_t count;
    planar_source sources[PLANAR_SOURCES];
    _Alignas(64) float tile[PLANAR_CHANNELS * PLANAR_STRIDE];
} planar;

/* Finds the sources: a run of several kernel columns is one, and so are runs of one column each
 * that are neighbours. False: they do not fit. */
static bool planar_find(planar *p, const job *j)
{
    const uint16_t *elements = j->conv->run_elements + j->first_run;
    uint32_t channels = 0;
    p->count = 0;
    for (uint32_t r = 0; r < j->run_count;) {
        const bool whole = elements[r] > AC_FRACTAL;
        planar_source s = {j->runs[r], whole ? elements[r] / AC_FRACTAL : 1u,
                           whole ? AC_FRACTAL : elements[r]};
        for (r++; !whole && r < j->run_count && elements[r] == s.channels &&
                  j->runs[r] == s.data + (size_t)s.taps * j->conv->pixel_bytes;
             r++)
            s.taps++;
        channels += s.channels;
        if (s.taps > PLANAR_TAPS || channels > PLANAR_CHANNELS || p->count == PLANAR_SOURCES)
            return false;
        p->sources[p->count++] = s;
    }
    return true;
}

/* Outputs of the job's block b. */
static uint32_t outputs_of(const job *j, uint32_t b)
{
    return least(AC_FRACTAL, j->conv->channels - (j->n + b) * AC_FRACTAL);
}

static bool planar_possible(const job *j, uint32_t blocks)
{
    return j->conv->c0 == AC_FRACTAL && j->conv->stride == 1 && j->pixels >= PLANAR_PIXELS &&
           outputs_of(j, blocks - 1) <= AC_FRACTAL - 4;
}

/* Columns x y 16 rows, one a vector, to rows. */
INLINE void transpose16(vf v[16])
{
    vf t[16];
    UNROLL
    for (uint32_t i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    UNROLL
    for (uint32_t i = 0; i < 16; i++) { /* lane l of v[4 a + c]: column 4 l + c, rows 4 a .. */
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

/* 16 columns of a source, the first of them at from, to the tile. */
INLINE void planar_columns(float *to, const uint8_t *from, uint32_t channels)
{
    vf v[16];
    UNROLL
    for (uint32_t i = 0; i < 16; i++)
        v[i] = vf_f16(from + (size_t)i * 2 * AC_FRACTAL);
    transpose16(v);
    UNROLL
    for (uint32_t i = 0; i < 16; i++)
        if (i < channels)
            vf_store(to + (size_t)i * PLANAR_STRIDE, v[i]);
}

/* The columns beyond, one at a time. */
static void planar_rest(float *to, const uint8_t *from, uint32_t columns, uint32_t channels)
{
    for (uint32_t i = 0; i < columns; i++) {
        _Alignas(64) float column[AC_FRACTAL];
        vf_store(column, vf_f16(from + (size_t)i * 2 * AC_FRACTAL));
        for (uint32_t c = 0; c < channels; c++)
            to[c * PLANAR_STRIDE + i] = column[c];
    }
}

static void planar_stage(planar *p, uint32_t x)
{
    float *to = p->tile;
    for (uint32_t i = 0; i < p->count; i++) {
        const planar_source *s = &p->sources[i];
        const uint8_t *from = s->data + (size_t)x * 2 * AC_FRACTAL;
        for (uint32_t k = 0; k < PLANAR_PIXELS; k += 16)
            planar_columns(to + k, from + (size_t)k * 2 * AC_FRACTAL, s->channels);
        planar_rest(to + PLANAR_PIXELS, from + PLANAR_PIXELS * 2 * AC_FRACTAL, s->taps - 1,
                    s->channels);
        to += (size_t)s->channels * PLANAR_STRIDE;
    }
}

/* Sums of `outputs` outputs, [output][pixel]. w, start: of the first of them. */
INLINE void planar_sums(const planar *p, const uint32_t outputs, const float *w, const float *start,
                        float *sums)
{
    const float *rows = p->tile;
    vf acc[16];
    UNROLL
    for (uint32_t i = 0; i < outputs * 2; i++)
        acc[i] = vf_set1(start[i / 2]);
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t channels = p->sources[i].channels;
        for (uint32_t tap = 0; tap < p->sources[i].taps; tap++) {
            const float *a = rows + tap;
            for (uint32_t c = 0; c < channels; c++, a += PLANAR_STRIDE, w += AC_FRACTAL) {
                const vf a0 = vf_load(a), a1 = vf_load(a + 16);
                UNROLL
                for (uint32_t o = 0; o < outputs; o++) {
                    const vf b = vf_set1(w[o]);
                    acc[o * 2] = _mm512_fmadd_ps(a0, b, acc[o * 2]);
                    KEEP_IN_PLACE(acc[o * 2]);
                    acc[o * 2 + 1] = _mm512_fmadd_ps(a1, b, acc[o * 2 + 1]);
                    KEEP_IN_PLACE(acc[o * 2 + 1]);
                }
            }
        }
        rows += (size_t)channels * PLANAR_STRIDE;
    }
    UNROLL
    for (uint32_t i = 0; i < outputs * 2; i++)
        vf_store(sums + i * 16, acc[i]);
}

/* The job's first block, of the staged pixels x .. x + 31. */
static void planar_block(const planar *p, const job *j, uint32_t x)
{
    _Alignas(64) float sums[AC_FRACTAL * PLANAR_PIXELS];
    const float *w = (const float *)(const void *)j->weights[0], *start = j->start[0];
    const uint32_t outputs = outputs_of(j, 0);
    uint32_t o = 0;
    for (; outputs > o + 4; o += 8)
        planar_sums(p, 8, w + o, start + o, sums + (size_t)o * PLANAR_PIXELS);
    for (; outputs > o; o += 4)
        planar_sums(p, 4, w + o, start + o, sums + (size_t)o * PLANAR_PIXELS);
    for (; o < AC_FRACTAL; o++) /* what multiplying zeros would give */
        for (uint32_t k = 0; k < PLANAR_PIXELS; k += 16)
            vf_store(sums + (size_t)o * PLANAR_PIXELS + k, vf_set1(start[o]));
    for (uint32_t k = 0; k < PLANAR_PIXELS; k += 16) {
        vf v[16];
        UNROLL
        for (uint32_t i = 0; i < 16; i++)
            v[i] = vf_load(sums + (size_t)i * PLANAR_PIXELS + k);
        transpose16(v);
        f16_store(j, v, 16, 1, 0, x + k);
    }
}

static void planar_run(planar *p, const job *j, uint32_t blocks)
{
    const uint32_t end = j->origin + j->pixels;
    for (uint32_t i = j->origin; i < end; i += PLANAR_PIXELS) {
        const uint32_t x = least(i, end - PLANAR_PIXELS);
        job one = *j;
        planar_stage(p, x);
        for (uint32_t b = 0; b < blocks; b++) {
            planar_block(p, &one, x);
            next_block(&one);
        }
    }
}
