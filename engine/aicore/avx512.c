/* Row programs for AVX-512 with VNNI.
 *
 * Convolution: a register block is 24 pixels x 16 outputs, or 12 x 32: 24 accumulators, one or two vectors of
 * weights and one broadcast operand leave some of the 32 registers for addresses of constants. A step loads
 * 4 neighbouring bytes of a pixel into every lane and multiplies them with the 4 weights of each of 16
 * outputs (vpdpbusd); the prototype of every other choice, so its loads, one a multiplication with 16
 * outputs, bound it: two a cycle on the cores this was written for, the rate of vpdpbusd itself.
 *
 * vpdpbusd wants unsigned x signed. S8 sources are offset on the way to a buffer on the stack, s + 128 =
 * s ^ 0x80, and the accumulators start at bias - 128 * sum of the output's weights: exact, as s32 arithmetic
 * is modulo 2^32 and the true sum fits. FP16 sources are converted to fp32 on the same way. */
#include "x86.h"

typedef __m512 vf;

INLINE vf vf_set1(float x)
{
    return _mm512_set1_ps(x);
}

INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

INLINE void vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

INLINE vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

INLINE vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

/* vmaxps and vminps return their second operand unless the comparison holds. */
INLINE vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

INLINE vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

INLINE vf vf_and(vf a, vf b)
{
    return _mm512_and_ps(a, b);
}

INLINE vf vf_from_s32(const int32_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_loadu_si512(p));
}

INLINE vf vf_clamp(vf v, float low, float high)
{
    return _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(low)), _mm512_set1_ps(high));
}

INLINE __m256i to_half(vf v)
{
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vf vf_half(vf v)
{
    return _mm512_cvtph_ps(to_half(vf_clamp(v, -65504, 65504)));
}

INLINE vf vf_clean(vf v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
}

INLINE vf vf_first(vf v, uint32_t n)
{
    return _mm512_maskz_mov_ps((__mmask16)((1u << n) - 1), v);
}

INLINE vf vf_u8(__m128i v)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(v));
}

INLINE vf vf_s8(__m128i v)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(v));
}

INLINE vf vf_u16(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p)));
}

INLINE vf vf_f16(const uint8_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

INLINE __m128i vf_to_u8(vf v)
{
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(vf_clamp(v, 0, 255)));
}

INLINE __m128i vf_to_s8(vf v)
{
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(vf_clamp(v, -128, 127)));
}

INLINE void vf_to_f16(uint8_t *p, vf v)
{
    _mm256_storeu_si256((__m256i *)p, to_half(vf_clamp(v, -65504, 65504)));
}

#include "x86_rows.h"
#include "x86_conv.h"

/* ---- the epilogue in registers -------------------------------------------------------------- */

/* Activations that only clamp, without residual and output scale, leave one clamp to do. Both limits are
 * fp16 values, rounding to fp16 is monotonic and keeps them, so clamping before it gives the same; and for
 * bytes the limits of saturation, integers, join in. */
typedef struct quick {
    bool possible;
    float low, high;
} quick;

static void narrow(quick *q, float low, float high)
{
    q->low = q->low > low ? q->low : low;
    q->low = q->low < high ? q->low : high;
    q->high = q->high > low ? q->high : low;
    q->high = q->high < high ? q->high : high;
}

static quick quick_epilogue(const ac_conv_row *row)
{
    const ac_epilogue *e = &row->conv->epilogue;
    const uint8_t activations[] = {e->activation, e->activation_after_add};
    quick q = {!e->add && e->output_scale == 1, -65504, 65504};
    for (int i = 0; i < 2; i++) {
        if (activations[i] == MONA_ACT_RELU)
            narrow(&q, 0, 65504);
        else if (activations[i] == MONA_ACT_CLIP)
            narrow(&q, e->clip_min, e->clip_max);
        else if (activations[i] == MONA_ACT_PRELU)
            q.possible = false;
    }
    if (row->output.type == MONA_U8)
        narrow(&q, 0, 255);
    else if (row->output.type == MONA_S8)
        narrow(&q, -128, 127);
    else if (e->activation == MONA_ACT_CLIP || e->activation_after_add == MONA_ACT_CLIP)
        q.possible = false; /* limits of zero with a sign: not worth proving */
    return q;
}

/* Four pixels to bytes. Packing interleaves the pixels' 128-bit lanes, dword (lane, pixel): transposed. */
INLINE __m512i four_to_bytes(const __m512i q[4], bool is_signed)
{
    const __m512i order =
        _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i a = _mm512_packs_epi32(q[0], q[1]), b = _mm512_packs_epi32(q[2], q[3]);
    const __m512i bytes = is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
    return _mm512_permutexvar_epi32(order, bytes);
}

/* t: pixels x blocks scaled accumulators, 4 or a multiple of 4 pixels, or 1. */
INLINE void quick_store(const job *j, const quick *q, const vf *t, const uint32_t pixels,
                        const uint32_t blocks, uint32_t b, uint32_t x)
{
    const vf low = vf_set1(q->low), high = vf_set1(q->high);
    const mona_type type = j->row->output.type;
    uint8_t *out = result_of(j, b, x);
    if (type == MONA_F16) {
        UNROLL
        for (uint32_t i = 0; i < pixels; i++)
            _mm256_storeu_si256((__m256i *)(out + i * 32),
                                to_half(_mm512_min_ps(_mm512_max_ps(t[i * blocks + b], low), high)));
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i += 4) {
        __m512i bytes[4];
        UNROLL
        for (uint32_t k = 0; k < 4 && k < pixels; k++) {
            const vf v = _mm512_min_ps(_mm512_max_ps(t[(i + k) * blocks + b], low), high);
            bytes[k] = _mm512_cvtps_epi32(_mm512_cvtph_ps(to_half(v)));
        }
        if (pixels == 1)
            store16(out, _mm512_cvtepi32_epi8(bytes[0]));
        else
            _mm512_storeu_si512(out + i * 16, four_to_bytes(bytes, type == MONA_S8));
    }
}

INLINE void slow_store(const job *j, const vf *acc, const uint32_t pixels, const uint32_t blocks,
                       uint32_t b, uint32_t x)
{
    _Alignas(64) float tile[MAX_PIXELS * AC_FRACTAL];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        _mm512_store_ps(tile + i * AC_FRACTAL, acc[i * blocks + b]);
    finish_pixels(j, b, x, pixels, tile);
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
INLINE void int8_block(const job *j, const quick *q, const uint32_t pixels, const uint32_t blocks,
                       const uint32_t pixel_bytes, uint32_t x)
{
    _Alignas(64) uint8_t stage[STAGE + 64];
    const ac_conv *c = j->conv;
    const bool flip = c->source_type == MONA_S8;
    const uint32_t chunk = flip ? stage_elements(c, pixels) / 4 : c->run_steps;
    const uint8_t *w0 = j->weights[0], *w1 = j->weights[1];
    __m512i acc[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels * blocks; i++)
        acc[i] = _mm512_loadu_si512(j->start[i % blocks]);
    for (uint32_t r = 0; r < j->run_count; r++)
        for (uint32_t first = 0; first < c->run_steps; first += chunk) {
            const uint32_t steps = least(chunk, c->run_steps - first);
            const uint8_t *p = j->runs[r] + (size_t)x * pixel_bytes + (size_t)first * 4;
            if (flip)
                p = flip_signs(stage, p, (pixels - 1) * pixel_bytes +
                                             least(steps * 4, c->run_elements - first * 4));
            for (uint32_t s = 0; s < steps; s++, p += 4, w0 += 64, w1 += 64) {
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
    UNROLL
    for (uint32_t b = 0; b < blocks; b++) {
        vf t[MAX_PIXELS];
        if (!q->possible) {
            UNROLL
            for (uint32_t i = 0; i < pixels * blocks; i++)
                t[i] = _mm512_castsi512_ps(acc[i]);
            slow_store(j, t, pixels, blocks, b, x);
            continue;
        }
        const vf scale = vf_load(c->epilogue.scale + (size_t)(j->n + b) * AC_FRACTAL);
        UNROLL
        for (uint32_t i = 0; i < pixels * blocks; i++)
            t[i] = _mm512_mul_ps(_mm512_cvtepi32_ps(acc[i]), scale);
        quick_store(j, q, t, pixels, blocks, b, x);
    }
}

INLINE void int8_pixels(const job *j, const quick *q, const uint32_t pixels, const uint32_t blocks,
                        const uint32_t pixel_bytes)
{
    const uint32_t last = j->origin + j->pixels - pixels;
    for (uint32_t x = j->origin; x < last; x += pixels)
        int8_block(j, q, pixels, blocks, pixel_bytes, x);
    int8_block(j, q, pixels, blocks, pixel_bytes, last);
}

/* The accumulators' start where S8 is computed as U8: see the top. */
static void offset_start(job *j, uint32_t b, int32_t start[AC_FRACTAL])
{
    const uint8_t *w = j->weights[b];
    const __m512i offset = _mm512_set1_epi8(-128); /* 128, unsigned */
    __m512i sum = _mm512_setzero_si512();
    for (uint32_t i = 0; i < j->run_count * j->conv->run_steps; i++)
        sum = _mm512_dpbusd_epi32(sum, offset, _mm512_load_si512(w + (size_t)i * 64));
    _mm512_store_si512(start, _mm512_sub_epi32(_mm512_loadu_si512(j->start[b]), sum));
    j->start[b] = start;
}

static void int8_one(const job *j, const quick *q)
{
    const ac_conv *c = j->conv;
    const uint32_t most = c->source_type == MONA_U8 || stage_fits(c, 24) ? j->pixels : 0;
    if (most >= 24 && c->pixel_bytes == 16)
        int8_pixels(j, q, 24, 1, 16);
    else if (most >= 24 && c->pixel_bytes == 8)
        int8_pixels(j, q, 24, 1, 8);
    else if (most >= 24 && c->pixel_bytes == 4)
        int8_pixels(j, q, 24, 1, 4);
    else if (most >= 24 && c->pixel_bytes == 1)
        int8_pixels(j, q, 24, 1, 1);
    else if (most >= 8)
        int8_pixels(j, q, 8, 1, c->pixel_bytes);
    else
        int8_pixels(j, q, 1, 1, c->pixel_bytes);
}

static void int8_run(const job *source, const quick *q, uint32_t blocks)
{
    _Alignas(64) int32_t start[2][AC_FRACTAL];
    job j = *source;
    for (uint32_t b = 0; b < blocks && j.conv->source_type == MONA_S8; b++)
        offset_start(&j, b, start[b]);
    if (blocks == 2 && j.conv->pixel_bytes == 16 && j.pixels >= 12) {
        int8_pixels(&j, q, 12, 2, 16);
        return;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        int8_one(&j, q);
        j.n++;
        j.weights[0] = j.weights[1];
        j.start[0] = j.start[1];
        j.out[0] = j.out[1];
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
INLINE void f16_block(const job *j, const quick *q, const uint32_t pixels, const uint32_t distance,
                      uint32_t x)
{
    _Alignas(64) float stage[STAGE + LANES];
    const ac_conv *c = j->conv;
    const uint32_t chunk = stage_elements(c, pixels);
    const float *w = (const float *)(const void *)j->weights[0];
    vf acc[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++)
        for (uint32_t first = 0; first < c->run_steps; first += chunk) {
            const uint32_t steps = least(chunk, c->run_steps - first);
            widen(stage, j->runs[r] + ((size_t)x * distance + first) * 2,
                  (pixels - 1) * distance + steps);
            const float *p = stage;
            for (uint32_t s = 0; s < steps; s++, p++, w += LANES) {
                const vf b = _mm512_load_ps(w);
                UNROLL
                for (uint32_t i = 0; i < pixels; i++) {
                    const vf a = _mm512_set1_ps(p[(size_t)i * distance]);
                    acc[i] = _mm512_fmadd_ps(a, b, acc[i]);
                    KEEP_IN_PLACE(acc[i]);
                }
            }
        }
    if (q->possible)
        quick_store(j, q, acc, pixels, 1, 0, x);
    else
        slow_store(j, acc, pixels, 1, 0, x);
}

INLINE void f16_pixels(const job *j, const quick *q, const uint32_t pixels,
                       const uint32_t distance)
{
    const uint32_t last = j->origin + j->pixels - pixels;
    for (uint32_t x = j->origin; x < last; x += pixels)
        f16_block(j, q, pixels, distance, x);
    f16_block(j, q, pixels, distance, last);
}

static void f16_run(const job *source, const quick *q, uint32_t blocks)
{
    job j = *source;
    const uint32_t distance = pixel_elements(j.conv);
    const uint32_t most = stage_fits(j.conv, 24) ? j.pixels : 0;
    for (uint32_t b = 0; b < blocks; b++) {
        if (most >= 24 && distance == 16)
            f16_pixels(&j, q, 24, 16);
        else if (most >= 24 && distance == 1)
            f16_pixels(&j, q, 24, 1);
        else if (most >= 8)
            f16_pixels(&j, q, 8, distance);
        else
            f16_pixels(&j, q, 1, distance);
        j.n++;
        j.weights[0] = j.weights[1];
        j.start[0] = j.start[1];
        j.out[0] = j.out[1];
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static void run_blocks(const job *j, uint32_t blocks)
{
    const quick q = quick_epilogue(j->row);
    if (j->conv->source_type == MONA_F16)
        f16_run(j, &q, blocks);
    else
        int8_run(j, &q, blocks);
}

static void conv_row(const ac_conv_row *row)
{
    if (ac_scatter_needed(row))
        conv_scattered(row, &ac_isa_avx512);
    else
        conv_direct(row);
}

const ac_isa ac_isa_avx512 = {
    .name = "avx512",
    .conv_row = conv_row,
    .pack_row = pack_row,
    .unpack_row = unpack_row,
    .resize_row = resize_row,
    .elementwise_row = elementwise_row,
};
