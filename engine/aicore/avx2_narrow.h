/* INT8 convolutions with at most 6 outputs, the last layer of every shipped network. Part of
 * avx2.c.
 *
 * A vector is the 16 channels of one tap of one pixel. Multiplied with the tap's 16 weights of one
 * output it gives 8 partial sums, which are added up when K is done: one vpmaddwd an output and
 * tap, where the other way takes 16 a tap for any number of outputs up to 16. */

enum { NARROW_TAPS = 18, NARROW_OUTPUTS = 6 };

typedef struct few {
    uint32_t outputs;                                               /* 4 or 6 */
    _Alignas(64) int16_t weights[NARROW_TAPS * NARROW_OUTPUTS][16]; /* [tap][output] */
} few;

static bool narrow_possible(const ac_conv *c)
{
    return c->channels <= NARROW_OUTPUTS && c->c0 == 16 && c->stride == 1 &&
           whole_taps(c, 0) && ac_block_steps(c, 0) / 4 <= NARROW_TAPS;
}

/* From [step][16 outputs][4 channels]. */
static void narrow_weights(few *n, const job *j)
{
    const uint32_t taps = ac_block_steps(j->conv, 0) / 4;
    n->outputs = j->conv->channels > 4 ? NARROW_OUTPUTS : 4;
    for (uint32_t tap = 0; tap < taps; tap++)
        for (uint32_t o = 0; o < n->outputs; o++) {
            int8_t bytes[16];
            for (uint32_t s = 0; s < 4; s++)
                memcpy(bytes + s * 4, j->weights[0] + ((size_t)tap * 4 + s) * 64 + o * 4, 4);
            _mm256_store_si256((__m256i *)(void *)n->weights[tap * n->outputs + o],
                               _mm256_cvtepi8_epi16(load16(bytes)));
        }
}

/* Adds up each of four vectors. */
INLINE __m128i sums_of_four(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i halves = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    return _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
}

INLINE void store_four(int32_t *to, const int32_t *start, __m128i sums)
{
    store16(to, _mm_add_epi32(sums, load16(start)));
}

/* Pixels k .. of a tile all of whose runs are widened. */
INLINE void narrow_block(const job *j, const few *n, const whole *all, const uint32_t outputs,
                         const uint32_t pixels, uint32_t k, int32_t *tile)
{
    const int16_t(*w)[16] = n->weights;
    const __m256i zero = _mm256_setzero_si256();
    const int32_t *start = j->start[0];
    __m256i acc[2 * NARROW_OUTPUTS];
    UNROLL
    for (uint32_t i = 0; i < pixels * outputs; i++)
        acc[i] = zero;
    for (uint32_t r = 0; r < j->run_count; r++) {
        const int16_t *p = all->elements + (size_t)r * all->stride + (size_t)k * 16;
        const uint32_t taps = ac_run_steps(j->conv, r) / 4;
        for (uint32_t t = 0; t < taps; t++, p += 16, w += outputs) {
            FORGET(p);
            UNROLL
            for (uint32_t o = 0; o < outputs; o++) {
                const __m256i b = _mm256_load_si256((const __m256i *)(const void *)w[o]);
                UNROLL
                for (uint32_t i = 0; i < pixels; i++) {
                    const __m256i a =
                        _mm256_load_si256((const __m256i *)(const void *)(p + (size_t)i * 16));
                    acc[i * outputs + o] =
                        _mm256_add_epi32(acc[i * outputs + o], _mm256_madd_epi16(a, b));
                    KEEP_IN_PLACE(acc[i * outputs + o]);
                }
            }
        }
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++) {
        const __m256i *a = acc + i * outputs;
        int32_t *to = tile + (size_t)(k + i) * AC_FRACTAL;
        store_four(to, start, sums_of_four(a[0], a[1], a[2], a[3]));
        if (outputs > 4)
            store_four(to + 4, start + 4, sums_of_four(a[outputs - 2], a[outputs - 1], zero, zero));
    }
}

/* Accumulators of pixels [0, count) of the tile; outputs that are not computed are zero. */
static void narrow_tile(const job *j, const few *n, const whole *all, uint32_t count, int32_t *tile)
{
    memset(tile, 0, (size_t)count * AC_FRACTAL * sizeof *tile);
    for (uint32_t i = 0; i < count; i += 2) {
        const uint32_t k = least(i, count - 2);
        if (n->outputs == 4)
            narrow_block(j, n, all, 4, 2, k, tile);
        else
            narrow_block(j, n, all, NARROW_OUTPUTS, 2, k, tile);
    }
}
