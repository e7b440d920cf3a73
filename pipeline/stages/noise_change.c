// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/noise_change.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/motion_search.h"

#define MIN_CHANGE 1.5
#define MAX_CHANGE 12.0 /* coded noise leaves up to 8; a cut between fine contents more */
#define CUT 3.0         /* noise of film, and what moves in it, leave up to 2 */
/* The best of many places is closer than the right one: of independent noise a frame differs by 0.75 of
 * what it has. What moves adds to that. */
#define ALL_IS 1.15
/* Strengths that are best, of changes: of noise as fine as a sensor's, and of such coarse noise as
 * strong coding leaves; between them by how much of the second scale the finest has. */
#define ALL_TOLD 1.4
#define MOST_TOLD 2.1
#define COARSE_TOLD 4.0
#define COARSE 0.55
#define FINE 0.7
#define MAX_STRENGTH 30.0
#define TEXTURE 0.15

enum { ELSEWHERE = 64, WINDOW = MOTION_WINDOW * MOTION_WINDOW };
_Static_assert((int)NOISE_BLOCK == (int)MOTION_WINDOW, "blocks are searched for as windows");

/* The flattest blocks' differences from the best place in the previous frame. */
typedef struct change {
    double sigma; /* the lower quartile, as a standard deviation of noise in one frame */
    double all;   /* the median of blocks from all over the frame, likewise */
    bool moved;   /* most of the flattest blocks' places are elsewhere */
    bool cut;     /* the previous frame shows something else */
} change;

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The standard deviation of noise that a share of the blocks is below. mean |a - b| of normal noise is
 * 2 / sqrt(pi) times its sigma. */
static double quantile(uint32_t *found, uint32_t count, uint32_t share, unsigned bits)
{
    qsort(found, count, sizeof *found, compare);
    return found[count / share] / (1.1283791670955126 * WINDOW) / (1 << (bits - 8));
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
    const double sigma = quantile(found, work->flattest, 4, now->format.bits);
    uint32_t others = 0;
    const uint32_t step = (work->count - work->flattest) / ELSEWHERE + 1;
    for (uint32_t i = work->flattest; i < work->count; i += step)
        found[others++] = motion_residual(now, before, work->blocks[i].x, work->blocks[i].y, &at);
    const double all = others ? quantile(found, others, 2, now->format.bits) : sigma;
    return (change){sigma, all, 2 * moved > work->flattest,
                    sigma > MAX_CHANGE || all > CUT * sigma};
}

/* Whether it may be noise for which noise.h finds too little: coding and a camera's sensor leave it
 * stronger elsewhere than in the flattest blocks, and coded noise lacks the finest scale, as texture
 * does. It is as even at the coarsest as hardly any texture. */
static bool may_be_noise(const noise_work *work, noise_level found)
{
    const double *e = work->scale, *n = work->normality;
    return e[3] > MIN_CHANGE && n[2] > 0.5 && n[3] > 0.45 &&
           (e[0] > FINE * e[1] || found.strength < 1.05 * e[2]);
}

static noise_level told(const noise_work *work, const change *c)
{
    const double *e = work->scale;
    const double share = fmin(fmax((e[0] / e[1] - COARSE) / (FINE - COARSE), 0), 1);
    const double fine = fmin(ALL_TOLD * c->all, MOST_TOLD * c->sigma);
    const double coarse = fmin(COARSE_TOLD * c->sigma, MAX_STRENGTH);
    const double coarse_sigma = NOISE_COARSE * e[NOISE_SCALES - 1];
    return (noise_level){(float)(coarse_sigma + share * (ALL_IS * c->all - coarse_sigma)),
                         (float)(coarse + share * (fine - coarse))};
}

noise_level noise_change(const noise_work *work, noise_level found, const frame *now,
                         const frame *before)
{
    const double all = work->scale[NOISE_SCALES - 1];
    const bool unsure = may_be_noise(work, found);
    if (!work->flattest || (!unsure && found.strength < MIN_CHANGE))
        return found;
    const change c = find_change(work, now, before);
    if (c.moved && c.sigma < TEXTURE * found.sigma)
        return (noise_level){0};
    if (!unsure || c.cut || c.sigma < MIN_CHANGE || c.sigma < 0.4 * all || c.sigma > 1.2 * all)
        return found;
    const noise_level by_change = told(work, &c);
    return by_change.strength > found.strength ? by_change : found;
}
