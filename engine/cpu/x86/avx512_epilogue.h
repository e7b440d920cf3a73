// SPDX-License-Identifier: Apache-2.0
/* The epilogue of INT8 convolutions in registers. Part of avx512.c.
 *
 * A plain epilogue, see x86_conv.h, takes fewer operations than its definition:
 *
 * Scaling. Accumulators start at bias + MAGIC, the bits of 1.5 * 2^23: as |sum| < 2^22, the bits of
 * an accumulator are those of the float 1.5 * 2^23 + sum, whose ulp is 1. One multiply-add gives
 * (1.5 * 2^23 + sum) * scale - 1.5 * 2^23 * scale, rounded once, so f32(sum * scale); the constant
 * is exact, 2 bits times scale's 11.
 *
 * Rounding to fp16. With t in [2^e, 2^(e+1)) fp16's ulp is g = 2^(e-10), 2^13 ulps of t. Then 8192
 * t is n g, n an integer, and c = t - 8192 t, rounded, is a multiple of g next to -8191 t, which
 * lies in [2^(e+12), 2^(e+14)). From 2^(e+13) on floats are g apart, so c + 8192 t is a multiple of
 * g next to t, and exact. If t is halfway between two, n is even (2^12 times an odd number), so
 * that rounding c to even is rounding that sum to even. Below, t < 2^e (1 + 1 / 8191) and floats
 * around 8191 t lie g / 2 apart, but t is nearer than g / 4 to 2^e, the nearest multiple of g / 2
 * too. fp16's subnormals alone are not rounded so: |t| < 2^-14, where t keeps too many bits. As a
 * result such a t becomes the integer 0 anyhow. As the summand of a residual r it makes no
 * difference to fp16(t + r) if r is 0 (again the result is 0) or |r| >= 1/4, where half an ulp is
 * no less than 2^-14; being tame sees to that.
 *
 * Saturation. |t| < 2^15, so packing saturates like any clamp that ends at the type's limits. */

enum { MAGIC = 0x4b400000 };

/* To fp16's 11 bits. */
INLINE vf round_11_bits(vf t)
{
    const vf power = vf_set1(8192);
    return _mm512_fmadd_ps(t, power, _mm512_fnmadd_ps(t, power, t));
}

/* Four pixels to bytes, dword (lane, pixel): packing goes by 128-bit lanes. */
INLINE __m512i packed(const __m512i q[4], bool is_signed)
{
    const __m512i a = _mm512_packs_epi32(q[0], q[1]), b = _mm512_packs_epi32(q[2], q[3]);
    return is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
}

/* The same, pixel after pixel. */
INLINE __m512i four_to_bytes(const __m512i q[4], bool is_signed)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    return _mm512_permutexvar_epi32(order, packed(q, is_signed));
}

/* A residual of bytes, 16 channels a pixel, and its scale. An S8 value s is read as the U8 value
 * s + 128; (s + 128) * scale - 128 * scale is then rounded once. */
typedef struct bytes_residual {
    const uint8_t *data; /* of the first pixel */
    __m128i flip;
    vf scale, offset;
} bytes_residual;

/* Whether block pixels' residuals are such. */
static bool residual_in_bytes(const ac_conv_row *row)
{
    return !row->conv->epilogue.broadcast && row->residual.c0 == AC_FRACTAL;
}

INLINE bytes_residual residual_at(const ac_conv_row *row, uint32_t n, uint32_t x)
{
    const bool is_signed = row->residual.type == MONA_S8;
    const float scale = row->conv->epilogue.residual_scale;
    return (bytes_residual){
        .data = row->residual.data + n * row->residual.block_stride + (size_t)x * AC_FRACTAL,
        .flip = _mm_set1_epi8(is_signed ? -128 : 0),
        .scale = vf_set1(scale),
        .offset = vf_set1(is_signed ? -128 * scale : 0),
    };
}

INLINE vf residual_of(const bytes_residual *r, uint32_t i)
{
    const __m128i bytes = _mm_xor_si128(load16(r->data + (size_t)i * AC_FRACTAL), r->flip);
    return round_11_bits(_mm512_fmadd_ps(vf_u8(bytes), r->scale, r->offset));
}

/* Block b of acc, pixels x blocks accumulators of pixels x .., in a plain epilogue. pixels: 1, or
 * at least 4. */
INLINE void plain_store(const job *j, const bool add, const __m512i *acc, const uint32_t pixels,
                        const uint32_t blocks, const uint32_t b, uint32_t x)
{
    const uint32_t n = j->n + b;
    const vf scale = vf_load(j->conv->epilogue.scale + (size_t)n * AC_FRACTAL);
    const vf offset = _mm512_mul_ps(scale, vf_set1(-0x1.8p23f));
    const vf low = vf_set1(j->limits->stage[0].low);
    const bytes_residual residual = add ? residual_at(j->row, n, x) : (bytes_residual){0};
    const bool is_signed = j->row->output.type == MONA_S8;
    uint8_t *out = result_of(j, b, x);
    __m512i q[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++) {
        const vf sum = _mm512_castsi512_ps(acc[i * blocks + b]);
        vf t = round_11_bits(_mm512_fmadd_ps(sum, scale, offset));
        if (add)
            t = round_11_bits(_mm512_add_ps(vf_max(t, low), residual_of(&residual, i)));
        q[i] = _mm512_cvtps_epi32(t);
    }
    if (pixels == 1) {
        const __m512i same[4] = {q[0], q[0], q[0], q[0]};
        store16(out, _mm512_castsi512_si128(four_to_bytes(same, is_signed)));
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i += 4) {
        const uint32_t first = i + 4 <= pixels ? i : pixels - 4;
        _mm512_storeu_si512(out + (size_t)first * AC_FRACTAL, four_to_bytes(q + first, is_signed));
    }
}

/* Four pixels in a tame epilogue that is not plain. acc, residual: of the first one. */
INLINE __m512i tame_four(const clamps *c, vf scale, const int32_t *acc, const float *residual,
                         bool is_signed)
{
    __m512i q[4];
    UNROLL
    for (uint32_t k = 0; k < 4; k++, acc += AC_FRACTAL, residual += LANES) {
        vf t = apply(c->stage[0], _mm512_mul_ps(vf_from_s32(acc), scale));
        if (c->add)
            t = apply(c->stage[1], _mm512_add_ps(round_11_bits(t), vf_load(residual)));
        q[k] = _mm512_cvtps_epi32(round_11_bits(t));
    }
    return four_to_bytes(q, is_signed);
}

/* By way of memory, for all epilogues that are not plain. tile: [pixels][16] accumulators of block
 * b; pixels: 1, or at least 4. */
static __attribute__((noinline)) void finish_block(const job *j, uint32_t b, uint32_t x,
                                                   uint32_t pixels, const void *tile)
{
    _Alignas(64) float scaled_residual[MAX_PIXELS * LANES];
    const float *residual = scaled_residual;
    const bool is_signed = j->row->output.type == MONA_S8;
    const clamps limits = *j->limits;
    if (limits.add)
        prepare_residual(j->row, j->n + b, x, pixels, scaled_residual);
    FORGET(residual);
    if (!limits.tame || pixels < 4) {
        finish_pixels(j, b, x, pixels, tile, residual);
        return;
    }
    const vf scale = vf_load(j->conv->epilogue.scale + (size_t)(j->n + b) * AC_FRACTAL);
    for (uint32_t i = 0; i < pixels; i += 4) {
        const size_t first = (size_t)min_u32(i, pixels - 4) * AC_FRACTAL;
        _mm512_storeu_si512(
            result_of(j, b, x) + first,
            tame_four(&limits, scale, (const int32_t *)tile + first, residual + first, is_signed));
    }
}

INLINE void slow_store(const job *j, const __m512i *acc, const uint32_t pixels,
                       const uint32_t blocks, const uint32_t b, uint32_t x)
{
    _Alignas(64) int32_t tile[MAX_PIXELS * AC_FRACTAL];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        _mm512_store_si512(tile + i * AC_FRACTAL, acc[i * blocks + b]);
    finish_block(j, b, x, pixels, tile);
}
