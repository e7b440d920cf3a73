// SPDX-License-Identifier: Apache-2.0
/* Convolution row programs on x86: everything around the arithmetic, which differs between AVX2 and
 * AVX-512. Each includes this file once, after its vector type `vf`, and then defines run_blocks().
 *
 * Pixels are computed in register blocks. If a row is not a multiple of the block, the last block
 * is moved back to end at the last pixel. Some pixels are then computed twice, with the same
 * result. */
#ifndef MONA_X86_CONV_H
#define MONA_X86_CONV_H

#include "engine/cpu/c/scatter.h"
#include "engine/cpu/c/vector_epilogue.h"
#include "engine/cpu/narrow.h"

enum {
    STAGE = 2048,        /* elements of a run that are converted at a time, on the stack */
    SCATTER_PIXELS = 96, /* pixels that are computed before they are spread */
    MAX_PIXELS = 24,     /* pixels of a register block */
    /* Scratch: results that are to be spread, then what a block needs. */
    WORK_AT = MONA_MAX_GROUP * SCATTER_PIXELS * AC_FRACTAL * 2,
    WORK_BYTES = MONA_SCRATCH - WORK_AT,
};

/* One block of 16 outputs, or two with the same runs, while they are computed. */
typedef struct job {
    const mona_conv_row *row;
    const mona_conv *conv;
    const clamps *limits;
    uint32_t n; /* the first block */
    const uint8_t *const *runs;
    uint32_t runs_origin; /* the pixel whose runs begin at the addresses in `runs` */
    uint32_t first_run, run_count;
    const uint8_t *weights[2];
    const void *start[2]; /* 16 accumulators each */
    uint8_t *out[2];      /* where rounded results of pixel `origin` go, 16 channels a pixel */
    uint32_t origin, pixels;
    size_t pixel_size; /* bytes of a result */
} job;

/* Names every member, since gcc would else clear the whole job first. */
static job job_of(const mona_conv_row *row, const clamps *limits, uint32_t n)
{
    const mona_conv *c = row->conv;
    const bool two = n + 1 < c->blocks;
    const int32_t *bias =
        (c->unsigned_bias ? c->unsigned_bias : (const int32_t *)c->bias) + (size_t)n * AC_FRACTAL;
    return (job){
        .row = row,
        .conv = c,
        .limits = limits,
        .n = n,
        .runs = row->runs + c->first_run[n],
        .runs_origin = 0,
        .first_run = c->first_run[n],
        .run_count = c->run_count[n],
        .weights = {c->weights + c->weights_offset[n],
                    two ? c->weights + c->weights_offset[n + 1] : NULL},
        .start = {bias, two ? bias + AC_FRACTAL : NULL},
        .out = {NULL, NULL},
        .origin = 0,
        .pixels = 0,
        .pixel_size = AC_FRACTAL * mona_type_size(row->output.type),
    };
}

static uint8_t *result_of(const job *j, uint32_t b, uint32_t x)
{
    return j->out[b] + (size_t)(x - j->origin) * j->pixel_size;
}

/* Elements from one output pixel to the next. */
static uint32_t pixel_elements(const mona_conv *c)
{
    return c->c0 * c->stride;
}

/* Elements of a run to convert at a time for a register block of so many pixels; a multiple of
 * 4. */
INLINE uint32_t stage_elements(const mona_conv *c, uint32_t pixels)
{
    return (STAGE - (pixels - 1) * pixel_elements(c)) / 4 * 4;
}

/* Whether all runs of block n consist of whole taps of 16 channels. */
INLINE bool whole_taps(const mona_conv *c, uint32_t n)
{
    return c->run_elements[c->first_run[n] + c->run_count[n] - 1] % 16 == 0;
}

INLINE bool stage_fits(const mona_conv *c, uint32_t pixels)
{
    return (pixels - 1) * pixel_elements(c) <= STAGE / 2;
}

/* Whether bytes of a residual lie like the results: 16 channels a pixel. */
static bool residual_in_bytes(const mona_conv_row *row)
{
    return !row->conv->epilogue.broadcast && row->residual.c0 == AC_FRACTAL;
}

/* Bits of 1.5 * 2^23, at which sums of INT8 start for a plain epilogue, see avx512_epilogue.h. */
enum { MAGIC = 0x4b400000 };

/* Sets what the accumulators of the job's block b start at. */
INLINE void int8_start(job *j, uint32_t b, bool plain, int32_t start[AC_FRACTAL])
{
    const uint32_t *from = j->start[b], magic = plain ? MAGIC : 0;
    for (uint32_t i = 0; i < AC_FRACTAL; i++)
        start[i] = (int32_t)(from[i] + magic);
    j->start[b] = start;
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

/* Converts count fp16 elements of a run to fp32. Up to 15 more are read. */
INLINE void widen(float *stage, const uint8_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i += LANES)
        vf_store(stage + i, vf_f16(from + (size_t)i * 2));
}

/* ---- depthwise, FP16 ------------------------------------------------------------------------ */

/* Adds the products of `taps` columns of the filter, for pixels `stride` columns apart. A column
 * that serves several pixels is converted once. */
INLINE void depthwise_taps(vf *acc, const uint8_t *p, const float *w, const uint32_t taps,
                           const uint32_t pixels, const uint32_t stride)
{
    UNROLL
    for (uint32_t k = 0; k < (pixels - 1) * stride + taps; k++) {
        const vf column = vf_f16(p + (size_t)k * 32);
        UNROLL
        for (uint32_t i = 0; i < pixels; i++)
            if (k - i * stride < taps) /* wraps where the pixel's filter begins later */
                acc[i] = vf_fmadd(column, vf_load(w + (k - i * stride) * LANES), acc[i]);
    }
}

/* The accumulators of `pixels` pixels from x on. */
INLINE void depthwise_sums(vf *acc, const job *j, const uint32_t pixels, const uint32_t stride,
                           uint32_t x)
{
    const float *w = (const float *)(const void *)j->weights[0];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint8_t *p = j->runs[r] + (size_t)x * j->conv->pixel_bytes;
        uint32_t steps = mona_run_steps(j->conv, j->first_run + r);
        for (; steps >= 3; steps -= 3, p += 3 * 32, w += 3 * LANES)
            depthwise_taps(acc, p, w, 3, pixels, stride);
        for (; steps > 0; steps--, p += 32, w += LANES)
            depthwise_taps(acc, p, w, 1, pixels, stride);
    }
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Computes pixels [j->origin, j->origin + j->pixels) of the job's `blocks` blocks, 1 or 2, and may
 * change the job: where rows are short, copies of it take time. noinline keeps its stack frame out
 * of its callers', one of which is large too. */
static __attribute__((noinline)) void run_blocks(job *j, uint32_t blocks);

static void conv_direct(const mona_conv_row *row, const clamps *limits, uint32_t x, uint32_t count)
{
    const mona_conv *c = row->conv;
    for (uint32_t n = 0, blocks; n < c->blocks; n += blocks) {
        job j = job_of(row, limits, n);
        const bool pair = n + 1 < c->blocks && c->first_run[n] == c->first_run[n + 1] &&
                          c->run_count[n] == c->run_count[n + 1];
        blocks = pair ? 2 : 1;
        j.out[0] = row->output.data + n * row->output.block_stride + x * j.pixel_size;
        j.out[1] = j.out[0] + row->output.block_stride;
        j.origin = j.runs_origin = x;
        j.pixels = count;
        run_blocks(&j, blocks);
    }
}

static void conv_scattered(const mona_conv_row *row, const clamps *limits, const mona_isa *by,
                           uint32_t first, uint32_t count)
{
    uint8_t(*results)[SCATTER_PIXELS * AC_FRACTAL * 2] = (void *)row->scratch;
    const uint32_t group = mona_scatter_group(row);
    const mona_row tile = {results[0], sizeof *results, AC_FRACTAL, row->output.type};
    const uint32_t parts = (count + SCATTER_PIXELS - 1) / SCATTER_PIXELS;
    const uint32_t pixels = (count + parts - 1) / parts; /* of each; the last is moved back */
    for (uint32_t n = 0; n < row->conv->blocks; n += group)
        for (uint32_t i = 0; i < parts; i++) {
            const uint32_t x = first + min_u32(i * pixels, count - pixels);
            for (uint32_t b = 0; b < group && n + b < row->conv->blocks; b++) {
                job j = job_of(row, limits, n + b);
                j.out[0] = results[b];
                j.origin = x;
                j.runs_origin = first;
                j.pixels = pixels;
                run_blocks(&j, 1);
            }
            mona_scatter(by, row, &tile, n, x, pixels);
        }
}

/* Computes `count` pixels from x on, whose runs begin at the addresses in row->runs. */
static void conv_pixels(const mona_conv_row *row, const mona_isa *by, uint32_t x, uint32_t count)
{
    const clamps limits = clamps_of(row);
    if (mona_scatter_needed(row))
        conv_scattered(row, &limits, by, x, count);
    else
        conv_direct(row, &limits, x, count);
}

/* Makes the second block of a pair the first. */
INLINE void next_block(job *j)
{
    j->n++;
    j->weights[0] = j->weights[1];
    j->start[0] = j->start[1];
    j->out[0] = j->out[1];
}

#endif
