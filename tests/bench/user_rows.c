// SPDX-License-Identifier: Apache-2.0
/* Rows that mona.kernel wrote (user_rows.py, the example's demosaic) beside rows of intrinsics and
 * swscale's conversion of a mosaic: both in turn, the median of the ratios of their times. Prints a
 * line for each, or "different". user_rows.sh builds it for AVX-512 and for AVX2. */
#include <immintrin.h>
#include <libswscale/swscale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mona_op.h"

#ifdef __AVX512BW__
typedef __m512i vec;
#define OP(name, ...) _mm512_##name(__VA_ARGS__)
#define BITS(name, ...) _mm512_##name##_si512(__VA_ARGS__)
#else
typedef __m256i vec;
#define OP(name, ...) _mm256_##name(__VA_ARGS__)
#define BITS(name, ...) _mm256_##name##_si256(__VA_ARGS__)
#endif
enum { BYTES = sizeof(vec), COLUMNS = 1920, ROWS = 1080, TURNS = 41, ENDS = 64 };

static inline vec load(const uint8_t *p)
{
    return BITS(loadu, (const void *)p);
}

static inline void store(uint8_t *p, vec x)
{
    BITS(storeu, (void *)p, x);
}

/* The low and the high elements of two vectors, in the order of memory. */
static inline void store_zipped(uint8_t *p, vec low, vec high)
{
#ifdef __AVX512BW__
    const vec first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const vec second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    store(p, _mm512_permutex2var_epi64(low, first, high));
    store(p + BYTES, _mm512_permutex2var_epi64(low, second, high));
#else
    store(p, _mm256_permute2x128_si256(low, high, 0x20));
    store(p + BYTES, _mm256_permute2x128_si256(low, high, 0x31));
#endif
}

/* ---- by hand: whole vectors, and rows that hold as many ------------------------------------- */

static void add(const mona_kernel_call *call)
{
    const uint8_t *a = call->inputs[0], *b = call->inputs[1];
    uint8_t *y = call->outputs[0];
#pragma GCC unroll 4
    for (uint32_t i = 0; i < call->columns; i += BYTES)
        store(y + i, OP(adds_epu8, load(a + i), load(b + i)));
}

static void clamp(const mona_kernel_call *call)
{
    const uint8_t *x = call->inputs[0];
    uint8_t *y = call->outputs[0];
    const vec low = OP(set1_epi8, 16), high = OP(set1_epi8, (char)235);
#pragma GCC unroll 4
    for (uint32_t i = 0; i < call->columns; i += BYTES)
        store(y + i, OP(min_epu8, OP(max_epu8, load(x + i), low), high));
}

static void depth_to_space(const mona_kernel_call *call)
{
    for (uint32_t row = 0; row < 2; row++) {
        const uint8_t *a = call->inputs[2 * row], *b = call->inputs[2 * row + 1];
        uint8_t *y = call->outputs[row];
#pragma GCC unroll 4
        for (uint32_t i = 0; i < call->columns; i += BYTES) {
            const vec left = load(a + i), right = load(b + i);
            store_zipped(y + 2 * i, OP(unpacklo_epi8, left, right), OP(unpackhi_epi8, left, right));
        }
    }
}

static inline vec thrice(vec x)
{
    return OP(add_epi16, x, OP(slli_epi16, x, 1));
}

/* Of two rows 3 : 1, then of columns 3 : 1, in 16 bits: samples of even columns, then of odd ones.
 * `sides` are sums at columns -1, 0 and 1. */
static inline vec across(const vec sides[3])
{
    const vec middle = OP(add_epi16, thrice(sides[1]), OP(set1_epi16, 8));
    const vec left = OP(srli_epi16, OP(add_epi16, middle, sides[0]), 4);
    const vec right = OP(srli_epi16, OP(add_epi16, middle, sides[2]), 4);
    return BITS(or, left, OP(slli_epi16, right, 8));
}

static void resize(const mona_kernel_call *call)
{
    const uint8_t *near = call->inputs[1];
    const vec low = OP(set1_epi16, 255);
    for (uint32_t row = 0; row < 2; row++) {
        const uint8_t *far = call->inputs[2 * row];
        uint8_t *y = call->outputs[row];
        for (uint32_t i = 0; i < call->columns; i += BYTES) {
            vec even[3], odd[3];
            for (uint32_t k = 0; k < 3; k++) {
                const vec a = load(near + i + k - 1), b = load(far + i + k - 1);
                even[k] = OP(add_epi16, thrice(BITS(and, a, low)), BITS(and, b, low));
                odd[k] = OP(add_epi16, thrice(OP(srli_epi16, a, 8)), OP(srli_epi16, b, 8));
            }
            const vec e = across(even), o = across(odd);
            store_zipped(y + 2 * i, OP(unpacklo_epi16, e, o), OP(unpackhi_epi16, e, o));
        }
    }
}

/* ---- in turn -------------------------------------------------------------------------------- */

extern const mona_kernel mona_kernel_bench__Add, mona_kernel_bench__Clamp,
    mona_kernel_bench__DepthToSpace, mona_kernel_bench__Resize, mona_kernel_com_example__Demosaic;

static const struct {
    const mona_kernel *written;
    void (*by_hand)(const mona_kernel_call *call);
    uint32_t inputs, outputs; /* rows of bytes */
} pairs[] = {
    {&mona_kernel_bench__Add, add, 2, 1},
    {&mona_kernel_bench__Clamp, clamp, 1, 1},
    {&mona_kernel_bench__DepthToSpace, depth_to_space, 4, 2},
    {&mona_kernel_bench__Resize, resize, 3, 2},
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint8_t *filled(size_t bytes)
{
    uint8_t *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(i * 2654435761u >> 13);
    return p;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(const char *name, const char *where, double *ratios, double best)
{
    qsort(ratios, TURNS, sizeof *ratios, compare);
    printf("%s, %s: %.2f of the speed, %.2f ms a frame\n", name, where, ratios[TURNS / 2],
           best * 1e3);
}

/* rows: of a frame, which are made `times` times */
static void measure(size_t pair, uint32_t rows, uint32_t times)
{
    const size_t stride = COLUMNS + 2 * ENDS;
    uint8_t *in[4], *out[2][2];
    double ratios[TURNS], best = 1;
    for (uint32_t i = 0; i < pairs[pair].inputs; i++)
        in[i] = filled(stride * rows) + ENDS;
    for (uint32_t i = 0; i < 4; i++)
        out[i / 2][i % 2] = filled(2 * stride * rows);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        double took[2];
        for (uint32_t n = 0; n < 2; n++) {
            const uint32_t who = (turn + n) % 2;
            void (*row)(const mona_kernel_call *) =
                who ? pairs[pair].written->row : pairs[pair].by_hand;
            const double begin = seconds();
            for (uint32_t k = 0; k < times * rows; k++) {
                const size_t y = k % rows;
                const void *inputs[4];
                void *outputs[] = {out[who][0] + 2 * stride * y, out[who][1] + 2 * stride * y};
                for (uint32_t i = 0; i < pairs[pair].inputs; i++)
                    inputs[i] = in[i] + stride * y;
                row(&(mona_kernel_call){.inputs = inputs,
                                        .outputs = outputs,
                                        .columns = COLUMNS,
                                        .y = (uint32_t)y,
                                        .width = COLUMNS,
                                        .height = rows});
            }
            took[who] = seconds() - begin;
        }
        ratios[turn] = took[0] / took[1];
        best = took[1] < best ? took[1] : best;
    }
    for (uint32_t i = 0; i < pairs[pair].outputs; i++)
        if (memcmp(out[0][i], out[1][i], COLUMNS) != 0)
            printf("different: ");
    print_median(pairs[pair].written->name, rows == 1 ? "in the cache" : "frames", ratios,
                 best / times / rows * ROWS);
}

/* Rows of two with one above and below; columns beyond the ends lie in other rows here. */
static void demosaic(const uint16_t *raw, uint8_t *rgb)
{
    static const float gains[] = {1.5f, 1, 2};
    for (uint32_t y = 1; y + 1 < ROWS / 2; y++) {
        const void *inputs[7];
        void *outputs[6];
        for (uint32_t i = 0; i < 6; i++) {
            inputs[i] = raw + (size_t)(2 * y - 2 + i) * COLUMNS;
            outputs[i] = rgb + ((size_t)i / 2 * ROWS + 2 * y + i % 2) * COLUMNS;
        }
        inputs[6] = gains;
        mona_kernel_com_example__Demosaic.row(&(mona_kernel_call){.inputs = inputs,
                                                                  .outputs = outputs,
                                                                  .columns = COLUMNS / 2,
                                                                  .y = y,
                                                                  .width = COLUMNS / 2,
                                                                  .height = ROWS / 2});
    }
}

static void measure_demosaic(void)
{
    const size_t samples = (size_t)COLUMNS * ROWS;
    uint16_t *raw = (uint16_t *)(void *)filled(2 * samples + ENDS);
    uint8_t *rgb = filled(3 * samples), *other = filled(3 * samples);
    struct SwsContext *s = sws_getContext(COLUMNS, ROWS, AV_PIX_FMT_BAYER_RGGB16LE, COLUMNS, ROWS,
                                          AV_PIX_FMT_RGB24, SWS_BILINEAR, NULL, NULL, NULL);
    double ratios[TURNS], best = 1;
    for (uint32_t turn = 0; s && turn < TURNS; turn++) {
        const double begin = seconds();
        sws_scale(s, (const uint8_t *const[]){(const uint8_t *)raw}, (const int[]){2 * COLUMNS}, 0,
                  ROWS, (uint8_t *const[]){other}, (const int[]){3 * COLUMNS});
        const double middle = seconds();
        demosaic(raw, rgb);
        const double took = seconds() - middle;
        ratios[turn] = (middle - begin) / took;
        best = took < best ? took : best;
    }
    sws_freeContext(s);
    print_median("demosaic", "beside swscale's", ratios, best);
}

int main(void)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        measure(i, 1, 2000);
        measure(i, ROWS, 1);
    }
    measure_demosaic();
    return 0;
}
