// SPDX-License-Identifier: Apache-2.0
/* Convolutions with 16 registers of 256 bits, for AVX2 and for AVX-VNNI. Each includes this file
 * after defining how its INT8 arithmetic differs:
 *
 *   ELEMENT           bytes of an element as an operand, 1 or 2
 *   dot               dot(acc, a, b) adds to each 32-bit lane of acc the products of its 4 /
 *                     ELEMENT elements of a and b, exactly
 *   convert_elements  converts elements of a source to operands
 *   convert_weights   converts the weights of some steps to operands and returns where they are
 *
 * A register block is 6 pixels x 16 outputs: 12 registers are accumulators, two hold the weights of
 * 16 outputs, one holds an operand of a pixel in all lanes, and one is left for intermediate
 * values. FP16 uses the same block, with fp32 multiply-adds.
 *
 * Elements that must be converted are, for all runs of some pixels at once (conv_pieces()), so that
 * each is converted once and not for every pixel and every block of outputs that reads it. Weights
 * are converted for each tile of pixels. If those of a tile do not fit, K is processed in parts,
 * and accumulators stay in memory between parts. */
#ifndef MONA_AVX2_CONV_H
#define MONA_AVX2_CONV_H

#include "engine/cpu/x86/x86_conv.h"

enum {
    BLOCK = 6,
    DEPTHWISE = 7,      /* pixels of a depthwise block */
    TILE = 204,         /* pixels, a multiple of BLOCK */
    WEIGHT_STEPS = 256, /* most steps of a run, and so of a part of K */
    USUAL_STEPS = 96,   /* of parts with several runs: weights and elements of a block fit 32 KiB */
    WHOLE = 32,         /* elements are converted in multiples of this */
    OPERANDS_BYTES = MONA_SCRATCH_TILES - MONA_SCRATCH, /* at most of converted elements */
};

#include "engine/cpu/x86/avx2_epilogue.h"

/* ---- INT8 ----------------------------------------------------------------------------------- */

/* A part of K: some runs of the job. */
typedef struct part {
    uint32_t run, runs;
    const uint8_t *weights; /* operands */
    bool plain;             /* the epilogue can be done in registers */
} part;

static bool converts_elements(const mona_conv *c)
{
    return !c->operands && c->source_type != MONA_F16 &&
           (ELEMENT == 2 || c->source_type == MONA_S8);
}

/* Bytes from one run of converted elements to the next, for a tile of `pixels` pixels. No run of a
 * block is longer than its first. */
static uint32_t run_stride(const mona_conv *c, uint32_t pixels)
{
    const uint32_t count = (pixels - 1) * pixel_elements(c) + c->run_elements[c->first_run[0]];
    return (count + WHOLE - 1) / WHOLE * WHOLE * ELEMENT;
}

/* The number of runs from p->run on whose weights fit the buffer. *steps: how many steps these
 * have. */
static uint32_t runs_that_fit(const job *j, const part *p, uint32_t *steps)
{
    uint32_t runs = 0;
    for (*steps = 0; p->run + runs < j->run_count; runs++) {
        const uint32_t more = mona_run_steps(j->conv, j->first_run + p->run + runs);
        if (ELEMENT == 2 && runs && *steps + more > USUAL_STEPS)
            break;
        *steps += more;
    }
    return runs;
}

/* Converts the runs up to `end` of a row for `pixels` pixels from x on, and tells where they are.
 * The last step may read beyond the last run. */
static void convert_runs(const mona_conv_row *row, uint32_t end, uint32_t x, uint32_t pixels,
                         const uint8_t **runs, uint8_t *to)
{
    const mona_conv *c = row->conv;
    const uint32_t distance = pixel_elements(c), stride = run_stride(c, pixels);
    for (uint32_t r = c->first_run[0]; r < end; r++, to += stride) {
        runs[r] = to;
        convert_elements(to, row->runs[r] + (size_t)x * distance,
                         (pixels - 1) * distance + c->run_elements[r], c->source_type == MONA_S8);
    }
}

INLINE void accumulate(__m256i *acc, const job *j, const part *p, const uint32_t pixels,
                       const uint32_t distance, uint32_t x)
{
    const uint8_t *w = p->weights;
    for (uint32_t r = 0; r < p->runs; r++) {
        const uint32_t steps =
            (j->conv->run_elements[j->first_run + p->run + r] + 3u) / 4 * ELEMENT;
        const uint8_t *a = j->runs[p->run + r] + (size_t)(x - j->runs_origin) * distance;
        for (uint32_t s = 0; s < steps; s++, a += 4, w += 64) {
            FORGET(a);
            const __m256i b0 = load_vector(w), b1 = load_vector(w + 32);
            UNROLL
            for (uint32_t i = 0; i < pixels; i++) {
                int32_t lane;
                memcpy(&lane, a + (size_t)i * distance, sizeof lane);
                const __m256i all = _mm256_set1_epi32(lane);
                acc[i * 2] = dot(acc[i * 2], all, b0);
                KEEP_IN_PLACE(acc[i * 2]);
                acc[i * 2 + 1] = dot(acc[i * 2 + 1], all, b1);
                KEEP_IN_PLACE(acc[i * 2 + 1]);
            }
        }
    }
}

INLINE void int8_store(const job *j, const bool plain, const __m256i *acc, const uint32_t pixels,
                       uint32_t x)
{
    _Alignas(64) int32_t tile[DEPTHWISE * AC_FRACTAL];
    FORGET(j); /* otherwise constants of the epilogue are computed early and push accumulators
                  out of registers */
    if (plain && !j->limits->add) {
        plain_store(j, false, acc, pixels, x);
    } else if (plain) {
        plain_store(j, true, acc, pixels, x);
    } else {
        UNROLL
        for (uint32_t i = 0; i < pixels * 2; i++)
            store_vector(tile + (size_t)i * 8, acc[i]);
        finish_block(j, x, tile, tile + pixels * AC_FRACTAL);
    }
}

/* Computes a register block in part p. rest: where accumulators are kept between parts of K. */
INLINE void int8_block(const job *j, const part *p, const uint32_t pixels, const uint32_t distance,
                       uint32_t x, int32_t *rest)
{
    const int32_t *from = p->run ? rest : j->start[0];
    const size_t apart = p->run ? AC_FRACTAL : 0;
    __m256i acc[BLOCK * 2];
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        acc[i] = load_vector(from + i / 2 * apart + i % 2 * 8);
    accumulate(acc, j, p, pixels, distance, x);
    if (p->run + p->runs == j->run_count) {
        int8_store(j, p->plain, acc, pixels, x);
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels * 2; i++)
        store_vector(rest + (size_t)i * 8, acc[i]);
}

/* Computes pixels x to x + count - 1, count >= pixels. Blocks that overlap keep separate
 * accumulators. */
INLINE void int8_blocks(const job *j, const part *p, const uint32_t pixels, const uint32_t distance,
                        uint32_t x, uint32_t count, int32_t *rest)
{
    for (uint32_t i = 0; i < count; i += pixels)
        int8_block(j, p, pixels, distance, x + min_u32(i, count - pixels),
                   rest + (size_t)i * AC_FRACTAL);
}

/* How many of `count` >= BLOCK pixels are to be computed in blocks of BLOCK - 1, so that those of
 * BLOCK after them end at the last pixel. */
static uint32_t pixels_of_shorter(uint32_t count)
{
    const uint32_t blocks = (count + BLOCK - 1) / BLOCK;
    return min_u32((BLOCK * blocks - count) * (BLOCK - 1), count);
}

static void int8_part(const job *j, const part *p, uint32_t x, uint32_t count, int32_t *rest)
{
    enum { USUAL = AC_FRACTAL * ELEMENT };
    const uint32_t distance = pixel_elements(j->conv) * ELEMENT;
    const bool usual = distance == USUAL && count >= BLOCK;
    const uint32_t first = usual ? pixels_of_shorter(count) : 0;
    if (count < BLOCK)
        int8_blocks(j, p, 1, distance, x, count, rest);
    else if (!usual)
        int8_blocks(j, p, BLOCK, distance, x, count, rest);
    int8_blocks(j, p, BLOCK - 1, USUAL, x, first, rest);
    int8_blocks(j, p, BLOCK, USUAL, x + first, usual ? count - first : 0,
                rest + (size_t)first * AC_FRACTAL);
}

/* In scratch; bytes are operands as they are, and K has one part. */
typedef struct tile_work {
    _Alignas(64) uint8_t weights[ELEMENT == 2 ? WEIGHT_STEPS * 64 * ELEMENT : 64];
    _Alignas(64) int32_t rest[TILE * AC_FRACTAL];
} tile_work;

enum { TILE_AT = ELEMENT == 2 ? MONA_SCRATCH_TILES : WORK_AT };

_Static_assert(sizeof(tile_work) <= (ELEMENT == 2 ? MONA_SCRATCH_WINOGRAD - TILE_AT : WORK_BYTES),
               "it fits");

/* Computes pixels whose runs hold operands, in equal tiles; the last is moved back. */
static void int8_tiles(const job *j, bool plain)
{
    tile_work *work = (tile_work *)(void *)(j->row->scratch + TILE_AT);
    const uint32_t tiles = (j->pixels + TILE - 1) / TILE;
    const uint32_t count = (j->pixels + tiles - 1) / tiles;
    for (uint32_t i = 0; i < j->pixels; i += count) {
        const uint8_t *w = j->weights[0];
        part p = {.plain = plain};
        for (uint32_t steps; p.run < j->run_count; p.run += p.runs, w += (size_t)steps * 64) {
            p.runs = runs_that_fit(j, &p, &steps);
            p.weights = convert_weights(work->weights, w, steps);
            int8_part(j, &p, j->origin + min_u32(i, j->pixels - count), count, work->rest);
        }
    }
}

/* Whether int8_store can do the epilogue in registers. */
static bool int8_plain(const job *j)
{
    return j->limits->plain && (!j->limits->add || residual_in_bytes(j->row));
}

static void int8_run(const job *source)
{
    _Alignas(64) int32_t start[AC_FRACTAL];
    job j = *source;
    const bool plain = int8_plain(&j);
    int8_start(&j, 0, plain, start);
    int8_tiles(&j, plain);
}

/* ---- FP16 ----------------------------------------------------------------------------------- */

/* Adds one element of K at a time, in the order that mona_conv defines. distance: elements between
 * pixels. */
INLINE void f16_steps(vf *acc, const uint32_t pixels, const uint32_t distance, const float *a,
                      uint32_t steps, const float *w)
{
    for (uint32_t s = 0; s < steps; s++, a++, w += LANES) {
        FORGET(a);
        const vf b = vf_load(w);
        UNROLL
        for (uint32_t i = 0; i < pixels; i++) {
            const __m256 all = _mm256_set1_ps(a[(size_t)i * distance]);
            acc[i].l = _mm256_fmadd_ps(all, b.l, acc[i].l);
            KEEP_IN_PLACE(acc[i].l);
            acc[i].h = _mm256_fmadd_ps(all, b.h, acc[i].h);
            KEEP_IN_PLACE(acc[i].h);
        }
    }
}

/* fp16 results of a clamp are stored from registers. */
INLINE void f16_store(const job *j, const vf *acc, const uint32_t pixels, uint32_t x)
{
    _Alignas(64) float tile[DEPTHWISE * AC_FRACTAL];
    const bool halves = j->row->output.type == MONA_F16;
    if (j->limits->possible && !j->limits->add && halves) {
        uint8_t *out = result_of(j, 0, x);
        UNROLL
        for (uint32_t i = 0; i < pixels; i++, out += AC_FRACTAL * 2)
            vf_to_f16(out, apply(j->limits->stage[0], acc[i]));
        return;
    }
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        vf_store(tile + (size_t)i * AC_FRACTAL, acc[i]);
    finish_block(j, x, tile, tile + pixels * AC_FRACTAL);
}

INLINE void f16_block(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t x)
{
    float *stage = (float *)(void *)(j->row->scratch + WORK_AT); /* STAGE + LANES */
    const mona_conv *c = j->conv;
    const uint32_t chunk = stage_elements(c, pixels);
    const float *w = (const float *)(const void *)j->weights[0];
    vf acc[BLOCK];
    UNROLL
    for (uint32_t i = 0; i < pixels; i++)
        acc[i] = vf_load(j->start[0]);
    for (uint32_t r = 0; r < j->run_count; r++) {
        const uint32_t run_steps = mona_run_steps(c, j->first_run + r);
        const float *a = (const float *)(const void *)j->runs[r] + (size_t)x * distance;
        for (uint32_t first = 0, steps; first < run_steps; first += steps, w += steps * LANES) {
            steps = c->operands ? run_steps : min_u32(chunk, run_steps - first);
            if (!c->operands)
                widen(stage, j->runs[r] + ((size_t)x * distance + first) * 2,
                      (pixels - 1) * distance + steps);
            f16_steps(acc, pixels, distance, c->operands ? a : stage, steps, w);
        }
    }
    f16_store(j, acc, pixels, x);
}

INLINE void f16_blocks(const job *j, const uint32_t pixels, const uint32_t distance, uint32_t first,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i += pixels)
        f16_block(j, pixels, distance, j->origin + first + min_u32(i, count - pixels));
}

static void f16_run(const job *j)
{
    const uint32_t distance = pixel_elements(j->conv);
    const bool single = j->pixels < BLOCK || !stage_fits(j->conv, BLOCK);
    const uint32_t first = single ? 0 : pixels_of_shorter(j->pixels);
    if (single)
        f16_blocks(j, 1, distance, 0, j->pixels);
    f16_blocks(j, BLOCK - 1, distance, 0, first);
    f16_blocks(j, BLOCK, distance, first, single ? 0 : j->pixels - first);
}

/* ---- rows ----------------------------------------------------------------------------------- */

#include "engine/cpu/x86/avx2_winograd.h"

static void run_blocks(job *j, uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        if (winograd_serves(j->row))
            winograd_run(j);
        else if (j->conv->source_type == MONA_F16)
            f16_run(j);
        else
            int8_run(j);
        next_block(j);
    }
}

#include "engine/cpu/x86/avx2_depthwise.h"
#include "engine/cpu/x86/avx2_narrow.h"

/* Pixels whose operands fit, besides the addresses of `runs` runs. Where filters are very large,
 * there may be none. */
static uint32_t pixels_that_fit(const mona_conv *c, uint32_t runs)
{
    const uint32_t room = (OPERANDS_BYTES - WHOLE * ELEMENT) / runs, longest = c->first_run[0];
    const uint32_t elements = room / (WHOLE * ELEMENT) * WHOLE - WHOLE; /* wraps if too few */
    const bool some = room >= 2 * WHOLE * ELEMENT && elements >= c->run_elements[longest] &&
                      mona_run_steps(c, longest) <= WEIGHT_STEPS;
    return some ? (elements - c->run_elements[longest]) / pixel_elements(c) + 1 : 0;
}

/* Computes a row whose elements are converted, for all outputs at once, in equal pieces. */
static void conv_pieces(const mona_conv_row *row, const mona_isa *by)
{
    const mona_conv *c = row->conv;
    const uint32_t end = c->first_run[c->blocks - 1] + c->run_count[c->blocks - 1];
    const uint32_t most = pixels_that_fit(c, end);
    if (!most) {
        mona_c_conv_row(row);
        return;
    }
    const uint32_t pieces = (row->pixels + most - 1) / most;
    const uint32_t count = (row->pixels + pieces - 1) / pieces;
    const uint8_t **runs = (const uint8_t **)(void *)(row->scratch + MONA_SCRATCH);
    mona_conv conv = *c;
    mona_conv_row part = *row;
    conv.operands = true;
    part.conv = &conv;
    part.runs = runs;
    for (uint32_t i = 0; i < row->pixels; i += count) {
        const uint32_t x = min_u32(i, row->pixels - count);
        convert_runs(row, end, x, count, runs, (uint8_t *)(runs + end));
        conv_pixels(&part, by, x, count);
    }
}

static void conv_with(const mona_conv_row *row, const mona_isa *by)
{
    if (narrow_possible(row))
        conv_narrow(row, by);
    else if (winograd_serves(row))
        conv_winograd(row, by);
    else if (converts_elements(row->conv))
        conv_pieces(row, by);
    else
        conv_pixels(row, by, 0, row->pixels);
}

#endif
