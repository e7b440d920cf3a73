// SPDX-License-Identifier: Apache-2.0
/* Results of convolutions with 2 to 6 outputs: a vector of sums is four outputs of four pixels.
 * Part of avx512.c and amx.c. */

enum { NARROW_PIXELS = 16 /* that are finished together: four vectors */ };

/* 16 bytes in every 128-bit lane. */
INLINE __m512i in_every_lane(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

/* ---- the epilogue --------------------------------------------------------------------------- */

/* Whether the epilogue is plain and its residual has a layout that narrow_residuals() can read: one
 * channel, or as many as a result has. */
static bool narrow_plain(const mona_conv_row *row, const clamps *c, uint32_t width)
{
    const uint32_t c0 = row->residual.c0;
    return c->plain && (!c->add || c0 == (row->conv->epilogue.broadcast ? 1 : width));
}

/* The scaled residuals of outputs 4 h to 4 h + 3 of a plain epilogue, in vectors of 4 pixels. */
INLINE void narrow_residuals(const mona_conv_row *row, uint32_t x, const uint32_t h, vf residual[4])
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
INLINE void narrow_prepared(const mona_conv_row *row, uint32_t x, uint32_t h, vf residual[4])
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

/* ---- where results go ----------------------------------------------------------------------- */

/* Where results go. out: one pixel after another, 1, 4 or 8 bytes each. to: NULL, or two rows of
 * planes, of which the first takes outputs 0 and 1 and the second 2 and 3. */
typedef struct narrow_output {
    uint8_t *out;
    uint8_t *const *to;
} narrow_output;

/* Whether the results, as bytes, are what two rows of planes hold, or the only output's plane. */
static bool narrow_into_planes(const mona_conv_row *row)
{
    const mona_planes *p = row->planes;
    return p && p->block * p->block == row->conv->channels && row->conv->channels <= 4 &&
           p->type == row->output.type && (p->type == MONA_S8 || p->maximum >= 255);
}

INLINE void narrow_write(const narrow_output *o, const uint32_t outputs, uint32_t k, __m512i first,
                         __m512i second)
{
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
    const __m512i a = lanes_turned(first);
    if (outputs == 4) {
        _mm512_storeu_si512(o->out + (size_t)k * 4, a);
        return;
    }
    const __m512i b = lanes_turned(second);
    const __m512i order = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i later = _mm512_add_epi32(order, _mm512_set1_epi32(8));
    _mm512_storeu_si512(o->out + (size_t)k * 8, _mm512_permutex2var_epi32(a, order, b));
    _mm512_storeu_si512(o->out + (size_t)k * 8 + 64, _mm512_permutex2var_epi32(a, later, b));
}
