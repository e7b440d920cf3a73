// SPDX-License-Identifier: Apache-2.0
/* Convolution row programs of Arm and RISC-V: everything around the arithmetic. Each instruction
 * set includes this file once, after a vector type and
 *
 *   TILE            pixels whose accumulators go to the epilogue together, through memory
 *   LAST_TILE       what pixels of a row's last tile are a multiple of, so that its register
 *                   blocks are full
 *   SCATTER_PIXELS  pixels computed before they are scattered: whole tiles
 *
 *   BYTES_AS_THEY_ARE   defined if U8 sources are multiplied as unsigned bytes
 *   TILES_FINISH        defined if a tile may have its results made from registers
 *
 * and then defines begin_tiles(), conv_tile() or tile_finished() and, unless BYTES_AS_THEY_ARE,
 * add_sums().
 *
 * A row is computed in tiles of pixels, and a tile in register blocks. The last tile is as short as
 * LAST_TILE allows. If it is longer than what is left, or a tile not a multiple of the block, it is
 * moved back to end at the last pixel. Some pixels are then computed twice, with one result. */
#ifndef MONA_VECTOR_CONV_H
#define MONA_VECTOR_CONV_H

#include "engine/cpu/c/scatter.h"
#include "engine/cpu/c/vector_epilogue.h"

enum {
    STEP_BYTES = 64, /* weights of a step: 16 outputs of 4 bytes */
    QUAD = 4,        /* outputs in a register */
};

/* The contents of mona_conv_row.scratch. */
typedef struct scratch {
    _Alignas(64) int32_t acc[TILE * AC_FRACTAL];
    uint8_t results[MONA_MAX_GROUP][SCATTER_PIXELS * AC_FRACTAL * 2]; /* that are to be spread */
} scratch;

/* One block of 16 outputs while it is computed. */
typedef struct job {
    const mona_conv_row *row;
    const mona_conv *conv;
    const clamps *limits;
    uint32_t n;     /* the block */
    uint32_t quads; /* its registers of QUAD outputs, without those that hold no output */
    const uint8_t *const *runs;
    uint32_t first_run, run_count;
    const uint8_t *weights;
    const void *start; /* 16 accumulators */
    uint8_t *out;      /* where rounded results go, 16 channels a pixel */
    size_t pixel_size; /* bytes of a result */
} job;

/* ---- the epilogue --------------------------------------------------------------------------- */

/* Applies the epilogue to pixels x to x + count - 1. acc: their [count][16] accumulators, s32 or
 * fp32. */
static void finish_tile(const job *j, uint32_t x, uint32_t count, const int32_t *acc, uint8_t *out)
{
    float residual[TILE * LANES];
    if (j->limits->add)
        prepare_residual(j->row, j->n, x, count, residual);
    finish_pixels(j->row, j->limits, j->n, count, acc, residual, out);
}

/* ---- jobs ----------------------------------------------------------------------------------- */

#ifdef BYTES_AS_THEY_ARE
static void offset_start(job *j, int32_t start[AC_FRACTAL])
{
    (void)j, (void)start;
}
#else
/* INT8 is multiplied as signed bytes. U8 sources are offset when they are loaded: s = u - 128,
 * whose bits are u ^ 0x80. As sum(u * w) = sum(s * w) + 128 * sum(w), the accumulators start at
 * bias + 128 * sum(w), with the weights w of the output. This is exact: s32 arithmetic is modulo
 * 2^32, and the true sum fits. */
INLINE v16 sign_flip(const mona_conv *c)
{
    return set16(c->source_type == MONA_U8 ? 0x80 : 0);
}

/* to[output] = start[output] + 128 * the sum of its weights, in `steps` steps. */
static void add_sums(int32_t to[AC_FRACTAL], const int32_t start[AC_FRACTAL],
                     const uint8_t *weights, uint32_t steps);

static void offset_start(job *j, int32_t start[AC_FRACTAL])
{
    add_sums(start, j->start, j->weights, mona_block_steps(j->conv, j->n));
    j->start = start;
}
#endif

/* Prepares block n of outputs, whose results go to out. start: room for what the accumulators start
 * at. */
static job job_of(const mona_conv_row *row, const clamps *limits, uint32_t n,
                  int32_t start[AC_FRACTAL], uint8_t *out)
{
    const mona_conv *c = row->conv;
    job j = {.row = row,
             .conv = c,
             .limits = limits,
             .n = n,
             .quads = (min_u32(c->channels - n * AC_FRACTAL, AC_FRACTAL) + QUAD - 1) / QUAD,
             .runs = row->runs + c->first_run[n],
             .first_run = c->first_run[n],
             .run_count = c->run_count[n],
             .weights = c->weights + c->weights_offset[n],
             .start = (const uint8_t *)c->bias + (size_t)n * AC_FRACTAL * sizeof(int32_t),
             .out = out,
             .pixel_size = AC_FRACTAL * mona_type_size(row->output.type)};
    if (c->source_type == MONA_U8)
        offset_start(&j, start);
    return j;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Called before the tiles of some pixels of a row. */
static void begin_tiles(const job *j);

/* Computes the accumulators of pixels x to x + count - 1, count <= TILE, as [count][16]. It does
 * not write accumulators of outputs that do not exist. */
#ifndef TILES_FINISH
static void conv_tile(const job *j, uint32_t x, uint32_t count, int32_t *acc);

static bool tile_finished(const job *j, uint32_t x, uint32_t count, int32_t *acc, uint8_t *out)
{
    (void)out;
    conv_tile(j, x, count, acc);
    return false;
}
#else
/* The same and of all 16 outputs, or, where it is true, results at out. */
static bool tile_finished(const job *j, uint32_t x, uint32_t count, int32_t *acc, uint8_t *out);
#endif

static void run_pixels(const job *j, uint32_t origin, uint32_t pixels)
{
    int32_t *acc = ((scratch *)(void *)j->row->scratch)->acc;
    const uint32_t end = origin + pixels, most = min_u32(pixels, TILE);
    for (uint32_t i = 0; i < most; i++) /* conv_tile() leaves outputs that do not exist at this */
        memcpy(acc + (size_t)i * AC_FRACTAL, j->start, AC_FRACTAL * sizeof *acc);
    begin_tiles(j);
    for (uint32_t i = origin, count; i < end; i += count) {
        count = min_u32(most, round_up(end - i, LAST_TILE));
        const uint32_t x = min_u32(i, end - count);
        uint8_t *out = j->out + (size_t)(x - origin) * j->pixel_size;
        if (!tile_finished(j, x, count, acc, out))
            finish_tile(j, x, count, acc, out);
    }
}

static void conv_direct(const mona_conv_row *row, const clamps *limits)
{
    int32_t start[AC_FRACTAL];
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        uint8_t *out = row->output.data + n * row->output.block_stride;
        const job j = job_of(row, limits, n, start, out);
        run_pixels(&j, 0, row->pixels);
    }
}

static void conv_scattered(const mona_conv_row *row, const clamps *limits, const mona_isa *by)
{
    scratch *s = (scratch *)(void *)row->scratch;
    int32_t start[MONA_MAX_GROUP][AC_FRACTAL];
    job jobs[MONA_MAX_GROUP];
    const uint32_t group = mona_scatter_group(row);
    const mona_row tile = {s->results[0], sizeof s->results[0], AC_FRACTAL, row->output.type};
    for (uint32_t n = 0; n < row->conv->blocks; n += group) {
        const uint32_t count = min_u32(group, row->conv->blocks - n);
        for (uint32_t i = 0; i < count; i++)
            jobs[i] = job_of(row, limits, n + i, start[i], s->results[i]);
        for (uint32_t x = 0; x < row->pixels; x += SCATTER_PIXELS) {
            const uint32_t pixels = min_u32(SCATTER_PIXELS, row->pixels - x);
            for (uint32_t i = 0; i < count; i++)
                run_pixels(&jobs[i], x, pixels);
            mona_scatter(by, row, &tile, n, x, pixels);
        }
    }
}

static void conv_any(const mona_conv_row *row, const mona_isa *by)
{
    const clamps limits = clamps_of(row);
    if (mona_scatter_needed(row))
        conv_scattered(row, &limits, by);
    else
        conv_direct(row, &limits);
}

#endif
