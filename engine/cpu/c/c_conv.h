// SPDX-License-Identifier: Apache-2.0
/* The convolution row program of CPUs without vectors, or with code vectorised by the compiler:
 * tiles, FP16, the epilogue. A file that includes it defines before
 *
 *   TILE          pixels of a tile, even
 *   PART, STAGE   FP16: elements of K, and of a row, that are widened at a time
 *   int8_work     its needs in scratch for INT8
 *
 * and after it int8_tile(), which computes a tile and calls finish() or does the same. Results are
 * exact for vectors of any length.
 *
 * FP16: elements are widened to fp32, and the 16 outputs that lie side by side in the weights are
 * the lanes. Products of two fp16 values are exact in fp32, so rounding product and sum separately
 * gives the fused multiply-add that mona_conv defines. The epilogue has one loop over a tile for
 * each rounding. */
#ifndef MONA_C_CONV_H
#define MONA_C_CONV_H

#include "engine/arith.h"
#include "engine/cpu/c/c_vector.h"
#include "engine/cpu/c/rows.h"
#include "engine/cpu/c/scatter.h"

/* In scratch. */
typedef struct work {
    union { /* accumulators, [pixel][output] */
        _Alignas(64) float values[TILE * AC_FRACTAL];
        int32_t sums[TILE * AC_FRACTAL]; /* of a depthwise convolution in INT8 */
    };
    union {
        int8_work int8;
        _Alignas(64) float stage[STAGE];
    };
    uint8_t results[MONA_MAX_GROUP][TILE * AC_FRACTAL * 2]; /* that are to be spread */
} work;

/* Pixels of one block of 16 outputs. */
typedef struct tile {
    work *work;
    bool all_turned; /* INT8: the weights in scratch are those of all of K */
    const mona_conv_row *row;
    const mona_conv *conv;
    uint32_t n, x, pixels;
    const uint8_t *const *runs;
    uint32_t first_run, run_count;
    const void *bias; /* that of the block */
} tile;

/* Fills accumulators with the bias of 16 outputs. pixels: may be one more than the tile has, if
 * that is odd. */
static void fill(void *acc, const void *bias, uint32_t pixels)
{
    enum { PIXEL = AC_FRACTAL * 4 };
    for (uint32_t i = 0; i < pixels && i < TILE; i++)
        memcpy((uint8_t *)acc + (size_t)i * PIXEL, bias, PIXEL);
}

/* Computes the tile's results, 16 of each pixel. */
static void int8_tile(tile *t, uint8_t *out);

/* A place in K: a step of a run. */
typedef struct place {
    uint32_t run, step;
} place;

/* ---- FP16 ----------------------------------------------------------------------------------- */

/* Adds the products of `steps` steps to the accumulators of a pixel. */
static void multiply(float *restrict acc, const float *restrict a, const float *restrict w,
                     uint32_t steps)
{
    enum { N = AC_FRACTAL };
    for (; steps >= 4; steps -= 4, a += 4, w += (size_t)4 * N)
        for (uint32_t o = 0; o < N; o++)
            acc[o] =
                acc[o] + a[0] * w[o] + a[1] * w[N + o] + a[2] * w[2 * N + o] + a[3] * w[3 * N + o];
    for (; steps; steps--, a++, w += N)
        for (uint32_t o = 0; o < N; o++)
            acc[o] += a[0] * w[o];
}

/* Elements from one pixel to the next. */
static uint32_t distance_of(const mona_conv *c)
{
    return c->c0 * c->stride;
}

static void f16_tile(const tile *t)
{
    float *values = t->work->values, *stage = t->work->stage;
    const mona_conv *c = t->conv;
    const uint32_t distance = distance_of(c);
    const float *w = (const float *)(const void *)(c->weights + c->weights_offset[t->n]);
    fill(values, t->bias, t->pixels);
    for (uint32_t r = 0; r < t->run_count; r++) {
        const uint32_t total = mona_run_steps(c, t->first_run + r);
        const uint8_t *run = t->runs[r] + (size_t)t->x * c->pixel_bytes;
        for (uint32_t first = 0, steps; first < total; first += steps) {
            steps = min_u32(PART, total - first);
            mona_to_floats(stage, run + (size_t)first * 2, MONA_F16,
                           (size_t)(t->pixels - 1) * distance + steps);
            for (uint32_t i = 0; i < t->pixels; i++)
                multiply(values + (size_t)i * AC_FRACTAL, stage + (size_t)i * distance, w, steps);
            w += (size_t)steps * AC_FRACTAL;
        }
    }
}

/* ---- the epilogue --------------------------------------------------------------------------- */

/* t[pixel][output] = f16(t * scale[output]) */
static void scale_values(float *t, uint32_t pixels, const float *scale)
{
    for (uint32_t i = 0; i < pixels; i++, t += AC_FRACTAL)
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            t[o] = mona_round_finite(t[o] * scale[o]);
}

static void activate(const tile *t, float *v, uint8_t activation)
{
    const mona_epilogue *e = &t->conv->epilogue;
    if (activation != MONA_ACT_PRELU)
        mona_activate_all(v, (size_t)t->pixels * AC_FRACTAL, activation, e, NULL);
    else
        for (uint32_t i = 0; i < t->pixels; i++, v += AC_FRACTAL)
            mona_activate_all(v, AC_FRACTAL, activation, e, e->slope + (size_t)t->n * AC_FRACTAL);
}

/* Adds the scaled residual. Channels that a small channel block lacks are zero. */
static void add_residual(const tile *t, float *v)
{
    const mona_row *r = &t->row->residual;
    const bool broadcast = t->conv->epilogue.broadcast;
    const float scale = t->conv->epilogue.residual_scale;
    const size_t element = mona_type_size(r->type), pixel = r->c0 * element;
    const uint32_t channel = broadcast ? 0 : t->n * AC_FRACTAL;
    const uint32_t there = broadcast ? 1 : min_u32(r->c0, AC_FRACTAL);
    const uint8_t *from =
        r->data + channel / r->c0 * r->block_stride + t->x * pixel + channel % r->c0 * element;
    for (uint32_t i = 0; i < t->pixels; i++, v += AC_FRACTAL, from += pixel) {
        float residual[AC_FRACTAL] = {0};
        mona_to_floats(residual, from, r->type, there);
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            residual[o] = mona_round_finite(residual[o] * scale);
        for (uint32_t o = there; o < AC_FRACTAL; o++) /* a negative scale would have made them -0 */
            residual[o] = broadcast ? residual[0] : 0;
        for (uint32_t o = 0; o < AC_FRACTAL; o++)
            v[o] = mona_round_finite(v[o] + residual[o]);
    }
}

/* Applies the epilogue to accumulators as floats, and stores the results. */
static void finish(const tile *t, float *v, uint8_t *out)
{
    const mona_epilogue *e = &t->conv->epilogue;
    const uint32_t count = t->pixels * AC_FRACTAL;
    static const float one[AC_FRACTAL] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    scale_values(v, t->pixels, e->scale ? e->scale + (size_t)t->n * AC_FRACTAL : one);
    activate(t, v, e->activation);
    if (e->add)
        add_residual(t, v);
    activate(t, v, e->activation_after_add);
    for (uint32_t i = 0; i < count && e->output_scale != 1; i++)
        v[i] = mona_round_finite(v[i] * e->output_scale);
    mona_from_floats(out, v, t->row->output.type, count, 255);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Most pixels of a tile: for FP16 so many that the elements of PART of a run fit the stage. */
static uint32_t tile_pixels(const mona_conv *c)
{
    return c->source_type == MONA_F16 ? min_u32(TILE, (STAGE - PART) / distance_of(c) + 1) : TILE;
}

static tile tile_of(const mona_conv_row *row, uint32_t n)
{
    const mona_conv *c = row->conv;
    return (tile){.work = (work *)(void *)row->scratch,
                  .row = row,
                  .conv = c,
                  .n = n,
                  .runs = row->runs + c->first_run[n],
                  .first_run = c->first_run[n],
                  .run_count = c->run_count[n],
                  .bias = (const int32_t *)c->bias + (size_t)n * AC_FRACTAL};
}

/* Computes pixels [x, x + pixels) of block n. out: 16 results a pixel. */
static void conv_block(const mona_conv_row *row, uint32_t n, uint32_t x, uint32_t pixels,
                       uint8_t *out)
{
    const mona_conv *c = row->conv;
    const uint32_t max = tile_pixels(c), end = x + pixels;
    const size_t pixel = AC_FRACTAL * mona_type_size(row->output.type);
    tile t = tile_of(row, n);
    for (t.x = x; t.x < end; t.x += t.pixels, out += t.pixels * pixel) {
        t.pixels = min_u32(max, end - t.x);
        if (c->source_type != MONA_F16) {
            int8_tile(&t, out);
            continue;
        }
        f16_tile(&t);
        finish(&t, t.work->values, out);
    }
}

static const mona_isa scatter_by = {.unpack_row = mona_c_unpack_row};

static void conv_scattered(const mona_conv_row *row)
{
    work *w = (work *)(void *)row->scratch;
    const uint32_t group = mona_scatter_group(row);
    const mona_row source = {w->results[0], sizeof w->results[0], AC_FRACTAL, row->output.type};
    for (uint32_t n = 0; n < row->conv->blocks; n += group)
        for (uint32_t x = 0; x < row->pixels; x += TILE) {
            const uint32_t pixels = min_u32(TILE, row->pixels - x);
            for (uint32_t i = 0; i < group && n + i < row->conv->blocks; i++)
                conv_block(row, n + i, x, pixels, w->results[i]);
            mona_scatter(&scatter_by, row, &source, n, x, pixels);
        }
}

static void conv_row(const mona_conv_row *row)
{
    const mona_row *o = &row->output;
    if (mona_scatter_needed(row))
        conv_scattered(row);
    else
        for (uint32_t n = 0; n < row->conv->blocks; n++)
            conv_block(row, n, 0, row->pixels, o->data + n * o->block_stride);
}

#endif
