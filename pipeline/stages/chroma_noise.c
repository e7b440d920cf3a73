// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/noise.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/sample.h"
#include "pipeline/stages/vector.h"

/* Copies of luma at the size of chroma, of both planes of chroma and of their sums over 3x3. */
enum copies { LUMA, CHROMA, SUMS = CHROMA + 2, COPIES = SUMS + 2 };

/* The distances of samples, how many times these for coarse noise, the margin that they need, and
 * the greatest weight. */
enum {
    REACH = 4,
    STEP = 2,
    COARSELY = 2,
    MARGIN = COARSELY * REACH + 1,
    MOST = 16,
    SHARE_ONE = 16
};

/* Samples mix fully within half of ALIKE times what is left, at most MOST_ALIKE steps of 8 bits,
 * and of ALIKE_IN_LUMA steps, and not at all beyond the whole. Of NOISE_ALONE times as much in
 * usual blocks as in the flattest all is noise, of COLOURFUL times none. (Of fourteen
 * photographs that move chroma gains 0.5 dB on average where R, G and B have noise of 10, and
 * hardly any changes where they have 4; one, whose own chroma is noisy, loses 1.2 there. The
 * film of the demo gains 3. Without the last two, or with 2.4 for ALIKE, photographs lose up to
 * 2 dB: models/train/chroma_noise.py.) */
#define ALIKE 1.3
#define MOST_ALIKE 8.0
#define ALIKE_IN_LUMA 8.0
#define NOISE_ALONE 1.4
#define COLOURFUL 1.65

/* The same for coarse noise, of which the second scale at half the size says how much there is.
 * Noise has up to EVEN times as much at the third scale as at the first, colour of the picture
 * GROWING times or more: in those photographs with noise of 10, whose planes have 1.3 to 3.9 times
 * as much, each plane below GROWING gains; those above would lose 0.7 dB on average. */
#define COARSE_ALIKE 3.0
#define EVEN 1.4
#define GROWING 1.8

static int16_t *row_of(const chroma_noise *c, unsigned copy, ptrdiff_t y)
{
    const size_t plane = (size_t)c->stride * (c->height + 2 * MARGIN);
    return c->memory + copy * plane + (size_t)(y + MARGIN) * c->stride + MARGIN;
}

bool chroma_noise_open(chroma_noise *c, stage *s, const frame_format *format)
{
    const mona_size size = frame_plane_size(format, 1);
    *c = (chroma_noise){
        .width = size.width, .height = size.height, .stride = size.width + 2 * MARGIN};
    const size_t plane = (size_t)c->stride * (c->height + 2 * MARGIN);
    c->memory = stage_take(s, COPIES * plane * sizeof *c->memory);
    c->sums = stage_take(s, 3 * (size_t)c->width * sizeof *c->sums);
    c->work = stage_take(s, sizeof *c->work);
    return c->memory && c->sums && c->work;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Repeats the edges of a copy into its margin. */
static void extend(const chroma_noise *c, unsigned copy)
{
    const size_t whole = c->stride * sizeof *c->memory;
    for (uint32_t y = 0; y < c->height; y++) {
        int16_t *row = row_of(c, copy, y);
        for (int x = 1; x <= MARGIN; x++) {
            row[-x] = row[0];
            row[c->width - 1 + (uint32_t)x] = row[c->width - 1];
        }
    }
    for (int y = 1; y <= MARGIN; y++) {
        memcpy(row_of(c, copy, -y) - MARGIN, row_of(c, copy, 0) - MARGIN, whole);
        memcpy(row_of(c, copy, (ptrdiff_t)c->height - 1 + y) - MARGIN,
               row_of(c, copy, (ptrdiff_t)c->height - 1) - MARGIN, whole);
    }
}

static inline void copy_row(const chroma_noise *c, const frame *f, uint32_t y, const bool wide)
{
    const uint8_t *above = frame_row(f, 0, 2 * (size_t)y), *below = frame_row(f, 0, 2 * y + 1u);
    int16_t *luma = row_of(c, LUMA, y);
    for (uint32_t x = 0; x < c->width; x++)
        luma[x] =
            (int16_t)((plane_sample(above, 2 * x, wide) + plane_sample(above, 2 * x + 1, wide) +
                       plane_sample(below, 2 * x, wide) + plane_sample(below, 2 * x + 1, wide)) /
                      4);
    for (unsigned p = 0; p < 2; p++) {
        const uint8_t *from = frame_row(f, 1 + p, y);
        int16_t *to = row_of(c, CHROMA + p, y);
        for (uint32_t x = 0; x < c->width; x++)
            to[x] = (int16_t)plane_sample(from, x, wide);
    }
}

static inline void sum_row(const chroma_noise *c, unsigned plane, uint32_t y)
{
    const int16_t *above = row_of(c, CHROMA + plane, (ptrdiff_t)y - 1);
    const int16_t *at = row_of(c, CHROMA + plane, y), *below = row_of(c, CHROMA + plane, y + 1);
    int16_t *to = row_of(c, SUMS + plane, y);
    for (ptrdiff_t x = 0; x < c->width; x++)
        to[x] = (int16_t)(above[x - 1] + above[x] + above[x + 1] + at[x - 1] + at[x] + at[x + 1] +
                          below[x - 1] + below[x] + below[x + 1]);
}

static inline void make_copies(const chroma_noise *c, const frame *f)
{
    for (uint32_t y = 0; y < c->height; y++)
        BY_WIDTH(f->format.bits > 8, copy_row, c, f, y);
    for (unsigned copy = LUMA; copy < SUMS; copy++)
        extend(c, copy);
    for (unsigned p = 0; p < 2; p++) {
        for (uint32_t y = 0; y < c->height; y++)
            sum_row(c, p, y);
        extend(c, SUMS + p);
    }
}

/* ---- means ---------------------------------------------------------------------------------- */

static inline int distance(int a, int b)
{
    return a < b ? b - a : a - b;
}

/* Weights fall to 0 where luma or chroma differ by as much as makes 2 MOST with these factors, in
 * 1/256. */
typedef struct limits {
    int luma, chroma;
} limits;

/* Adds the samples `apart` from those of row y, which lie in row `beside`. */
static inline void add_samples(const chroma_noise *c, uint32_t y, uint32_t beside, int apart,
                               const limits *of)
{
    const int16_t *luma = row_of(c, LUMA, y),
                  *luma_there = row_of(c, LUMA, (int32_t)beside) + apart;
    const int16_t *u = row_of(c, SUMS, y), *u_there = row_of(c, SUMS, (int32_t)beside) + apart;
    const int16_t *v = row_of(c, SUMS + 1, y),
                  *v_there = row_of(c, SUMS + 1, (int32_t)beside) + apart;
    const int16_t *add_u = row_of(c, CHROMA, (int32_t)beside) + apart;
    const int16_t *add_v = row_of(c, CHROMA + 1, (int32_t)beside) + apart;
    int32_t *weights = c->sums, *to_u = weights + c->width, *to_v = to_u + c->width;
    for (uint32_t x = 0; x < c->width; x++) {
        const int by_u = distance(u[x], u_there[x]), by_v = distance(v[x], v_there[x]);
        const int by_chroma = (by_u > by_v ? by_u : by_v) * of->chroma;
        const int by_luma = distance(luma[x], luma_there[x]) * of->luma;
        const int unlike = (by_luma > by_chroma ? by_luma : by_chroma) >> 8;
        const int near = 2 * MOST - unlike, weight = near < 0 ? 0 : near > MOST ? MOST : near;
        weights[x] += weight;
        to_u[x] += weight * add_u[x];
        to_v[x] += weight * add_v[x];
    }
}

static inline void put_means(const chroma_noise *c, const frame *f, uint32_t y, const int share[2],
                             const bool wide)
{
    const int32_t *weights = c->sums;
    for (unsigned p = 0; p < 2; p++) {
        const int32_t *sums = weights + (1 + p) * c->width;
        const int16_t *from = row_of(c, CHROMA + p, y);
        uint8_t *to = frame_row(f, 1 + p, y);
        for (uint32_t x = 0; x < c->width; x++) {
            const int all = weights[x] * SHARE_ONE, kept = SHARE_ONE - share[p];
            const int sum = share[p] * sums[x] + kept * from[x] * weights[x];
            put_plane_sample(to, x, (sum + all / 2) / all, wide);
        }
    }
}

/* What is left in a plane of chroma, and which share of its samples' means counts. */
static double look(const chroma_noise *c, const frame *f, unsigned plane, int *share)
{
    noise_measure(c->work, f->data[plane], f->stride[plane], c->width, c->height, f->format.bits, 1,
                  false);
    *share = 0;
    if (!c->work->flattest)
        return 0;
    const double left = c->work->scale[2], ratio = c->work->everywhere / fmax(left, 0.01);
    *share = (int)lrint(SHARE_ONE * noise_between(ratio, NOISE_ALONE, 1, COLOURFUL, 0));
    return left;
}

static inline void halve_row(uint16_t *to, const uint8_t *above, const uint8_t *below,
                             uint32_t width, const bool wide)
{
    for (uint32_t x = 0; x < width; x++)
        to[x] = (uint16_t)(plane_sample(above, 2 * x, wide) + plane_sample(above, 2 * x + 1, wide) +
                           plane_sample(below, 2 * x, wide) + plane_sample(below, 2 * x + 1, wide));
}

/* The same at half the size, in sums of 2x2 samples, for which the copies have room. */
static double look_coarsely(const chroma_noise *c, const frame *f, unsigned plane, int *share)
{
    const uint32_t width = c->width / 2, height = c->height / 2;
    uint16_t *half = (uint16_t *)c->memory;
    for (uint32_t y = 0; y < height; y++)
        BY_WIDTH(f->format.bits > 8, halve_row, half + (size_t)y * width,
                 frame_row(f, plane, 2 * y), frame_row(f, plane, 2 * y + 1), width);
    noise_measure(c->work, (const uint8_t *)half, (ptrdiff_t)(width * sizeof *half), width, height,
                  f->format.bits + 2, 1, false);
    *share = 0;
    if (!c->work->flattest)
        return 0;
    const double *e = c->work->scale, ratio = e[2] / fmax(e[0], 0.01);
    *share = (int)lrint(SHARE_ONE * noise_between(ratio, EVEN, 1, GROWING, 0));
    return *share ? e[1] : 0;
}

/* alike: in steps of 8 bits. times: the distances of samples. */
static inline void mix(const chroma_noise *c, const frame *f, double alike, int times,
                       const int share[2])
{
    const int one = 1 << (f->format.bits - 8);
    const limits of = {(int)(2 * MOST * 256 / (ALIKE_IN_LUMA * one)),
                       (int)(2 * MOST * 256 / (9 * fmin(fmax(alike, 1), MOST_ALIKE) * one))};
    if (!share[0] && !share[1])
        return;
    make_copies(c, f);
    for (uint32_t y = 0; y < c->height; y++) {
        memset(c->sums, 0, 3 * (size_t)c->width * sizeof *c->sums);
        for (int v = -REACH; v <= REACH; v += STEP)
            for (int u = v % (2 * STEP) ? STEP - REACH : -REACH; u <= REACH; u += 2 * STEP)
                add_samples(c, y, y + (uint32_t)(times * v), times * u, &of);
        BY_WIDTH(f->format.bits > 8, put_means, c, f, y, share);
    }
}

static void chroma_noise_clean_any(const chroma_noise *c, const frame *f)
{
    int share[2];
    const double u = look(c, f, 1, &share[0]), v = look(c, f, 2, &share[1]);
    if (!share[0] && !share[1])
        return;
    mix(c, f, ALIKE * fmax(u, v), 1, share);
    const double coarse_u = look_coarsely(c, f, 1, &share[0]);
    const double coarse_v = look_coarsely(c, f, 2, &share[1]);
    mix(c, f, COARSE_ALIKE * fmax(coarse_u, coarse_v), COARSELY, share);
}

VECTOR_PROCEDURE(chroma_noise_clean, (const chroma_noise *c, const frame *f), (c, f))
