/* Row programs for AVX2 with FMA and F16C.
 *
 * INT8: vpmaddubsw saturates, so both operands are widened to 16 bits and multiplied by vpmaddwd,
 * which is exact. The 4 elements of a step fill a 64-bit lane and give two sums, so 16 outputs take
 * 4 accumulators of 4 outputs x 2 sums, added up at the end; 2 pixels fill half the registers and
 * leave the rest for operands. Sources are widened once, on the way to a buffer on the stack; that
 * also makes S8 like U8. FP16: 6 pixels x 16 outputs of fp32, sources widened likewise. */
#include "avx2_vector.h"
#include "x86_elementwise.h"
#include "x86_planes.h"
#include "x86_resize.h"
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

INLINE void store_sums(const int32_t *start, const __m256i *acc, const uint32_t pixels,
                       int32_t *tile)
{
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++) {
        const __m256i first = _mm256_load_si256((const __m256i *)(const void *)(start + i % 2 * 8));
        _mm256_store_si256((__m256i *)(void *)(tile + (size_t)i * 8),
                           _mm256_add_epi32(first, eight_sums(acc[i * 2], acc[i * 2 + 1])));
    }
}

/* All runs of a tile of pixels, widened at once if they fit: run r at elements + r * stride. */
typedef struct whole {
    _Alignas(64) int16_t elements[2 * STAGE + 16];
    uint32_t stride; /* 0: they do not fit, and every block widens its own to the same place */
} whole;

static void widen_whole(whole *w, const job *j, uint32_t x, uint32_t pixels)
{
    const ac_conv *c = j->conv;
    const uint32_t distance = pixel_elements(c);
    const uint32_t count = (pixels - 1) * distance + c->run_elements[j->first_run];
    w->stride = (count + 15) / 16 * 16;
    if ((uint64_t)w->stride * j->run_count > 2 * STAGE) {
        w->stride = 0;
        return;
    }
    for (uint32_t r = 0; r < j->run_count; r++)
        widen_bytes(w->elements + r * w->stride, j->runs[r] + (size_t)x * distance, count,
                    c->source_type == MONA_S8);
}

/* Pixels x + k .. of the tile that begins at x. distance: elements between pixels. */
INLINE void int8_block(const job *j, whole *all, const uint32_t pixels, const uint32_t distance,
                       uint32_t x, uint32_t k, int32_t *tile)
{
    const ac_conv *c = j->conv;
    const uint32_t chunk = all->stride ? UINT32_MAX : stage_elements(c, pixels) / 4;
    const uint8_t *w = j->weights[0];
    __m256i acc[MAX_PIXELS];
    UNROLL
    for (uint32_t i = 0; i < pixels * 4; i++)
        acc[i] = _mm256_setzero_si256();
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint32_t run_steps = ac_run_steps(c, j->first_run + r);
        for (uint32_t first = 0, steps; first < run_steps; first += steps) {
            steps = least(chunk, run_steps - first);
            const int16_t *p = all->elements;
            if (all->stride)
                p += r * all->stride + (size_t)k * distance;
            else
                widen_bytes(all->elements,
                            j->runs[r] + (size_t)(x + k) * distance + (size_t)first * 4,
                            (pixels - 1) * distance +
                                least(steps * 4, c->run_elements[j->first_run + r] - first * 4),
                            c->source_type == MONA_S8);
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
    }
    store_sums(j->start[0], acc, pixels, tile + (size_t)k * AC_FRACTAL);
}

#include "avx2_narrow.h"

/* A tile in blocks of `pixels`, the last one moved back where it would not fit. n: NULL, or its
 * outputs are few. */
INLINE void int8_tile(const job *j, const few *n, const uint32_t pixels, const uint32_t distance,
                      uint32_t x, uint32_t count)
{
    _Alignas(64) int32_t tile[TILE * AC_FRACTAL];
    whole all;
    widen_whole(&all, j, x, count);
    if (n && all.stride && pixels == 2)
        narrow_tile(j, n, &all, count, tile);
    else
        for (uint32_t i = 0; i < count; i += pixels)
            int8_block(j, &all, pixels, distance, x, least(i, count - pixels), tile);
    finish_tile(j, x, count, tile);
}

static void int8_run(const job *j)
{
    const uint32_t distance = pixel_elements(j->conv), end = j->origin + j->pixels;
    const uint32_t most = least(j->pixels, TILE);
    const bool use_few = narrow_possible(j->conv);
    few n;
    if (use_few)
        narrow_weights(&n, j);
    for (uint32_t i = j->origin; i < end; i += most) {
        const uint32_t x = least(i, end - most);
        if (most < 2 || !stage_fits(j->conv, 2))
            int8_tile(j, NULL, 1, distance, x, most);
        else if (distance == 16)
            int8_tile(j, use_few ? &n : NULL, 2, 16, x, most);
        else
            int8_tile(j, NULL, 2, distance, x, most);
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
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint32_t run_steps = ac_run_steps(c, j->first_run + r);
        for (uint32_t first = 0, steps; first < run_steps; first += steps) {
            steps = least(chunk, run_steps - first);
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
