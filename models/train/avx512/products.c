// SPDX-License-Identifier: Apache-2.0
#include "models/train/avx512/products.h"
#include "models/train/avx512/chain.h"

#include <cpuid.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By vdpbf16ps, which adds two products to each of 16 sums: of two input channels for 16 outputs in
 * convolve_row(), of two neighbouring pixels for 16 outputs in correlate(). A kernel is
 * [tap][inputs/2][outputs][2]: a pair holds the same output's codes for two neighbouring inputs. */

enum { SUMS = 24 }; /* of 32 registers, what is left beside operands */

#ifdef __clang__ /* all sums are in registers only where every loop over them is unrolled */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 24")
#endif

static __m512bh broadcast(const void *pair)
{
    int32_t bits;
    memcpy(&bits, pair, sizeof bits);
    return (__m512bh)_mm512_set1_epi32(bits);
}

/* One row of a convolution. `in` is the first pixel of the border above and left of it. SUMS pixels
 * x lots stay in registers. */
static inline __attribute__((always_inline)) void
row_of(const bf16 *in, int width, int lanes, int used, const bf16 *kernel, int lots, float *sums)
{
    const int pixels = SUMS / lots;
    const long line = (long)(width + 2) * lanes;
    for (int x = 0; x < width; x += pixels) {
        __m512 sum[SUMS];
        UNROLL
        for (int i = 0; i < SUMS; i++)
            sum[i] = _mm512_setzero_ps();
        const bf16 *codes = kernel;
        for (int tap = 0; tap < TAPS; tap++) {
            const bf16 *at = in + tap / 3 * line + (long)(x + tap % 3) * lanes;
            for (int i = 0; i < used; i += 2, codes += 2 * LANES * lots) {
                __m512bh a = (__m512bh)_mm512_loadu_si512(codes);
                __m512bh b = lots == 2 ? (__m512bh)_mm512_loadu_si512(codes + 2 * LANES) : a;
                UNROLL
                for (int p = 0; p < pixels; p++) {
                    __m512bh pair = broadcast(at + i + p * lanes);
                    sum[p * lots] = _mm512_dpbf16_ps(sum[p * lots], a, pair);
                    if (lots == 2)
                        sum[p * lots + 1] = _mm512_dpbf16_ps(sum[p * lots + 1], b, pair);
                }
            }
        }
        UNROLL
        for (int i = 0; i < SUMS; i++)
            _mm512_storeu_ps(sums + (long)x * LANES * lots + i * LANES, sum[i]);
    }
}

static void row_by_pairs(const bf16 *in, int width, int lanes, int used, const bf16 *kernel,
                         int out, float *sums)
{
    if (lanes == LANES && out == LANES)
        row_of(in, width, LANES, used, kernel, 1, sums);
    else if (lanes == LANES)
        row_of(in, width, LANES, used, kernel, 2, sums);
    else if (out == LANES)
        row_of(in, width, 2 * LANES, used, kernel, 1, sums);
    else
        row_of(in, width, 2 * LANES, used, kernel, 2, sums);
}

/* Both come as pairs of neighbours: pair p of `in` holds the pixels p and p + 1. Of the gradient,
 * which begins at the second pixel of a line, only every other pair counts. For a row of taps,
 * 8 / lots inputs at a time, all sums stay in registers. */
static inline __attribute__((always_inline)) void correlate_of(const uint32_t *in, int used,
                                                               const uint32_t *gradient, int lots,
                                                               int height, int width, float *sums)
{
    const int inputs = SUMS / 3 / lots, out = LANES * lots;
    for (int down = 0; down < 3; down++)
        for (int i = 0; i < used; i += inputs) {
            __m512 sum[SUMS];
            UNROLL
            for (int k = 0; k < SUMS; k++)
                sum[k] = _mm512_setzero_ps();
            for (int y = 0; y < height; y++) {
                const uint32_t *g = gradient + ((long)(y + 1) * (width + 2) + 1) * out;
                const uint32_t *a = in + (long)(y + down) * (width + 2) * used + i;
                for (int x = 0; x < width; x += 2, g += 2 * out, a += 2 * used) {
                    __m512bh low = (__m512bh)_mm512_loadu_si512(g);
                    __m512bh high = lots == 2 ? (__m512bh)_mm512_loadu_si512(g + LANES) : low;
                    UNROLL
                    for (int k = 0; k < 3 * inputs; k++) {
                        __m512bh pair = broadcast(a + (long)(k / inputs) * used + k % inputs);
                        sum[k * lots] = _mm512_dpbf16_ps(sum[k * lots], low, pair);
                        if (lots == 2)
                            sum[k * lots + 1] = _mm512_dpbf16_ps(sum[k * lots + 1], high, pair);
                    }
                }
            }
            UNROLL
            for (int k = 0; k < SUMS; k++) {
                const int tap = 3 * down + k / lots / inputs, input = i + k / lots % inputs;
                float *to = sums + ((long)tap * used + input) * out + k % lots * LANES;
                _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum[k]));
            }
        }
}

/* Pairs of neighbouring pixels of a map, of its first `used` channels: pair k holds the pixels
 * k * apart and k * apart + 1. */
static void pair_up(struct map m, int pairs, int apart, int used, uint32_t *to)
{
    for (long k = 0; k < pairs; k++) {
        const bf16 *left = m.data + k * apart * m.lanes, *right = left + m.lanes;
        int c = 0;
        for (; c + LANES <= used; c += LANES, to += LANES) {
            __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(left + c)));
            __m512i b = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(right + c)));
            _mm512_storeu_si512(to, _mm512_or_si512(a, _mm512_slli_epi32(b, 16)));
        }
        for (; c < used; c++)
            *to++ = left[c] | (uint32_t)right[c] << 16;
    }
}

static void correlate_by_pairs(struct products *p, struct map in, struct map gradient, int inputs,
                               float *sums)
{
    pair_up(in, pixels_of(p), 1, inputs, p->in_pairs);
    pair_up(gradient, pixels_of(p), 1, gradient.lanes, p->g_pairs);
    if (gradient.lanes == LANES)
        correlate_of(p->in_pairs, inputs, p->g_pairs, 1, p->height, p->width, sums);
    else
        correlate_of(p->in_pairs, inputs, p->g_pairs, 2, p->height, p->width, sums);
}

/* By tiles, of which there are eight, of up to 16 rows of 64 bytes. tdpbf16ps adds to 16 x 16 sums
 * the products of 16 rows of 32 values and of 16 rows of 16 pairs. It takes 16 cycles, the same
 * sums again only after 52, and loading a tile takes about as long as multiplying it (measured on a
 * Xeon; twice as long where its rows cross cache lines): of 16-row blocks of each, 2 x 2 are
 * multiplied for every four that are loaded.
 *
 * In convolve_row() a row of values is a pixel's 32 channels or, of maps that have 16, two
 * neighbouring pixels': two taps at once, for which a line of a kernel has a fourth tap, zeros. */

static const struct tiles {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} for_rows = {.palette = 1,
              .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
              .rows = {12, 12, 12, 12, 12, 12, 16, 16}},
  for_sums = {.palette = 1,
              .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
              .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

enum {
    ROW_PIXELS = 12,
    DEPTH = 32, /* products that one sum gets at a time */
    STEPS = 8   /* of DEPTH pixels, whose planes and pairs fit into the first cache */
};

int has_tiles(void)
{
    enum { ASK = 0x1023, TILE_DATA = 18 }; /* arch_prctl: ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 1) && (d >> 24 & 1) &&
           syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}

/* The compiler does not know what the tile instructions read. */
static void finish_stores(void)
{
    __asm__ volatile("" ::: "memory");
}

static void row_by_tiles(const bf16 *in, int width, int lanes, const bf16 *kernel, int out,
                         float *sums)
{
    const long line = (long)(width + 2) * lanes;
    const int wide = lanes == DEPTH, steps = wide ? TAPS : 6;
    finish_stores();
    for (int x = 0; x < width; x += 2 * ROW_PIXELS, sums += 2 * ROW_PIXELS * out) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (int i = 0; i < steps; i++) {
            const bf16 *at =
                in + (wide ? i / 3 : i / 2) * line + (long)(x + (wide ? i % 3 : i % 2 * 2)) * lanes;
            const bf16 *codes = kernel + (long)i * DEPTH * out;
            _tile_loadd(4, at, 2 * lanes);
            _tile_loadd(5, at + ROW_PIXELS * lanes, 2 * lanes);
            _tile_loadd(6, codes, 4 * out);
            if (out != LANES) {
                _tile_loadd(7, codes + 2 * LANES, 4 * out);
                _tile_dpbf16ps(0, 4, 6);
                _tile_dpbf16ps(1, 4, 7);
                _tile_dpbf16ps(2, 5, 6);
                _tile_dpbf16ps(3, 5, 7);
            } else if (i % 2) {
                _tile_dpbf16ps(1, 4, 6);
                _tile_dpbf16ps(3, 5, 6);
            } else {
                _tile_dpbf16ps(0, 4, 6);
                _tile_dpbf16ps(2, 5, 6);
            }
        }
        _tile_stored(0, sums, 4 * out);
        _tile_stored(2, sums + ROW_PIXELS * out, 4 * out);
        if (out != LANES) {
            _tile_stored(1, sums + LANES, 4 * out);
            _tile_stored(3, sums + ROW_PIXELS * out + LANES, 4 * out);
        } else {
            float odd[2 * ROW_PIXELS * LANES];
            _tile_stored(1, odd, 4 * LANES);
            _tile_stored(3, odd + ROW_PIXELS * LANES, 4 * LANES);
            for (int k = 0; k < 2 * ROW_PIXELS * LANES; k++)
                sums[k] += odd[k];
        }
    }
}

/* Pixels from a map's first inside on to which correlate_by_tiles() goes: to the last inside, and
 * on until the tiles are full. What it meets on borders and behind the map are zeros. */
static int tiled_pixels(const struct products *p)
{
    return whole((p->height - 1) * (p->width + 2) + p->width, DEPTH);
}

/* Of a channel's plane: an odd number of cache lines, as all of a channel's are read at once. */
static long plane_of(const struct products *p)
{
    return whole(pixels_of(p) + SPARE, DEPTH) / DEPTH / 2 * 2 * DEPTH + DEPTH;
}

/* A map's channels one by one. */
static void to_planes(const struct products *p, struct map m, bf16 *planes)
{
    const long plane = plane_of(p);
    const __m512i pixel =
        _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                           _mm512_set1_epi32(m.lanes / 2));
    for (int x = 0; x < pixels_of(p); x += 16)
        for (int c = 0; c < m.lanes; c += 2) {
            __m512i two = _mm512_i32gather_epi32(pixel, m.data + (long)x * m.lanes + c, 4);
            bf16 *to = planes + c * plane + x;
            _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(two));
            _mm256_storeu_si256((__m256i *)(to + plane),
                                _mm512_cvtepi32_epi16(_mm512_srli_epi32(two, 16)));
        }
}

/* Adds to three blocks of 16 x 16 sums, 16 rows apart, the products of three blocks of planes, or
 * to 2 x 2 neighbouring blocks those of two of planes, one behind the other, and two of pairs. */
static void add_3x1(const bf16 *const planes[3], long plane, const uint32_t *pairs, int out,
                    int steps, float *sums)
{
    _tile_loadd(0, sums, 4 * out);
    _tile_loadd(1, sums + LANES * out, 4 * out);
    _tile_loadd(2, sums + 2 * LANES * out, 4 * out);
    for (int i = 0; i < steps; i++) {
        _tile_loadd(6, pairs + (long)i * DEPTH / 2 * out, 4 * out);
        _tile_loadd(3, planes[0] + i * DEPTH, 2 * plane);
        _tile_dpbf16ps(0, 3, 6);
        _tile_loadd(4, planes[1] + i * DEPTH, 2 * plane);
        _tile_dpbf16ps(1, 4, 6);
        _tile_loadd(5, planes[2] + i * DEPTH, 2 * plane);
        _tile_dpbf16ps(2, 5, 6);
    }
    _tile_stored(0, sums, 4 * out);
    _tile_stored(1, sums + LANES * out, 4 * out);
    _tile_stored(2, sums + 2 * LANES * out, 4 * out);
}

static void add_2x2(const bf16 *planes, long plane, const uint32_t *pairs, int out, int steps,
                    float *sums)
{
    float *low = sums + LANES * out;
    _tile_loadd(0, sums, 4 * out);
    _tile_loadd(1, sums + LANES, 4 * out);
    _tile_loadd(2, low, 4 * out);
    _tile_loadd(3, low + LANES, 4 * out);
    for (int i = 0; i < steps; i++, planes += DEPTH, pairs += DEPTH / 2 * out) {
        _tile_loadd(4, planes, 2 * plane);
        _tile_loadd(6, pairs, 4 * out);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, pairs + LANES, 4 * out);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, planes + LANES * plane, 2 * plane);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums, 4 * out);
    _tile_stored(1, sums + LANES, 4 * out);
    _tile_stored(2, low, 4 * out);
    _tile_stored(3, low + LANES, 4 * out);
}

/* A row of values is a channel of the map over 32 pixels, one of pairs two pixels of the gradient:
 * the map, taken by planes, can begin at any pixel, the gradient always begins at the same. STEPS
 * at a time. */
static void correlate_by_tiles(struct products *p, struct map in, struct map gradient, float *sums)
{
    const int line = p->width + 2, out = gradient.lanes, lots = in.lanes / LANES;
    const int all = tiled_pixels(p) / DEPTH;
    const long plane = plane_of(p);
    to_planes(p, in, p->in_planes);
    gradient.data += (line + 1) * out;
    pair_up(gradient, all * DEPTH / 2, 2, out, p->g_pairs);
    finish_stores();
    _tile_loadconfig(&for_sums);
    for (int done = 0; done < all; done += STEPS) {
        const int steps = all - done < STEPS ? all - done : STEPS;
        const bf16 *planes = p->in_planes + done * DEPTH;
        const uint32_t *pairs = p->g_pairs + (long)done * DEPTH / 2 * out;
        if (lots == 2 && out == 2 * LANES)
            for (int tap = 0; tap < TAPS; tap++)
                add_2x2(planes + tap / 3 * line + tap % 3, plane, pairs, out, steps,
                        sums + (long)tap * 2 * LANES * out);
        else
            for (int k = 0; k < TAPS * lots; k += 3) {
                const bf16 *at[3];
                for (int i = 0; i < 3; i++) {
                    const int tap = (k + i) / lots, lot = (k + i) % lots;
                    at[i] = planes + lot * LANES * plane + tap / 3 * line + tap % 3;
                }
                for (int o = 0; o < out; o += LANES)
                    add_3x1(at, plane, pairs + o, out, steps, sums + (long)k * LANES * out + o);
            }
    }
    _tile_loadconfig(&for_rows);
}

/* Either. Rows of tiles are always full. */

static int kernel_inputs(const struct products *p, int inputs)
{
    return whole(inputs, p->by_tiles ? LANES : 2);
}

size_t kernel_size(const struct products *p, int inputs, int outputs)
{
    const int taps = p->by_tiles && inputs <= LANES ? TAPS + 3 : TAPS;
    return (size_t)taps * kernel_inputs(p, inputs) * outputs;
}

size_t kernel_place(const struct products *p, int inputs, int outputs, int tap, int input,
                    int output)
{
    if (p->by_tiles && inputs <= LANES)
        tap += tap / 3;
    return (((size_t)tap * kernel_inputs(p, inputs) / 2 + input / 2) * outputs + output) * 2 +
           input % 2;
}

void convolve_row(const struct products *p, struct map in, int y, int inputs, const bf16 *kernel,
                  int outputs, float *sums)
{
    const bf16 *from = in.data + (long)y * (p->width + 2) * in.lanes;
    if (p->by_tiles)
        row_by_tiles(from, p->width, in.lanes, kernel, outputs, sums);
    else
        row_by_pairs(from, p->width, in.lanes, kernel_inputs(p, inputs), kernel, outputs, sums);
}

int correlated_inputs(const struct products *p, int inputs, int outputs)
{
    return whole(inputs, p->by_tiles ? LANES : SUMS / 3 / (outputs / LANES));
}

void correlate(struct products *p, struct map in, struct map gradient, int inputs, float *sums)
{
    if (p->by_tiles)
        correlate_by_tiles(p, in, gradient, sums);
    else
        correlate_by_pairs(p, in, gradient, correlated_inputs(p, inputs, gradient.lanes), sums);
}

int pixels_of(const struct products *p)
{
    return (p->height + 2) * (p->width + 2);
}

void *zeros(size_t count, size_t size)
{
    const size_t bytes = (count * size + 63) / 64 * 64;
    void *p = aligned_alloc(64, bytes);
    if (!p) {
        fprintf(stderr, "training: no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memset(p, 0, bytes);
}

struct products begin_products(int height, int width, int most_lanes, int by_tiles)
{
    struct products p = {.height = height, .width = width, .by_tiles = by_tiles};
    const size_t values = (size_t)(pixels_of(&p) + SPARE) * most_lanes;
    p.g_pairs = zeros(values, sizeof(uint32_t));
    if (by_tiles) {
        p.in_planes = zeros((size_t)most_lanes * plane_of(&p), sizeof(bf16));
        _tile_loadconfig(&for_rows);
    } else {
        p.in_pairs = zeros(values, sizeof(uint32_t));
    }
    return p;
}

void end_products(struct products *p)
{
    if (p->by_tiles)
        _tile_release();
    free(p->in_pairs), free(p->g_pairs), free(p->in_planes);
}
