// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/noise_change.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/motion_search.h"

#define MIN_CHANGE 1.0
#define MAX_CHANGE 12.0 /* coded noise leaves up to 8; a cut between fine contents more */
#define CUT 3.0         /* noise of film, and what moves in it, leave up to 2 */
/* The best of many places is closer than the right one: frames with independent noise differ by 0.75
 * of it. Motion adds to the difference. */
#define ALL_IS 1.15
/* The best strength is a multiple of the change, FLAT or, where usual blocks respond TEXTURE times
 * as much as noise alone would make them, TEXTURED. Fitted, see noise_change.h. */
#define FLAT 1.8
#define TEXTURED 1.0
#define TEXTURE 2.5
#define MAX_STRENGTH 26.0
/* Faint noise by the share of what usual blocks respond to that the other frame lacks: of clean film, whose
 * texture is not found everywhere, up to MOVING, and more only where it is so smooth that the change is
 * below LEAST_FAINT or the finest scale is below FINEST. After a cut the change is more than UNLIKE. */
#define MOVING 0.36
#define NOISY 0.48
#define UNLIKE 4.0
#define LEAST_FAINT 0.5
#define FINEST 0.1
#define FAINT_STRENGTH 3.0
#define SEEN 0.15  /* texture that moves changes by less of its sigma */
#define LEAST 0.25 /* noise changes by more of its coarsest scale */

enum { ELSEWHERE = 64, WINDOW = MOTION_WINDOW * MOTION_WINDOW };
_Static_assert((int)NOISE_BLOCK == (int)MOTION_WINDOW, "blocks are searched for as windows");

/* The flattest blocks' differences from the best place in the other frame. */
typedef struct change {
    double sigma; /* the lower quartile, as a standard deviation of noise in one frame */
    double all;   /* the median of blocks from all over the frame, likewise */
    bool moved;   /* most of the flattest blocks' places are elsewhere */
    bool cut;     /* the other frame shows something else, or coding left these blocks no noise */
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
static change find_change(const noise_work *work, const frame *now, const frame *beside)
{
    uint32_t found[NOISE_MAX_FLATTEST], moved = 0;
    motion_vector at = {0};
    for (uint32_t i = 0; i < work->flattest; i++) {
        found[i] = motion_residual(now, beside, work->blocks[i].x, work->blocks[i].y, &at);
        moved += at.x || at.y;
    }
    const double sigma = quantile(found, work->flattest, 4, now->format.bits);
    uint32_t others = 0;
    const uint32_t step = (work->count - work->flattest) / ELSEWHERE + 1;
    for (uint32_t i = work->flattest; i < work->count; i += step)
        found[others++] = motion_residual(now, beside, work->blocks[i].x, work->blocks[i].y, &at);
    const double all = others ? quantile(found, others, 2, now->format.bits) : sigma;
    return (change){sigma, all, 2 * moved > work->flattest,
                    sigma > MAX_CHANGE || all > CUT * sigma};
}

/* Whether it may be noise, which is as even at the coarse scales as hardly any texture. Coding and a
 * camera's sensor leave it stronger elsewhere than in the flattest blocks, and coded noise lacks the finest
 * scale, as texture does: then noise.h finds too little or nothing. */
static bool may_be_noise(const noise_work *work)
{
    const double *e = work->scale, *n = work->normality;
    return e[3] > MIN_CHANGE && n[2] > 0.5 && n[3] > 0.4;
}

/* all: as in a change. */
static noise_level told(const noise_work *work, double all)
{
    const double times = noise_between(work->everywhere / all, 1, FLAT, TEXTURE, TEXTURED);
    return (noise_level){(float)(ALL_IS * all), (float)fmin(times * all, MAX_STRENGTH)};
}

/* Coding takes noise out of the flattest blocks first, but leaves it elsewhere. A low strength, which hardly
 * changes clean film, removes much of it. */
static noise_level faint(const noise_work *work, double all, noise_level found)
{
    if (all < LEAST_FAINT || all > UNLIKE || work->scale[0] < FINEST)
        return found;
    const float strength =
        (float)noise_between(all / work->everywhere, MOVING, 0, NOISY, FAINT_STRENGTH);
    return strength > found.strength ? (noise_level){(float)(ALL_IS * all), strength} : found;
}

noise_level noise_change(const noise_work *work, noise_level found, const frame *now,
                         const frame *beside)
{
    if (!work->flattest)
        return found;
    const bool possible = may_be_noise(work);
    const bool fine = work->scale[0] > 0.75 * work->scale[1]; /* as noise.h has it */
    if (!beside)
        return fine || !possible || found.strength < MIN_CHANGE ? found
                                                                : told(work, work->scale[2]);
    const change c = find_change(work, now, beside);
    if (c.moved && c.sigma < SEEN * found.sigma)
        return (noise_level){0};
    const double all = work->scale[NOISE_SCALES - 1];
    if (!possible || c.cut || c.sigma < fmax(MIN_CHANGE, LEAST * all) || c.sigma > 1.2 * all)
        return faint(work, c.all, found);
    return told(work, c.all);
}
