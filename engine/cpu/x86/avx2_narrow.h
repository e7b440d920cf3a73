// SPDX-License-Identifier: Apache-2.0
/* INT8 convolutions with at most 6 outputs (narrow.h). Part of avx2_conv.h.
 *
 * With 16 outputs side by side most lanes would compute nothing. Here a vector holds one tap, 16
 * channels, of 2 / ELEMENT neighbouring pixels as they lie in memory. dot() multiplies it with the
 * 16 weights of this tap and one output, the same for every pixel. Its partial sums are added up at
 * the end of K. With 3 x 3 taps and 4 outputs, a pixel then takes 18 * ELEMENT dot() instead of 72
 * * ELEMENT. */

enum {
    NARROW_TAPS = 25,
    NARROW_OUTPUTS = MONA_NARROW_OUTPUTS,
    NARROW_TILE = 48,
    NARROW_BYTES = 6144, /* at most of converted elements */
    NARROW_GROUP = 8,    /* pixels that are finished together */
};

typedef struct narrow_job {
    job base;
    bool plain;
    uint32_t taps;
    const uint8_t *at[NARROW_TAPS]; /* operands of the tile's first pixel, tap by tap */
    uint32_t outputs;               /* outputs that are computed: 1, 4 or 6 */
    uint32_t width;                 /* bytes of a result: 4 or 8 */
    struct narrow_work *work;
} narrow_job;

/* In scratch. */
typedef struct narrow_work {
    _Alignas(64) uint8_t elements[NARROW_BYTES];
    _Alignas(64) int32_t sums[2 * NARROW_TILE * 4];
    _Alignas(64) uint8_t results[NARROW_TILE * 8];
} narrow_work;

_Static_assert(sizeof(narrow_work) <= MONA_SCRATCH, "it fits");

static bool narrow_possible(const mona_conv_row *row)
{
    const mona_conv *c = row->conv;
    return c->narrow && row->pixels >= NARROW_GROUP &&
           c->run_count[0] * run_stride(c, NARROW_TILE) <= NARROW_BYTES && clamps_of(row).tame;
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Adds up each 128-bit lane of each of four vectors. */
INLINE __m256i sums_of_four(__m256i a, __m256i b, __m256i c, __m256i d)
{
    return _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
}

/* Sums of outputs o to o + 3 for the two pixels that ELEMENT vectors hold, a pixel in each 128-bit
 * lane. */
INLINE __m256i sums_of_two(const __m256i *acc, const uint32_t outputs, const uint32_t o)
{
    __m256i first[4], second[4];
    UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        const bool real = o + i < outputs;
        first[i] = real ? acc[o + i] : _mm256_setzero_si256();
        second[i] = real ? acc[(ELEMENT - 1) * outputs + o + i] : _mm256_setzero_si256();
    }
    const __m256i a = sums_of_four(first[0], first[1], first[2], first[3]);
    if (ELEMENT == 1)
        return a;
    const __m256i b = sums_of_four(second[0], second[1], second[2], second[3]);
    return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                            _mm256_permute2x128_si256(a, b, 0x31));
}

/* Computes the pixels of the tile from x on that `vectors` vectors hold, as
 * sums[output / 4][pixel of the tile][4]. */
INLINE void narrow_block(const narrow_job *j, const uint32_t outputs, const uint32_t vectors,
                         uint32_t x, int32_t *sums)
{
    const uint8_t *w = j->base.conv->narrow;
    __m256i acc[12];
    UNROLL
    for (uint32_t i = 0; i < vectors * outputs; i++)
        acc[i] = _mm256_setzero_si256();
    for (uint32_t t = 0; t < j->taps; t++, w += outputs * 16 * ELEMENT) {
        const uint8_t *a = j->at[t] + (size_t)x * 16 * ELEMENT;
        __m256i pixels[4];
        UNROLL
        for (uint32_t g = 0; g < vectors; g++)
            pixels[g] = load_vector(a + (size_t)g * 32);
        UNROLL
        for (uint32_t o = 0; o < outputs; o++) {
            const uint8_t *at = w + (size_t)o * 16 * ELEMENT;
            const __m256i b =
                ELEMENT == 1 ? _mm256_broadcastsi128_si256(load16(at)) : load_vector(at);
            UNROLL
            for (uint32_t g = 0; g < vectors; g++) {
                acc[g * outputs + o] = dot(acc[g * outputs + o], pixels[g], b);
                KEEP_IN_PLACE(acc[g * outputs + o]);
            }
        }
    }
    UNROLL
    for (uint32_t g = 0; g < vectors; g += ELEMENT) {
        int32_t *to = sums + (size_t)g / ELEMENT * 8;
        store_vector(to, sums_of_two(acc + g * outputs, outputs, 0));
        if (outputs > 4)
            store_vector(to + NARROW_TILE * 4, sums_of_two(acc + g * outputs, outputs, 4));
    }
}

/* The last block is moved back to end at the last pixel. */
INLINE void narrow_blocks(const narrow_job *j, const uint32_t outputs, const uint32_t vectors,
                          uint32_t count, int32_t *sums)
{
    const uint32_t pixels = vectors * 2 / ELEMENT;
    for (uint32_t i = 0; i < count; i += pixels) {
        const uint32_t k = min_u32(i, count - pixels);
        narrow_block(j, outputs, vectors, k, sums + (size_t)k * 4);
    }
}

/* ---- results -------------------------------------------------------------------------------- */

/* The residuals of outputs 4 h to 4 h + 3 of pixel x. A broadcast residual is repeated. */
INLINE uint32_t residual_quad(const job *j, uint32_t h, uint32_t x)
{
    const mona_row *r = &j->row->residual;
    const uint8_t *p = r->data + (size_t)x * r->c0;
    uint32_t quad;
    if (j->conv->epilogue.broadcast)
        return *p * 0x01010101u;
    memcpy(&quad, p + (size_t)h * 4, sizeof quad);
    return quad;
}

INLINE __m128i residuals_of_four(const job *j, uint32_t h, uint32_t x)
{
    return _mm_setr_epi32((int32_t)residual_quad(j, h, x), (int32_t)residual_quad(j, h, x + 1),
                          (int32_t)residual_quad(j, h, x + 2), (int32_t)residual_quad(j, h, x + 3));
}

/* Results of outputs 4 h to 4 h + 3 of the 8 pixels from x on, 4 bytes a pixel. Outputs that do not
 * exist are zero. */
INLINE __m256i narrow_finish(const job *j, const bool plain, const bool add, const int32_t *sums,
                             uint32_t h, uint32_t x)
{
    const uint32_t left = j->conv->channels - 4 * h;
    const uint32_t keep = left >= 4 ? UINT32_MAX : (1u << 8 * left) - 1;
    const __m256i start = _mm256_broadcastsi128_si256(load16((const int32_t *)j->start[0] + 4 * h));
    const __m256 scale = _mm256_broadcast_ps((const __m128 *)(j->conv->epilogue.scale + 4 * h));
    const tame k = tame_of(j, plain, (vf){scale, scale});
    vf t[2];
    UNROLL
    for (uint32_t g = 0; g < 2; g++, sums += 16, x += 4)
        t[g] = tame_result(&k, plain, add, _mm256_add_epi32(load_vector(sums), start),
                           _mm256_add_epi32(load_vector(sums + 8), start),
                           add ? residuals_of_four(j, h, x) : _mm_setzero_si128());
    return _mm256_and_si256(to_bytes(t[0], t[1], k.to_signed), _mm256_set1_epi32((int32_t)keep));
}

INLINE void narrow_results(const narrow_job *j, const bool plain, const bool add, uint32_t x,
                           uint32_t count, const int32_t *sums, uint8_t *out)
{
    for (uint32_t i = 0; i < count; i += NARROW_GROUP) {
        const uint32_t k = min_u32(i, count - NARROW_GROUP);
        uint8_t *to = out + (size_t)k * j->width;
        const __m256i low = narrow_finish(&j->base, plain, add, sums + (size_t)k * 4, 0, x + k);
        if (j->width == 4) {
            store_vector(to, low);
            continue;
        }
        const __m256i high =
            narrow_finish(&j->base, plain, add, sums + (size_t)(NARROW_TILE + k) * 4, 1, x + k);
        const __m256i a = _mm256_unpacklo_epi32(low, high), b = _mm256_unpackhi_epi32(low, high);
        store_vector(to, _mm256_permute2x128_si256(a, b, 0x20));
        store_vector(to + 32, _mm256_permute2x128_si256(a, b, 0x31));
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void narrow_tile(narrow_job *j, uint32_t x, uint32_t count, uint8_t *out)
{
    int32_t *sums = j->work->sums;
    const mona_conv_row *row = j->base.row;
    const uint8_t *converted[NARROW_TAPS], *const *runs = row->runs;
    const size_t distance = (size_t)16 * ELEMENT;
    size_t first = x * distance;
    if (converts_elements(row->conv)) {
        convert_runs(row, row->conv->run_count[0], x, count, converted, j->work->elements);
        runs = converted;
        first = 0;
    }
    for (uint32_t r = 0, tap = 0; tap < j->taps; r++)
        for (uint32_t t = 0; t < mona_run_steps(row->conv, r) / 4; t++)
            j->at[tap++] = runs[r] + first + t * distance;
    if (j->outputs == 1)
        narrow_blocks(j, 1, 4, count, sums);
    else if (j->outputs == 4)
        narrow_blocks(j, 4, ELEMENT == 1 ? 3 : 2, count, sums);
    else
        narrow_blocks(j, NARROW_OUTPUTS, 2, count, sums);
    if (!j->plain)
        narrow_results(j, false, j->base.limits->add, x, count, sums, out);
    else if (j->base.limits->add)
        narrow_results(j, true, true, x, count, sums, out);
    else
        narrow_results(j, true, false, x, count, sums, out);
}

static void conv_narrow(const mona_conv_row *row, const mona_isa *by)
{
    _Alignas(64) int32_t start[AC_FRACTAL];
    const mona_conv *c = row->conv;
    const clamps limits = clamps_of(row);
    const uint32_t count = min_u32(NARROW_TILE, row->pixels);
    narrow_job j;
    j.base = job_of(row, &limits, 0);
    j.work = (narrow_work *)(void *)row->scratch;
    uint8_t *results = j.work->results;
    j.plain = limits.plain;
    j.taps = mona_block_steps(c, 0) / 4;
    j.outputs = mona_narrow_vectors(c->channels);
    j.width = c->channels > 4 ? 8 : 4;
    int8_start(&j.base, 0, j.plain, start);
    const bool direct = !row->planes && row->output.c0 == j.width;
    const mona_row tile = {results, 0, j.width, row->output.type};
    for (uint32_t i = 0; i < row->pixels; i += count) {
        const uint32_t x = min_u32(i, row->pixels - count);
        narrow_tile(&j, x, count, direct ? row->output.data + (size_t)x * j.width : results);
        if (!direct)
            mona_scatter(by, row, &tile, 0, x, count);
    }
}
