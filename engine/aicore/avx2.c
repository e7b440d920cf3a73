/* Row programs for AVX2 with FMA and F16C.
 *
 * INT8: vpmaddubsw saturates, so both operands are widened to 16 bits and multiplied by vpmaddwd, which is
 * exact. The 4 elements of a step fill a 64-bit lane and give two sums, so 16 outputs take 4 accumulators
 * of 4 outputs x 2 sums, added up at the end; 2 pixels fill half the registers and leave the rest for
 * operands. Sources are widened once, on the way to a buffer on the stack; that also makes S8 like U8.
 * FP16: 6 pixels x 16 outputs of fp32, sources widened likewise. */
#include "x86.h"

typedef struct vf {
    __m256 l, h;
} vf;

INLINE vf vf_set1(float x)
{
    return (vf){_mm256_set1_ps(x), _mm256_set1_ps(x)};
}

INLINE vf vf_load(const float *p)
{
    return (vf){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

INLINE void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v.l);
    _mm256_storeu_ps(p + 8, v.h);
}

INLINE vf vf_add(vf a, vf b)
{
    return (vf){_mm256_add_ps(a.l, b.l), _mm256_add_ps(a.h, b.h)};
}

INLINE vf vf_mul(vf a, vf b)
{
    return (vf){_mm256_mul_ps(a.l, b.l), _mm256_mul_ps(a.h, b.h)};
}

/* vmaxps and vminps return their second operand unless the comparison holds. */
INLINE vf vf_max(vf a, vf b)
{
    return (vf){_mm256_max_ps(a.l, b.l), _mm256_max_ps(a.h, b.h)};
}

INLINE vf vf_min(vf a, vf b)
{
    return (vf){_mm256_min_ps(a.l, b.l), _mm256_min_ps(a.h, b.h)};
}

INLINE vf vf_and(vf a, vf b)
{
    return (vf){_mm256_and_ps(a.l, b.l), _mm256_and_ps(a.h, b.h)};
}

INLINE vf from_s32(__m256i low, __m256i high)
{
    return (vf){_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(high)};
}

INLINE vf vf_from_s32(const int32_t *p)
{
    return from_s32(_mm256_loadu_si256((const __m256i *)p),
                    _mm256_loadu_si256((const __m256i *)(p + 8)));
}

INLINE vf vf_clamp(vf v, float low, float high)
{
    return vf_min(vf_max(v, vf_set1(low)), vf_set1(high));
}

enum { ROUND = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

INLINE vf vf_round(vf v)
{
    return (vf){_mm256_cvtph_ps(_mm256_cvtps_ph(v.l, ROUND)),
                _mm256_cvtph_ps(_mm256_cvtps_ph(v.h, ROUND))};
}

INLINE vf vf_half(vf v)
{
    return vf_round(vf_clamp(v, -65504, 65504));
}

INLINE vf vf_clean(vf v)
{
    return vf_and(v, (vf){_mm256_cmp_ps(v.l, v.l, _CMP_ORD_Q), _mm256_cmp_ps(v.h, v.h, _CMP_ORD_Q)});
}

INLINE vf vf_first(vf v, uint32_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), count = _mm256_set1_epi32((int)n);
    const __m256i low = _mm256_cmpgt_epi32(count, lane);
    const __m256i high = _mm256_cmpgt_epi32(count, _mm256_add_epi32(lane, _mm256_set1_epi32(8)));
    return vf_and(v, (vf){_mm256_castsi256_ps(low), _mm256_castsi256_ps(high)});
}

INLINE vf vf_u8(__m128i v)
{
    return from_s32(_mm256_cvtepu8_epi32(v), _mm256_cvtepu8_epi32(_mm_srli_si128(v, 8)));
}

INLINE vf vf_s8(__m128i v)
{
    return from_s32(_mm256_cvtepi8_epi32(v), _mm256_cvtepi8_epi32(_mm_srli_si128(v, 8)));
}

INLINE vf vf_u16(const uint8_t *p)
{
    return from_s32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)),
                    _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(p + 16))));
}

INLINE vf vf_f16(const uint8_t *p)
{
    return (vf){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)),
                _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 16)))};
}

/* Rounded half to even, as 16 s16. */
INLINE __m256i to_s16(vf v)
{
    const __m256i lanes = _mm256_packs_epi32(_mm256_cvtps_epi32(v.l), _mm256_cvtps_epi32(v.h));
    return _mm256_permute4x64_epi64(lanes, 0xd8);
}

INLINE __m128i vf_to_u8(vf v)
{
    const __m256i q = to_s16(vf_clamp(v, 0, 255));
    return _mm_packus_epi16(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

INLINE __m128i vf_to_s8(vf v)
{
    const __m256i q = to_s16(vf_clamp(v, -128, 127));
    return _mm_packs_epi16(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

INLINE void vf_to_f16(uint8_t *p, vf v)
{
    const vf c = vf_clamp(v, -65504, 65504);
    _mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(c.l, ROUND));
    _mm_storeu_si128((__m128i *)(p + 16), _mm256_cvtps_ph(c.h, ROUND));
}

#include "x86_rows.h"
#include "x86_conv.h"

/* Pixels whose accumulators go through memory to the epilogue at once. */
enum { TILE = MAX_PIXELS };

static void finish_tile(const job *j, uint32_t x, uint32_t count, const void *tile)
{
    _Alignas(64) float residual[TILE * LANES];
    if (j->limits->add)
        prepare_residual(j->row, j->n, x, count, residual);
    finish_pixels(j, 0, x, count, tile, residual);
}

/* ---- INT8 ----------------------------------------------------------------------------------- */

/* count bytes of a run to 16 bits; up to 15 more are read. */
INLINE void widen_bytes(int16_t *stage, const uint8_t *from, uint32_t count, bool is_signed)
{
    for (uint32_t i = 0; i < count; i += 16) {
        const __m128i bytes = load16(from + i);
        const __m256i words = is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
        _mm256_store_si256((__m256i *)(void *)(stage + i), words);
    }
}

/* Adds the pairs of sums of 8 outputs. The horizontal addition leaves outputs 0 1 4 5, 2 3 6 7. */
INLINE __m256i eight_sums(__m256i a, __m256i b)
{
    return _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xd8);
}

INLINE void store_sums(const int32_t *start, const __m256i *acc, const uint32_t pixels, int32_t *tile)
{
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++) {
        const __m256i first = _mm256_load_si256((const __m256i *)(const void *)(start + i % 2 * 8));
        _mm256_store_si256((__m256i *)(void *)(tile + (size_t)i * 8),
                           _mm256_add_epi32(first, eight_sums(acc[i * 2], acc[i * 2 + 1])));
    }
}

/* distance: elements between pixels. */
INLINE void int8_block(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t x,
                       int32_t *tile)
{
    _Alignas(64) int16_t stage[STAGE + 16];
    const ac_conv *c = j->conv;
    const uint32_t chunk = stage_elements(c, pixels) / 4;
    const uint8_t *w = j->weights[0];
    __m256i acc[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels * 4; i++)
        acc[i] = _mm256_setzero_si256();
    for (uint32_t r = 0; r < j->run_count; r++)
        for (uint32_t first = 0; first < c->run_steps; first += chunk) {
            const uint32_t steps = least(chunk, c->run_steps - first);
            widen_bytes(stage, j->runs[r] + (size_t)x * distance + (size_t)first * 4,
                        (pixels - 1) * distance + least(steps * 4, c->run_elements - first * 4),
                        c->source_type == MONA_S8);
            const int16_t *p = stage;
            for (uint32_t s = 0; s < steps; s++, p += 4, w += 64) {
                FORGET(p);
                UNROLL
                for (uint32_t g = 0; g < 4; g++) {
                    const __m256i b = _mm256_cvtepi8_epi16(load16(w + (size_t)g * 16));
                    UNROLL
                    for (uint32_t i = 0; i < pixels; i++) {
                        int64_t quad;
                        memcpy(&quad, p + (size_t)i * distance, sizeof quad);
                        const __m256i product = _mm256_madd_epi16(_mm256_set1_epi64x(quad), b);
                        acc[i * 4 + g] = _mm256_add_epi32(acc[i * 4 + g], product);
                        KEEP_IN_PLACE(acc[i * 4 + g]);
                    }
                }
            }
        }
    store_sums(j->start[0], acc, pixels, tile);
}

/* A tile in blocks of `pixels`, the last one moved back where it would not fit. */
INLINE void int8_tile(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t x,
                      uint32_t count)
{
    _Alignas(64) int32_t tile[TILE * AC_FRACTAL];
    for (uint32_t i = 0; i < count; i += pixels) {
        const uint32_t k = least(i, count - pixels);
        int8_block(j, pixels, distance, x + k, tile + (size_t)k * AC_FRACTAL);
    }
    finish_tile(j, x, count, tile);
}

static void int8_run(const job *j)
{
    const uint32_t distance = pixel_elements(j->conv), end = j->origin + j->pixels;
    const uint32_t most = least(j->pixels, TILE);
    for (uint32_t i = j->origin; i < end; i += most) {
        const uint32_t x = least(i, end - most);
        if (most < 2 || !stage_fits(j->conv, 2))
            int8_tile(j, 1, distance, x, most);
        else if (distance == 16)
            int8_tile(j, 2, 16, x, most);
        else
            int8_tile(j, 2, distance, x, most);
    }
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

/* count fp16 elements of a run to fp32; up to 15 more are read. */
INLINE void widen(float *stage, const uint8_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += LANES)
        vf_store(stage + i, vf_f16(from + (size_t)i * 2));
}

/* One element of K at a time, in the contract's order. */
INLINE void f16_block(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t x,
                      float *tile)
{
    _Alignas(64) float stage[STAGE + LANES];
    const ac_conv *c = j->conv;
    const uint32_t chunk = stage_elements(c, pixels);
    const float *w = (const float *)(const void *)j->weights[0], *start = j->start[0];
    __m256 acc[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        acc[i] = _mm256_load_ps(start + i % 2 * 8);
    for (uint32_t r = 0; r < j->run_count; r++)
        for (uint32_t first = 0; first < c->run_steps; first += chunk) {
            const uint32_t steps = least(chunk, c->run_steps - first);
            widen(stage, j->runs[r] + ((size_t)x * distance + first) * 2,
                  (pixels - 1) * distance + steps);
            const float *p = stage;
            for (uint32_t s = 0; s < steps; s++, p++, w += LANES) {
                FORGET(p);
                const __m256 low = _mm256_load_ps(w), high = _mm256_load_ps(w + 8);
                UNROLL
                for (uint32_t i = 0; i < pixels; i++) {
                    const __m256 a = _mm256_set1_ps(p[(size_t)i * distance]);
                    acc[i * 2] = _mm256_fmadd_ps(a, low, acc[i * 2]);
                    KEEP_IN_PLACE(acc[i * 2]);
                    acc[i * 2 + 1] = _mm256_fmadd_ps(a, high, acc[i * 2 + 1]);
                    KEEP_IN_PLACE(acc[i * 2 + 1]);
                }
            }
        }
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        _mm256_store_ps(tile + (size_t)i * 8, acc[i]);
}

INLINE void f16_tile(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t x,
                     uint32_t count)
{
    _Alignas(64) float tile[TILE * AC_FRACTAL];
    for (uint32_t i = 0; i < count; i += pixels) {
        const uint32_t k = least(i, count - pixels);
        f16_block(j, pixels, distance, x + k, tile + (size_t)k * AC_FRACTAL);
    }
    finish_tile(j, x, count, tile);
}

static void f16_run(const job *j)
{
    const uint32_t distance = pixel_elements(j->conv), end = j->origin + j->pixels;
    const uint32_t most = least(j->pixels, TILE);
    for (uint32_t i = j->origin; i < end; i += most) {
        const uint32_t x = least(i, end - most);
        if (most < 6 || !stage_fits(j->conv, 6))
            f16_tile(j, 1, distance, x, most);
        else if (distance == 16)
            f16_tile(j, 6, 16, x, most);
        else
            f16_tile(j, 6, distance, x, most);
    }
}

/* ---- the table ------------------------------------------------------------------------------ */

static void run_blocks(const job *source, uint32_t blocks)
{
    job j = *source;
    for (uint32_t b = 0; b < blocks; b++) {
        if (j.conv->source_type == MONA_F16)
            f16_run(&j);
        else
            int8_run(&j);
        next_block(&j);
    }
}

static void conv_row(const ac_conv_row *row)
{
    conv_any(row, &ac_isa_avx2);
}

const ac_isa ac_isa_avx2 = {
    .name = "avx2",
    .conv_row = conv_row,
    .pack_row = pack_row,
    .unpack_row = unpack_row,
    .resize_row = resize_row,
    .elementwise_row = elementwise_row,
};
