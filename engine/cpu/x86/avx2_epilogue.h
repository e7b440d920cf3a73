// SPDX-License-Identifier: Apache-2.0
/* The epilogue of convolutions in registers. Part of avx2_conv.h.
 *
 * Tame epilogues (vector_epilogue.h) are computed as in avx512_epilogue.h, which proves that this
 * is exact. Small sums start at MAGIC and are scaled by one multiply-add; rounding to fp16 is
 * rounding to 11 bits; and packing saturates. */

/* Packs 32 integers to bytes, in the order a.l, a.h, b.l, b.h. */
INLINE __m256i to_bytes(vf a, vf b, bool is_signed)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7); /* packing works within 128-bit
                                                                        lanes */
    const __m256i p = _mm256_packs_epi32(_mm256_cvtps_epi32(a.l), _mm256_cvtps_epi32(a.h));
    const __m256i q = _mm256_packs_epi32(_mm256_cvtps_epi32(b.l), _mm256_cvtps_epi32(b.h));
    const __m256i bytes = is_signed ? _mm256_packs_epi16(p, q) : _mm256_packus_epi16(p, q);
    return _mm256_permutevar8x32_epi32(bytes, order);
}

/* Parameters of a tame epilogue besides sums and residual. Residuals are read as U8. An S8 value s
 * is read as s + 128, and (s + 128) * scale - 128 * scale is one multiply-add; 128 * scale is
 * exact. */
typedef struct tame {
    const clamps *limits;
    vf scale, offset, residual_scale, residual_offset;
    __m128i residual_flip;
    bool to_signed;
} tame;

/* scale: that of the outputs in the lanes. */
INLINE tame tame_of(const job *j, const bool plain, vf scale)
{
    const vf residual_scale = vf_set1(j->conv->epilogue.residual_scale);
    const bool flip = j->row->residual.type == MONA_S8;
    return (tame){
        .limits = j->limits,
        .scale = scale,
        .offset = vf_mul(scale, vf_set1(plain ? -0x1.8p23f : 0)),
        .residual_scale = residual_scale,
        .residual_offset = vf_mul(residual_scale, vf_set1(flip ? -128 : 0)),
        .residual_flip = _mm_set1_epi8(flip ? -128 : 0),
        .to_signed = j->row->output.type == MONA_S8,
    };
}

/* Computes 16 results, not yet saturated. residual: bytes, if there is one. */
INLINE vf tame_result(const tame *k, const bool plain, const bool add, __m256i low, __m256i high,
                      __m128i residual)
{
    const clamps *c = k->limits;
    const vf sums =
        plain ? (vf){_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)} : from_s32(low, high);
    vf t = vf_fmadd(sums, k->scale, k->offset);
    if (!plain)
        t = apply(c->stage[0], t);
    else if (add)
        t = vf_max(t, vf_set1(c->stage[0].low));
    if (add) {
        const vf r = vf_u8(_mm_xor_si128(residual, k->residual_flip));
        t = vf_add(round_11_bits(t),
                   round_11_bits(vf_fmadd(r, k->residual_scale, k->residual_offset)));
        if (!plain)
            t = apply(c->stage[1], t);
    }
    return round_11_bits(t);
}

/* Stores results by a plain epilogue. acc: accumulators of the pixels from x on, two vectors
 * each. */
INLINE void plain_store(const job *j, const bool add, const __m256i *acc, const uint32_t pixels,
                        uint32_t x)
{
    const mona_row *r = &j->row->residual;
    const vf scale = vf_load(j->conv->epilogue.scale + (size_t)j->n * AC_FRACTAL);
    const tame k = tame_of(j, true, scale);
    const uint8_t *residual =
        add ? r->data + j->n * r->block_stride + (size_t)x * AC_FRACTAL : NULL;
    uint8_t *out = result_of(j, 0, x);
    UNROLL
    for (uint32_t i = 0; i < pixels; i += 2, acc += 4, out += 32) {
        const uint32_t other = i + 1 < pixels;
        vf t[2];
        UNROLL
        for (uint32_t p = 0; p <= other; p++)
            t[p] = tame_result(&k, true, add, acc[p * 2], acc[p * 2 + 1],
                               add ? load16(residual + (i + p) * 16) : _mm_setzero_si128());
        const __m256i bytes = to_bytes(t[0], t[other], k.to_signed);
        if (other)
            store_vector(out, bytes);
        else
            store16(out, _mm256_castsi256_si128(bytes));
    }
}

/* Stores by way of memory, for all other epilogues. tile: [pixels][16] accumulators up to `end`; of
 * a number of pixels gcc would make a copy of this for each. */
static __attribute__((noinline)) void finish_block(const job *j, uint32_t x, const void *tile,
                                                   const void *end)
{
    _Alignas(64) float residual[DEPTHWISE * LANES];
    const float *prepared = residual;
    const uint32_t pixels = (uint32_t)((const vf *)end - (const vf *)tile);
    if (j->limits->add)
        prepare_residual(j->row, j->n, x, pixels, residual);
    FORGET(prepared);
    finish_pixels(j->row, j->limits, j->n, pixels, tile, prepared, result_of(j, 0, x));
}
