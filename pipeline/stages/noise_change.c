// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/noise_change.h"

#include <math.h>
#include <stdlib.h>

#include "pipeline/stages/motion_search.h"

#define MIN_CHANGE 1.0
#define MAX_CHANGE 12.0 /* coded noise leaves up to 8; a cut between fine contents more */
#define CUT 3.0         /* noise of film, and what moves in it, leave up to 2 */
/* The best of many places is closer than the right one: frames with independent noise differ by
 * 0.75 of it. Motion adds to the difference. */
#define ALL_IS 1.15
/* The best strength is a multiple of the change, FLAT or, where usual blocks respond TEXTURE times
 * as much as noise alone would make them, TEXTURED. Fitted, see noise_change.h. */
#define FLAT 1.8
#define TEXTURED 1.0
#define TEXTURE 2.5
#define MAX_STRENGTH 26.0
/* Noise that is nearly as strong at the finest scale as at the third, and new, in so many of the
 * blocks that are not the roughest: of clean film up to FEW of them have that. */
#define FINE_SHARE 0.33
#define LEAST_FINE 0.3
#define FEW 0.24
#define MANY 0.4
#define ROUGHEST 5 /* one in so many blocks does not count */
#define LEAST_BLOCKS 16
#define FINE_TIMES 3.0
#define SEEN 0.15  /* texture that moves changes by less of its sigma */
#define LEAST 0.25 /* noise changes by more of its coarsest scale */

enum { SAMPLED = 128 };
_Static_assert((int)NOISE_BLOCK == (int)MOTION_WINDOW, "blocks are searched for as windows");

/* One block, as standard deviations of noise in one frame. */
typedef struct sampled {
    double changed;       /* its difference from the best place in the other frame */
    double finest, third; /* its responses at these scales */
} sampled;

/* The blocks' differences from the best place in the other frame. */
typedef struct change {
    double sigma;           /* the lower quartile of the flattest blocks */
    double all;             /* the median of blocks from all over the frame */
    double finest_strength; /* what the finest scale of these tells; 0: no noise */
    bool moved;             /* most of the flattest blocks' places are elsewhere */
    bool cut;               /* the other frame is another scene, or coding left the flattest none */
} change;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a share of the numbers, which it sorts, is below. */
static double quantile(double *numbers, uint32_t count, uint32_t numerator, uint32_t denominator)
{
    qsort(numbers, count, sizeof *numbers, compare);
    return numbers[count * numerator / denominator];
}

/* mean |a - b| of normal noise is 2 / sqrt(pi) times its sigma. */
static double changed_by(uint32_t residual, unsigned bits)
{
    return residual / (1.1283791670955126 * MOTION_WINDOW_AREA) / (1 << (bits - 8));
}

/* The strength goes as changed^(3/4) / usual^(1/4), by square roots, which are the same on every
 * target. */
static double told_by_finest(const sampled *blocks, uint32_t count)
{
    double numbers[SAMPLED];
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = blocks[i].third;
    const double rough = quantile(numbers, count, ROUGHEST - 1, ROUGHEST);
    const double usual = fmax(numbers[count / 2], LEAST_FINE);
    uint32_t noisy = 0, examined = 0;
    for (uint32_t i = 0; i < count; i++) {
        const sampled *b = &blocks[i];
        const double least = fmin(b->changed, b->finest);
        if (b->third > rough)
            continue;
        examined++;
        if (least > LEAST_FINE && least > FINE_SHARE * b->third)
            numbers[noisy++] = b->changed;
    }
    const double certain = noise_between((double)noisy / examined, FEW, 0, MANY, 1);
    if (certain == 0)
        return 0;
    const double changed = quantile(numbers, noisy, 1, 2);
    return certain * FINE_TIMES * sqrt(changed * sqrt(changed / usual));
}

/* Whether light fades or flashes: usual blocks are brighter or darker than in the other frame. */
static bool light_changes(const noise_work *work, const frame *now, const frame *beside)
{
    double brighter[SAMPLED];
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->count; i += work->count / SAMPLED + 1)
        brighter[count++] = motion_brighter(now, beside, work->blocks[i].x, work->blocks[i].y);
    return fabs(quantile(brighter, count, 1, 2)) >= 1 << (now->format.bits - 8);
}

/* Vectors go on from block to block. */
static change find_change(const noise_work *work, const frame *now, const frame *beside)
{
    const unsigned bits = now->format.bits;
    const bool level = light_changes(work, now, beside);
    double numbers[NOISE_MAX_FLATTEST];
    sampled blocks[SAMPLED];
    motion_vector at = {0};
    uint32_t moved = 0, count = 0;
    for (uint32_t i = 0; i < work->flattest; i++) {
        numbers[i] = changed_by(
            motion_residual(now, beside, work->blocks[i].x, work->blocks[i].y, level, &at), bits);
        moved += at.x || at.y;
    }
    const double sigma = quantile(numbers, work->flattest, 1, 4);
    for (uint32_t i = work->flattest; i < work->count;
         i += (work->count - work->flattest) / SAMPLED + 1) {
        const noise_block *b = &work->blocks[i];
        const uint32_t residual = motion_residual(now, beside, b->x, b->y, level, &at);
        if (residual != UINT32_MAX)
            blocks[count++] =
                (sampled){changed_by(residual, bits),
                          noise_block_response(b, now->data[0], now->stride[0], bits, 1),
                          noise_block_third(b)};
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = blocks[i].changed;
    const double all = count ? quantile(numbers, count, 1, 2) : sigma;
    return (change){sigma, all, count < LEAST_BLOCKS ? 0 : told_by_finest(blocks, count),
                    2 * moved > work->flattest, sigma > MAX_CHANGE || all > CUT * sigma};
}

/* Whether it may be noise, which is as even at the coarse scales as hardly any texture. Coding and
 * a camera's sensor leave it stronger elsewhere than in the flattest blocks, and coded noise lacks
 * the finest scale, as texture does: then noise.h finds too little or nothing. */
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
    const double coarsest = work->scale[NOISE_SCALES - 1];
    if (possible && !c.cut && c.sigma >= fmax(MIN_CHANGE, LEAST * coarsest) &&
        c.sigma <= 1.2 * coarsest)
        found = told(work, c.all);
    if (c.all < MAX_CHANGE && c.finest_strength > found.strength)
        found = (noise_level){(float)(ALL_IS * c.all), (float)c.finest_strength};
    return found;
}
