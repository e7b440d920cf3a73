/* Row programs for AVX-512 with VNNI.
 *
 * Convolution: a register block is 24 pixels x 16 outputs, or 12 x 32: 24 accumulators, one or two
 * vectors of weights and a broadcast operand fit the 32 registers. A step loads 4 neighbouring
 * bytes of a pixel into every lane and multiplies them with the 4 weights of each of 16 outputs.
 * With 16 outputs there is one such load for every vpdpbusd, two a cycle each: neither leaves the
 * other waiting, so nothing but the epilogue costs extra.
 *
 * vpdpbusd wants unsigned x signed. S8 sources are offset on the way to a buffer on the stack, s +
 * 128 = s ^ 0x80, and the accumulators start at bias - 128 * sum of the output's weights: exact, as
 * s32 arithmetic is modulo 2^32 and the true sum fits. FP16 sources are converted to fp32 on the
 * same way. */
#include "avx512_vector.h"
#include "x86_elementwise.h"
#include "x86_planes.h"
#include "x86_resize.h"
#include "x86_conv.h"

/* ---- the epilogue in registers -------------------------------------------------------------- */

/* Four pixels to bytes. Packing interleaves the pixels' 128-bit lanes, dword (lane, pixel):
 * transposed. */
INLINE __m512i four_to_bytes(const __m512i q[4], bool is_signed)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i a = _mm512_packs_epi32(q[0], q[1]), b = _mm512_packs_epi32(q[2], q[3]);
    const __m512i bytes = is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
    return _mm512_permutexvar_epi32(order, bytes);
}

INLINE vf clamped(const clamps *c, vf t, const float *residual)
{
    const vf v = apply(c->stage[0], t);
    return c->add ? apply(c->stage[1], _mm512_add_ps(vf_round(v), vf_load(residual))) : v;
}

INLINE __m512i clamped_s32(const clamps *c, vf t, const float *residual)
{
    return _mm512_cvtps_epi32(vf_round(clamped(c, t, residual)));
}

/* t: pixels x blocks scaled accumulators, of which block b is finished; pixels: a multiple of 4,
 * or 1. */
INLINE void quick_store(const job *j, const vf *t, const uint32_t pixels, const uint32_t blocks,
                        const uint32_t b, uint32_t x, const float *residual)
{
    const mona_type type = j->row->output.type;
    const clamps *c = j->limits;
    uint8_t *out = result_of(j, b, x);
    if (type == MONA_F16) {
        UNROLL
        for (uint32_t i = 0; i < pixels; i++)
            _mm256_storeu_si256((__m256i *)(out + i * 32),
                                to_half(clamped(c, t[i * blocks + b], residual + i * LANES)));
        return;
    }
    if (pixels == 1) {
        store16(out, _mm512_cvtepi32_epi8(clamped_s32(c, t[b], residual)));
        return;
    }
    UNROLL
    for (uint32_t i = 0; i + 3 < pixels; i += 4) {
        __m512i q[4];
        UNROLL
        for (uint32_t k = 0; k < 4; k++)
            q[k] = clamped_s32(c, t[(i + k) * blocks + b], residual + (i + k) * LANES);
        _mm512_storeu_si512(out + i * 16, four_to_bytes(q, type == MONA_S8));
    }
}

/* By way of memory, for the forms that are not clamps. */
INLINE void slow_store(const job *j, const vf *acc, const uint32_t pixels, const uint32_t blocks,
                       const uint32_t b, uint32_t x, const float *residual)
{
    _Alignas(64) float tile[MAX_PIXELS * AC_FRACTAL];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        _mm512_store_ps(tile + i * AC_FRACTAL, acc[i * blocks + b]);
    finish_pixels(j, b, x, pixels, tile, residual);
}

/* ---- INT8 ----------------------------------------------------------------------------------- */

/* count bytes of a run with their sign bits flipped; up to 63 more are read. */
INLINE const uint8_t *flip_signs(uint8_t *stage, const uint8_t *from, uint32_t count)
{
    const __m512i sign = _mm512_set1_epi8(-128);
    for (uint32_t i = 0; i < count; i += 64)
        _mm512_store_si512(stage + i, _mm512_xor_si512(_mm512_loadu_si512(from + i), sign));
    return stage;
}

/* pixel_bytes: a constant, or the job's. */
INLINE void int8_block(const job *j, const uint32_t pixels, const uint32_t blocks,
                       const uint32_t pixel_bytes, uint32_t x)
{
    _Alignas(64) uint8_t stage[STAGE + 64];
    const ac_conv *c = j->conv;
    const bool flip = c->source_type == MONA_S8;
    const uint32_t chunk = flip ? stage_elements(c, pixels) / 4 : UINT32_MAX;
    const uint8_t *w0 = j->weights[0], *w1 = j->weights[1];
    _Alignas(64) float residual[2][MAX_PIXELS * LANES];
    __m512i acc[MAX_PIXELS];
    for (uint32_t b = 0; b < blocks && j->limits->add; b++)
        prepare_residual(j->row, j->n + b, x, pixels, residual[b]);
    UNROLL
    for (uint32_t i = 0; i < pixels * blocks; i++)
        acc[i] = _mm512_loadu_si512(j->start[i % blocks]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint32_t run_steps = ac_run_steps(c, j->first_run + r);
        for (uint32_t first = 0, steps; first < run_steps; first += steps) {
            steps = least(chunk, run_steps - first);
            const uint8_t *p = j->runs[r] + (size_t)x * pixel_bytes + (size_t)first * 4;
            if (flip)
                p = flip_signs(stage, p,
                               (pixels - 1) * pixel_bytes +
                                   least(steps * 4, c->run_elements[j->first_run + r] - first * 4));
            for (uint32_t s = 0; s < steps; s++, p += 4, w0 += 64, w1 += 64) {
                FORGET(p);
                const __m512i b0 = _mm512_load_si512(w0);
                const __m512i b1 = blocks == 2 ? _mm512_load_si512(w1) : b0;
                UNROLL
                for (uint32_t i = 0; i < pixels; i++) {
                    int32_t quad;
                    memcpy(&quad, p + (size_t)i * pixel_bytes, sizeof quad);
                    const __m512i a = _mm512_set1_epi32(quad);
                    acc[i * blocks] = _mm512_dpbusd_epi32(acc[i * blocks], a, b0);
                    KEEP_IN_PLACE(acc[i * blocks]);
                    if (blocks == 2) {
                        acc[i * 2 + 1] = _mm512_dpbusd_epi32(acc[i * 2 + 1], a, b1);
                        KEEP_IN_PLACE(acc[i * 2 + 1]);
                    }
                }
            }
        }
    }
    UNROLL
    for (uint32_t b = 0; b < blocks; b++) {
        vf t[MAX_PIXELS];
        if (!j->limits->possible) {
            UNROLL
            for (uint32_t i = 0; i < pixels * blocks; i++)
                t[i] = _mm512_castsi512_ps(acc[i]);
            slow_store(j, t, pixels, blocks, b, x, residual[b]);
            continue;
        }
        const vf scale = vf_load(c->epilogue.scale + (size_t)(j->n + b) * AC_FRACTAL);
        UNROLL
        for (uint32_t i = 0; i < pixels * blocks; i++)
            t[i] = _mm512_mul_ps(_mm512_cvtepi32_ps(acc[i]), scale);
        quick_store(j, t, pixels, blocks, b, x, residual[b]);
    }
}

INLINE void int8_pixels(const job *j, const uint32_t pixels, const uint32_t blocks,
                        const uint32_t pixel_bytes)
{
    const uint32_t last = j->origin + j->pixels - pixels;
    for (uint32_t x = j->origin; x < last; x += pixels)
        int8_block(j, pixels, blocks, pixel_bytes, x);
    int8_block(j, pixels, blocks, pixel_bytes, last);
}

/* The accumulators' start where S8 is computed as U8: see the top. */
static void offset_start(job *j, uint32_t b, int32_t start[AC_FRACTAL])
{
    const uint8_t *w = j->weights[b];
    const __m512i offset = _mm512_set1_epi8(-128); /* 128, unsigned */
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < ac_block_steps(j->conv, j->n + b); i++)
        sum = _mm512_dpbusd_epi32(sum, offset, _mm512_load_si512(w + (size_t)i * 64));
    _mm512_store_si512(start, _mm512_sub_epi32(_mm512_loadu_si512(j->start[b]), sum));
    j->start[b] = start;
}

static void int8_one(const job *j)
{
    const ac_conv *c = j->conv;
    const uint32_t most = c->source_type == MONA_U8 || stage_fits(c, 24) ? j->pixels : 0;
    if (most >= 24 && c->pixel_bytes == 16)
        int8_pixels(j, 24, 1, 16);
    else if (most >= 24 && c->pixel_bytes == 8)
        int8_pixels(j, 24, 1, 8);
    else if (most >= 24 && c->pixel_bytes == 4)
        int8_pixels(j, 24, 1, 4);
    else if (most >= 24 && c->pixel_bytes == 1)
        int8_pixels(j, 24, 1, 1);
    else if (most >= 8)
        int8_pixels(j, 8, 1, c->pixel_bytes);
    else
        int8_pixels(j, 1, 1, c->pixel_bytes);
}

static void int8_run(const job *source, uint32_t blocks)
{
    _Alignas(64) int32_t start[2][AC_FRACTAL];
    job j = *source;
    for (uint32_t b = 0; b < blocks && j.conv->source_type == MONA_S8; b++)
        offset_start(&j, b, start[b]);
    if (blocks == 2 && j.conv->pixel_bytes == 16 && j.pixels >= 12) {
        int8_pixels(&j, 12, 2, 16);
        return;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        int8_one(&j);
        next_block(&j);
    }
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

/* count fp16 elements of a run to fp32; up to 15 more are read. */
INLINE void widen(float *stage, const uint8_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += LANES)
        _mm512_store_ps(stage + i, vf_f16(from + (size_t)i * 2));
}

/* One element of K at a time, in the contract's order. distance: elements between pixels. */
INLINE void f16_block(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t x)
{
    _Alignas(64) float stage[STAGE + LANES];
    const ac_conv *c = j->conv;
    const uint32_t chunk = stage_elements(c, pixels);
    const float *w = (const float *)(const void *)j->weights[0];
    _Alignas(64) float residual[MAX_PIXELS * LANES];
    vf acc[MAX_PIXELS];
    if (j->limits->add)
        prepare_residual(j->row, j->n, x, pixels, residual);
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint32_t run_steps = ac_run_steps(c, j->first_run + r);
        for (uint32_t first = 0, steps; first < run_steps; first += steps) {
            steps = least(chunk, run_steps - first);
            widen(stage, j->runs[r] + ((size_t)x * distance + first) * 2,
                  (pixels - 1) * distance + steps);
            const float *p = stage;
            for (uint32_t s = 0; s < steps; s++, p++, w += LANES) {
                FORGET(p);
                const vf b = _mm512_load_ps(w);
                UNROLL
                for (uint32_t i = 0; i < pixels; i++) {
                    const vf a = _mm512_set1_ps(p[(size_t)i * distance]);
                    acc[i] = _mm512_fmadd_ps(a, b, acc[i]);
                    KEEP_IN_PLACE(acc[i]);
                }
            }
        }
    }
    if (j->limits->possible)
        quick_store(j, acc, pixels, 1, 0, x, residual);
    else
        slow_store(j, acc, pixels, 1, 0, x, residual);
}

INLINE void f16_pixels(const job *j, const uint32_t pixels, const uint32_t distance)
{
    const uint32_t last = j->origin + j->pixels - pixels;
    for (uint32_t x = j->origin; x < last; x += pixels)
        f16_block(j, pixels, distance, x);
    f16_block(j, pixels, distance, last);
}

static void f16_run(const job *source, uint32_t blocks)
{
    job j = *source;
    const uint32_t distance = pixel_elements(j.conv);
    const uint32_t most = stage_fits(j.conv, 24) ? j.pixels : 0;
    for (uint32_t b = 0; b < blocks; b++) {
        if (most >= 24 && distance == 16)
            f16_pixels(&j, 24, 16);
        else if (most >= 24 && distance == 1)
            f16_pixels(&j, 24, 1);
        else if (most >= 8)
            f16_pixels(&j, 8, distance);
        else
            f16_pixels(&j, 1, distance);
        next_block(&j);
    }
}

#include "avx512_narrow.h"

/* ---- the table ------------------------------------------------------------------------------ */

static void run_blocks(const job *j, uint32_t blocks)
{
    if (j->conv->source_type == MONA_F16)
        f16_run(j, blocks);
    else
        int8_run(j, blocks);
}

static void conv_row(const ac_conv_row *row)
{
    if (narrow_possible(row))
        conv_narrow(row, &ac_isa_avx512);
    else
        conv_any(row, &ac_isa_avx512);
}

const ac_isa ac_isa_avx512 = {
    .name = "avx512",
    .conv_row = conv_row,
    .pack_row = pack_row,
    .unpack_row = unpack_row,
    .resize_row = resize_row,
    .elementwise_row = elementwise_row,
};
