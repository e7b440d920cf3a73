// SPDX-License-Identifier: Apache-2.0
/* The epilogue of INT8 convolutions in registers. Part of avx512.c.
 *
 * A plain epilogue (vector_epilogue.h) needs fewer operations than its definition has.
 *
 * Scaling. Accumulators start at bias + MAGIC, where MAGIC is the bits of 1.5 * 2^23. As |sum| <
 * 2^22, the bits of an accumulator are those of the float 1.5 * 2^23 + sum, whose ulp is 1. One
 * multiply-add gives (1.5 * 2^23 + sum) * scale - 1.5 * 2^23 * scale, rounded once, which is
 * f32(sum * scale). The constant is exact: 2 bits times the 11 of scale.
 *
 * Rounding to fp16. For t in [2^e, 2^(e+1)) the ulp of fp16 is g = 2^(e-10), 2^13 ulps of t. So
 * 8192 t = n g with an integer n. Let c = t - 8192 t, rounded; 8191 t lies in [2^(e+12),
 * 2^(e+14)).
 *   |c| >= 2^(e+13): floats are g apart, so c is the multiple of g next to -8191 t, and c + 8192 t
 *     the multiple of g next to t; this sum is exact. If t is halfway between two multiples, n is
 *     even (2^12 times an odd number), so rounding c to even rounds the sum to even.
 *   |c| < 2^(e+13): then t < 2^e (1 + 1 / 8191). Floats around 8191 t lie g / 2 apart, but t is
 *     nearer than g / 4 to 2^e, which is also the nearest multiple of g / 2.
 * Only subnormals of fp16, |t| < 2^-14, are not rounded this way: t keeps too many bits. As a
 * result such a t still becomes the integer 0. Added to a residual r, it does not change fp16(t +
 * r) if |r| >= 1/4, since half an ulp is then at least 2^-14; otherwise |t + r| < 1/2, and the
 * integer is 0. The same holds for a subnormal r added to t.
 *
 * Saturation. |t| < 2^15, so packing saturates like any clamp at the type's limits. */

/* A residual of bytes, 16 channels a pixel, and its scale. An S8 value s is read as the U8 value
 * s + 128; (s + 128) * scale - 128 * scale is then rounded once. */
typedef struct bytes_residual {
    const uint8_t *data; /* at the first pixel */
    __m128i flip;
    vf scale, offset;
} bytes_residual;

INLINE bytes_residual residual_at(const mona_conv_row *row, uint32_t n, uint32_t x)
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

INLINE vf residual_from(const bytes_residual *r, __m128i bytes)
{
    const vf v = vf_u8(_mm_xor_si128(bytes, r->flip));
    return round_11_bits(_mm512_fmadd_ps(v, r->scale, r->offset));
}

INLINE vf residual_of(const bytes_residual *r, uint32_t i)
{
    return residual_from(r, load16(r->data + (size_t)i * AC_FRACTAL));
}

/* Parameters of a plain epilogue of one block, and where its results go. */
typedef struct plain {
    vf scale, offset, low;
    bytes_residual residual;
    bool is_signed;
    uint8_t *out;
} plain;

INLINE plain plain_of(const job *j, const bool add, const uint32_t b, uint32_t x)
{
    const vf scale = vf_load(j->conv->epilogue.scale + (size_t)(j->n + b) * AC_FRACTAL);
    return (plain){
        .scale = scale,
        .offset = _mm512_mul_ps(scale, vf_set1(-0x1.8p23f)),
        .low = vf_set1(j->limits->stage[0].low),
        .residual = add ? residual_at(j->row, j->n + b, x) : (bytes_residual){0},
        .is_signed = j->row->output.type == MONA_S8,
        .out = result_of(j, b, x),
    };
}

/* The result of pixel i as integers. */
INLINE __m512i plain_result(const plain *p, const bool add, __m512i sum, uint32_t i)
{
    vf t = round_11_bits(_mm512_fmadd_ps(_mm512_castsi512_ps(sum), p->scale, p->offset));
    if (add)
        t = round_11_bits(_mm512_add_ps(vf_max(t, p->low), residual_of(&p->residual, i)));
    return _mm512_cvtps_epi32(t);
}

/* Stores pixels i to i + 3. sums: those of pixel i, `distance` vectors from one pixel's to the
 * next's. */
INLINE void plain_four(const plain *p, const bool add, const __m512i *sums, const uint32_t distance,
                       uint32_t i)
{
    __m512i q[4];
    UNROLL
    for (uint32_t k = 0; k < 4; k++)
        q[k] = plain_result(p, add, sums[k * distance], i + k);
    _mm512_storeu_si512(p->out + (size_t)i * AC_FRACTAL, four_to_bytes(q, p->is_signed));
}

/* Stores block b of acc by a plain epilogue. acc: [pixels][blocks] accumulators, of pixels from x
 * on. pixels: 1, or at least 4. */
INLINE void plain_store(const job *j, const bool add, const __m512i *acc, const uint32_t pixels,
                        const uint32_t blocks, const uint32_t b, uint32_t x)
{
    const plain p = plain_of(j, add, b, x);
    if (pixels == 1) {
        const __m512i q = plain_result(&p, add, acc[b], 0), same[4] = {q, q, q, q};
        store16(p.out, _mm512_castsi512_si128(four_to_bytes(same, p.is_signed)));
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i += 4) {
        const uint32_t first = i + 4 <= pixels ? i : pixels - 4;
        plain_four(&p, add, acc + first * blocks + b, blocks, first);
    }
}

/* Finishes four pixels by a tame epilogue that is not plain. acc, residual: those of the first
 * pixel. */
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

/* Stores by way of memory, for all epilogues that are not plain. tile: [pixels][16] accumulators of
 * block b. pixels: 1, or at least 4. */
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
        finish_pixels(j->row, &limits, j->n + b, pixels, tile, residual, result_of(j, b, x));
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
