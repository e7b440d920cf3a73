/* Convolutions with at most 6 outputs, the last layer of every shipped network. Part of avx512.c.
 *
 * With 16 outputs side by side most lanes would compute nothing. Here a vector is 4 pixels x 16
 * channels of one tap, as it lies in memory; vpdpbusd with the tap's 16 weights of one output, the
 * same for every pixel, gives 4 partial sums a pixel, one for each 4 channels, which are added up
 * when K is done. Of 3 x 3 taps of 16 channels, 16 pixels take 9 x 4 vpdpbusd an output, so 144 for
 * 4 outputs; the other way takes 36 a pixel, 576, for any number up to 16. */

enum {
    NARROW_TAPS = 32, /* of 16 channels; more weights than that go the usual way */
    NARROW_OUTPUTS = 6,
    NARROW_PIXELS = 16, /* of a register block: 4 vectors of 4 pixels */
    NARROW_TILE = 96,
};

typedef struct narrow_job {
    job base;
    uint32_t taps, width; /* width: bytes of a result, 4 or 8 */
    _Alignas(64) int8_t weights[NARROW_TAPS * NARROW_OUTPUTS][16];
} narrow_job;

static bool narrow_possible(const ac_conv_row *row)
{
    const ac_conv *c = row->conv;
    return c->channels <= NARROW_OUTPUTS && c->source_type != MONA_F16 && c->c0 == 16 &&
           c->stride == 1 && row->output.type != MONA_F16 && row->pixels >= NARROW_PIXELS &&
           whole_taps(c, 0) && ac_block_steps(c, 0) / 4 <= NARROW_TAPS && clamps_of(row).possible;
}

/* [step][16 outputs][4 channels] to [tap][output][16 channels]. */
static void narrow_weights(narrow_job *j, uint32_t outputs)
{
    for (uint32_t tap = 0; tap < j->taps; tap++)
        for (uint32_t o = 0; o < outputs; o++)
            for (uint32_t s = 0; s < 4; s++)
                memcpy(j->weights[tap * outputs + o] + s * 4,
                       j->base.weights[0] + ((size_t)tap * 4 + s) * 64 + o * 4, 4);
}

/* 16 bytes in every 128-bit lane. */
INLINE __m512i in_every_lane(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

/* Adds up each lane of each of four vectors: lane i of the result holds the sums of lanes i of a,
 * b, c, d. */
INLINE __m512i sums_of_four(__m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
}

/* Channels 4h .. 4h + 3 of the prepared residual of 4 pixels. */
INLINE vf four_residuals(const float *residual)
{
    vf v = _mm512_broadcast_f32x4(_mm_loadu_ps(residual));
    v = _mm512_mask_broadcast_f32x4(v, 0x00f0, _mm_loadu_ps(residual + LANES));
    v = _mm512_mask_broadcast_f32x4(v, 0x0f00, _mm_loadu_ps(residual + 2 * LANES));
    return _mm512_mask_broadcast_f32x4(v, 0xf000, _mm_loadu_ps(residual + 3 * LANES));
}

/* Outputs 4h .. 4h + 3 of 16 pixels, 4 bytes a pixel; outputs that do not exist are zero. sums: of
 * 4 pixels each. */
INLINE __m512i narrow_finish(const job *j, const __m512i sums[4], uint32_t h, const float *residual)
{
    const uint32_t left = j->conv->channels - 4 * h;
    const uint32_t keep = left >= 4 ? UINT32_MAX : (1u << 8 * left) - 1;
    const __m512i start = in_every_lane((const int32_t *)j->start[0] + 4 * h);
    const vf scale = _mm512_castsi512_ps(in_every_lane(j->conv->epilogue.scale + 4 * h));
    __m512i q[4];
    UNROLL
    for (uint32_t g = 0; g < 4; g++) {
        const vf t = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(sums[g], start)), scale);
        vf v = apply(j->limits->stage[0], t);
        if (j->limits->add)
            v = apply(j->limits->stage[1],
                      _mm512_add_ps(vf_round(v), four_residuals(residual + g * 4 * LANES + 4 * h)));
        q[g] = _mm512_cvtps_epi32(vf_round(v));
    }
    const __m512i bytes = four_to_bytes(q, j->row->output.type == MONA_S8);
    return _mm512_and_si512(bytes, _mm512_set1_epi32((int32_t)keep));
}

INLINE void narrow_store(const narrow_job *j, const __m512i *acc, const uint32_t outputs,
                         const float *residual, uint8_t *out)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i low[4], high[4];
    UNROLL
    for (uint32_t g = 0; g < 4; g++) {
        const __m512i *a = acc + g * outputs;
        low[g] = sums_of_four(a[0], a[1], a[2], a[3]);
        high[g] = outputs > 4 ? sums_of_four(a[outputs - 2], a[outputs - 1], zero, zero) : zero;
    }
    const __m512i first = narrow_finish(&j->base, low, 0, residual);
    if (outputs == 4) {
        _mm512_storeu_si512(out, first);
        return;
    }
    const __m512i second = narrow_finish(&j->base, high, 1, residual);
    const __m512i order = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i later = _mm512_add_epi32(order, _mm512_set1_epi32(8));
    _mm512_storeu_si512(out, _mm512_permutex2var_epi32(first, order, second));
    _mm512_storeu_si512(out + 64, _mm512_permutex2var_epi32(first, later, second));
}

INLINE void narrow_block(const narrow_job *j, const uint32_t outputs, uint32_t x, uint8_t *out)
{
    _Alignas(64) float residual[NARROW_PIXELS * LANES];
    const ac_conv *c = j->base.conv;
    const __m512i flip = _mm512_set1_epi8(c->source_type == MONA_S8 ? -128 : 0);
    const int8_t(*w)[16] = j->weights;
    __m512i acc[4 * NARROW_OUTPUTS];
    if (j->base.limits->add)
        prepare_residual(j->base.row, 0, x, NARROW_PIXELS, residual);
    UNROLL
    for (uint32_t i = 0; i < 4 * outputs; i++)
        acc[i] = _mm512_setzero_si512();
    for (uint32_t r = 0; r < j->base.run_count; r++) {
        const uint8_t *p = j->base.runs[r] + (size_t)x * 16;
        const uint32_t steps = ac_run_steps(c, r);
        for (uint32_t s = 0; s < steps; s += 4, p += 16, w += outputs) {
            FORGET(p);
            __m512i a[4];
            UNROLL
            for (uint32_t g = 0; g < 4; g++)
                a[g] = _mm512_xor_si512(_mm512_loadu_si512(p + (size_t)g * 64), flip);
            UNROLL
            for (uint32_t o = 0; o < outputs; o++) {
                const __m512i b = in_every_lane(w[o]);
                UNROLL
                for (uint32_t g = 0; g < 4; g++) {
                    acc[g * outputs + o] = _mm512_dpbusd_epi32(acc[g * outputs + o], a[g], b);
                    KEEP_IN_PLACE(acc[g * outputs + o]);
                }
            }
        }
    }
    narrow_store(j, acc, outputs, residual, out);
}

/* count >= NARROW_PIXELS; the last block is moved back where it would not fit. */
static void narrow_tile(const narrow_job *j, uint32_t x, uint32_t count, uint8_t *out)
{
    for (uint32_t i = 0; i < count; i += NARROW_PIXELS) {
        const uint32_t k = least(i, count - NARROW_PIXELS);
        if (j->width == 4)
            narrow_block(j, 4, x + k, out + (size_t)k * 4);
        else
            narrow_block(j, NARROW_OUTPUTS, x + k, out + (size_t)k * 8);
    }
}

static void conv_narrow(const ac_conv_row *row, const ac_isa *isa)
{
    _Alignas(64) uint8_t results[NARROW_TILE * 8];
    _Alignas(64) int32_t start[AC_FRACTAL];
    const clamps limits = clamps_of(row);
    narrow_job j = {.base = job_of(row, &limits, 0), .width = row->conv->channels > 4 ? 8 : 4};
    j.taps = ac_block_steps(row->conv, 0) / 4;
    narrow_weights(&j, j.width == 4 ? 4 : NARROW_OUTPUTS);
    if (row->conv->source_type == MONA_S8)
        offset_start(&j.base, 0, start);
    if (!row->planes && row->output.c0 == j.width) {
        narrow_tile(&j, 0, row->pixels, row->output.data);
        return;
    }
    const ac_row tile = {results, 0, j.width, row->output.type};
    for (uint32_t i = 0; i < row->pixels; i += NARROW_TILE) {
        const uint32_t count = least(NARROW_TILE, row->pixels), x = least(i, row->pixels - count);
        narrow_tile(&j, x, count, results);
        ac_scatter(isa, row, &tile, 0, x, count);
    }
}
