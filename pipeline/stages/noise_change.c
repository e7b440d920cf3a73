// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/noise_change.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/motion_search.h"

#define MIN_CHANGE 1.5
#define MAX_CHANGE 12.0 /* coded noise leaves up to 7 */
#define STRENGTH 4.0
#define MAX_STRENGTH 30.0
#define TEXTURE 0.15

enum { WINDOW = MOTION_WINDOW * MOTION_WINDOW };
_Static_assert((int)NOISE_BLOCK == (int)MOTION_WINDOW, "blocks are searched for as windows");

/* What the flattest blocks differ by from the best place in the frame before. */
typedef struct change {
    double sigma; /* the lower quartile, as a standard deviation of noise in one frame */
    bool moved;   /* most of those places are elsewhere */
    bool cut;     /* the frame before shows something else */
} change;

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The sum of a block's samples, in steps of 8 bits. */
static double level_of(const frame *f, noise_block b)
{
    uint32_t sum = 0;
    for (uint32_t y = 0; y < NOISE_BLOCK; y++) {
        const uint8_t *row = f->data[0] + (ptrdiff_t)(b.y + y) * f->stride[0];
        for (uint32_t x = b.x; x < b.x + NOISE_BLOCK; x++)
            sum += f->format.bits > 8 ? ((const uint16_t *)(const void *)row)[x] : row[x];
    }
    return (double)sum / (1 << (f->format.bits - 8));
}

/* Whether the frame before shows something else. Otherwise flat blocks keep their level where they are,
 * even if the film moves: of half of them it changes by less than the noise does from sample to
 * sample. */
static bool is_cut(const noise_work *work, const frame *now, const frame *before, double sigma)
{
    uint32_t changed = 0;
    for (uint32_t i = 0; i < work->flattest; i++)
        changed += fabs(level_of(now, work->blocks[i]) - level_of(before, work->blocks[i])) >
                   sigma * WINDOW;
    return sigma > MAX_CHANGE || 2 * changed > work->flattest;
}

/* Vectors go on from block to block. */
static change find_change(const noise_work *work, const frame *now, const frame *before)
{
    uint32_t found[NOISE_MAX_FLATTEST], moved = 0;
    motion_vector at = {0};
    for (uint32_t i = 0; i < work->flattest; i++) {
        found[i] = motion_residual(now, before, work->blocks[i].x, work->blocks[i].y, &at);
        moved += at.x || at.y;
    }
    qsort(found, work->flattest, sizeof *found, compare);
    /* mean |a - b| of normal noise is 2 / sqrt(pi) times its sigma */
    const double sigma =
        found[work->flattest / 4] / (1.1283791670955126 * WINDOW) / (1 << (now->format.bits - 8));
    return (change){sigma, 2 * moved > work->flattest, is_cut(work, now, before, sigma)};
}

/* Whether noise.h may have taken coded noise for texture: it is coarse, lacks the finest scale, and is
 * as even at the coarsest as hardly any texture. */
static bool may_be_coded(const noise_work *work, noise_level found)
{
    const double *e = work->scale, *n = work->normality;
    return e[3] > MIN_CHANGE && e[0] < 0.65 * e[1] && n[2] > 0.5 && n[3] > 0.45 &&
           found.strength < 1.05 * e[2];
}

noise_level noise_change(const noise_work *work, noise_level found, const frame *now,
                         const frame *before)
{
    const double all = work->scale[NOISE_SCALES - 1];
    const bool coded = may_be_coded(work, found);
    if (!work->flattest || (!coded && found.strength < MIN_CHANGE))
        return found;
    const change c = find_change(work, now, before);
    const double strength = STRENGTH * c.sigma;
    if (c.moved && c.sigma < TEXTURE * found.sigma)
        return (noise_level){0};
    if (!coded || c.cut || c.sigma < MIN_CHANGE || c.sigma < 0.4 * all || c.sigma > 1.2 * all ||
        strength < found.strength)
        return found;
    return (noise_level){(float)(NOISE_COARSE * all),
                         (float)(strength < MAX_STRENGTH ? strength : MAX_STRENGTH)};
}
