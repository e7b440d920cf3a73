// SPDX-License-Identifier: Apache-2.0
/* The convolution row program in portable C, without intrinsics, in loops that gcc and clang
 * vectorise for any CPU with vectors.
 *
 * INT8: elements and weights are widened to 16 bits and laid side by side along K, [pixel][K] and
 * [output][K]. An accumulator is then a dot product of two arrays, for which compilers use pmaddwd
 * on x86 and smlal on Arm. 2 pixels x 4 outputs share loads. K is processed in parts that fit in
 * scratch, while the accumulators of a tile of pixels stay in memory. */
#include "engine/cpu/cpu.h"

enum {
    TILE = 64,    /* pixels, even */
    PART = 288,   /* elements of K at a time, a multiple of DOT */
    STAGE = 2048, /* fp16 elements that are widened at a time */
    DOT = 8,      /* the length of dot products is a multiple of this */
};

typedef struct int8_work {
    _Alignas(64) int32_t acc[TILE * AC_FRACTAL];
    _Alignas(64) int16_t pair[2 * PART];
    /* Reordered for dot products, [output][length]: those of all of K, or of a part. */
    _Alignas(64) int16_t weights[AC_FRACTAL * PART];
} int8_work;

#include "engine/cpu/c/c_conv.h"

_Static_assert(sizeof(work) <= MONA_SCRATCH, "it fits");

/* Without this clang uses vectors of 4 elements of 16 bits where there is room for 8. */
#ifdef __clang__
#define DOT_LOOP _Pragma("clang loop vectorize_width(8) interleave_count(1)")
#else
#define DOT_LOOP
#endif

static void widen_bytes(int16_t *to, const uint8_t *from, uint32_t count, bool is_signed)
{
    const int8_t *signed_from = (const int8_t *)from;
    if (is_signed)
        for (uint32_t i = 0; i < count; i++)
            to[i] = signed_from[i];
    else
        for (uint32_t i = 0; i < count; i++)
            to[i] = from[i];
}

/* Gathers the next `steps` steps of pixel x, and moves the place on. */
static void gather(int16_t *to, const tile *t, place *at, uint32_t steps, uint32_t x)
{
    while (steps) {
        const uint32_t run_steps = mona_run_steps(t->conv, t->first_run + at->run);
        const uint32_t count = min_u32(steps, run_steps - at->step);
        widen_bytes(to, t->runs[at->run] + (size_t)x * t->conv->pixel_bytes + (size_t)at->step * 4,
                    count * 4, t->conv->source_type == MONA_S8);
        to += (size_t)count * 4;
        steps -= count;
        *at = at->step + count < run_steps ? (place){at->run, at->step + count}
                                           : (place){at->run + 1, 0};
    }
}

/* Reorders weights from [step][16 outputs][4] to [output][length], with zeros at the end. */
static void turn_weights(int16_t *to, const uint8_t *from, uint32_t outputs, uint32_t steps,
                         size_t length)
{
    const int8_t *w = (const int8_t *)from;
    memset(to, 0, outputs * length * sizeof *to);
    for (size_t o = 0; o < outputs; o++)
        for (size_t s = 0; s < steps; s++)
            for (size_t e = 0; e < 4; e++)
                to[o * length + s * 4 + e] = w[(s * AC_FRACTAL + o) * 4 + e];
}

/* Adds dot products of length n to the accumulators of two pixels, acc[16 outputs] each. outputs: a
 * multiple of 4. */
static void multiply_pair(int32_t *acc, const int16_t *restrict a, const int16_t *restrict w,
                          uint32_t outputs, size_t n)
{
    int32_t *other = acc + AC_FRACTAL;
    for (size_t o = 0; o < outputs; o += 4, w += 4 * n) {
        int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
        DOT_LOOP
        for (size_t k = 0; k < n; k++) {
            const int16_t first = a[k], second = a[n + k];
            a0 += first * w[k], b0 += second * w[k];
            a1 += first * w[n + k], b1 += second * w[n + k];
            a2 += first * w[2 * n + k], b2 += second * w[2 * n + k];
            a3 += first * w[3 * n + k], b3 += second * w[3 * n + k];
        }
        acc[o] += a0, acc[o + 1] += a1, acc[o + 2] += a2, acc[o + 3] += a3;
        other[o] += b0, other[o + 1] += b1, other[o + 2] += b2, other[o + 3] += b3;
    }
}

static void int8_tile(tile *t, uint8_t *out)
{
    int8_work *w = &t->work->int8;
    const uint8_t *weights = t->conv->weights + t->conv->weights_offset[t->n];
    const uint32_t total = mona_block_steps(t->conv, t->n);
    /* Weights and bias of outputs that do not exist are zero. */
    const uint32_t outputs =
        min_u32(AC_FRACTAL, (t->conv->channels - t->n * AC_FRACTAL + 3) / 4 * 4);
    place at = {0, 0}, next = at;
    fill(w->acc, t->bias, t->pixels + 1);
    for (uint32_t first = 0, steps; first < total; first += steps, at = next) {
        steps = min_u32(PART / 4, total - first);
        const size_t length = (steps * 4 + DOT - 1) / DOT * DOT;
        if (!t->all_turned)
            turn_weights(w->weights, weights + (size_t)first * 64, outputs, steps, length);
        t->all_turned = steps == total;
        memset(w->pair, 0, 2 * length * sizeof *w->pair);
        for (uint32_t i = 0; i < t->pixels; i += 2) {
            for (uint32_t k = 0; k < 2; k++) {
                next = at;
                gather(w->pair + k * length, t, &next, steps, t->x + min_u32(i + k, t->pixels - 1));
            }
            multiply_pair(w->acc + (size_t)i * AC_FRACTAL, w->pair, w->weights, outputs, length);
        }
    }
    for (uint32_t i = 0; i < t->pixels * AC_FRACTAL; i++)
        t->work->values[i] = (float)w->acc[i];
    finish(t, t->work->values, out);
}

void mona_c_conv_row(const mona_conv_row *row)
{
    conv_row(row);
}

/* ---- depthwise ------------------------------------------------------------------------------ */

/* Of scratch it uses the values alone, so that it serves instruction sets with less scratch too. */
_Static_assert(sizeof((work *)0)->values <= MONA_SCRATCH_NEON, "they fit any");

/* Adds column t of a step to the sums of all pixels: `w` are its weights of 16 channels, p its
 * bytes of the first pixel. */
static void add_bytes(const tile *t, const uint8_t *p, const int16_t *restrict w)
{
    int32_t *restrict acc = t->work->sums;
    int16_t a[AC_FRACTAL];
    for (uint32_t i = 0; i < t->pixels; i++, acc += AC_FRACTAL, p += t->conv->pixel_bytes) {
        widen_bytes(a, p, AC_FRACTAL, t->conv->source_type == MONA_S8);
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            acc[o] += a[o] * w[o];
    }
}

static void add_halves(const tile *t, const uint8_t *p, const float *restrict w)
{
    float *restrict acc = t->work->values;
    float a[AC_FRACTAL];
    for (uint32_t i = 0; i < t->pixels; i++, acc += AC_FRACTAL, p += t->conv->pixel_bytes) {
        mona_to_floats(a, p, MONA_F16, AC_FRACTAL);
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            acc[o] += a[o] * w[o];
    }
}

static void depthwise_int8_tile(const tile *t)
{
    work *to = t->work;
    const int8_t *w = (const int8_t *)t->conv->weights + t->conv->weights_offset[t->n];
    fill(to->sums, t->bias, t->pixels);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint8_t *p = t->runs[r] + (size_t)t->x * t->conv->pixel_bytes;
        const uint32_t columns = t->conv->run_elements[t->first_run + r];
        for (uint32_t k = 0; k < columns; k++, p += AC_FRACTAL) {
            int16_t column[AC_FRACTAL];
            for (uint32_t o = 0; o < AC_FRACTAL; o++)
                column[o] = w[k / 4 * 64 + o * 4 + k % 4];
            add_bytes(t, p, column);
        }
        w += (size_t)(columns + 3) / 4 * 64;
    }
    for (uint32_t i = 0; i < t->pixels * AC_FRACTAL; i++)
        to->values[i] = (float)to->sums[i];
}

static void depthwise_f16_tile(const tile *t)
{
    const float *w =
        (const float *)(const void *)(t->conv->weights + t->conv->weights_offset[t->n]);
    fill(t->work->values, t->bias, t->pixels);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint8_t *p = t->runs[r] + (size_t)t->x * t->conv->pixel_bytes;
        for (uint32_t k = t->conv->run_elements[t->first_run + r]; k > 0; k--, w += AC_FRACTAL) {
            add_halves(t, p, w);
            p += AC_FRACTAL * 2;
        }
    }
}

void mona_c_depthwise_row(const mona_depthwise_row *row)
{
    const size_t pixel = AC_FRACTAL * mona_type_size(row->output.type);
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        tile t = tile_of(row, n);
        uint8_t *out = row->output.data + n * row->output.block_stride;
        for (; t.x < row->pixels; t.x += t.pixels, out += t.pixels * pixel) {
            t.pixels = min_u32(TILE, row->pixels - t.x);
            if (row->conv->source_type == MONA_F16)
                depthwise_f16_tile(&t);
            else
                depthwise_int8_tile(&t);
            finish(&t, t.work->values, out);
        }
    }
}
