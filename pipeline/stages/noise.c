// SPDX-License-Identifier: Apache-2.0
/* Immerkaer's noise estimate, at four scales, on the flattest blocks.
 *
 * The mask
 *          1 -2  1
 *     N = -2  4 -2
 *          1 -2  1
 *
 * is the difference of two Laplacians. It gives 0 on any plane, ramp or quadratic a*x^2 + b*y^2 +
 * c*x + d*y + e, and hence on smooth picture content.
 *
 * On independent noise of standard deviation s its response r has mean 0 and variance (4*1 + 4*4 +
 * 16) s^2 = 36 s^2. For normal noise E|r| = sqrt(2/pi) * 6 s, so
 *
 *     s = sqrt(pi/2) / 6 * mean |r|.
 *
 * Noise that was blurred, enlarged or compressed is smooth from sample to sample. The mask is
 * therefore also applied to samples 2, 4 and 8 apart; at a distance at which the noise is
 * independent it finds all of it. e1, e2, e4, e8 are these estimates, and their ratios tell the
 * kind of noise (simulated, sigma 10; content adds to the wide ones):
 *                                               e1/e2   e2/e4   e4/e8
 *     independent                               1       1       1
 *     blurred by 0.6                            0.48    0.93    0.95
 *     made at half size, enlarged               0.2     0.75    0.95
 *     blurred by 1                              0.2     0.6     0.9
 *     made at a quarter of the size             0.35    0.2     0.6
 *     film of grass, gravel; no noise           0.4-0.6 0.6     0.7
 *
 * Edges and texture also respond and only ever increase the estimate. So responses are collected in
 * blocks of 16x16, and only the flattest twentieth of the blocks at distance 4 counts. The lowest
 * of many noisy means are below the average, which DISTANCES compensates (simulated with
 * independent noise; at the other distances, the choice of blocks hardly depends on their noise).
 *
 * A network that is told of noise where there is texture removes the texture. Three properties tell
 * them apart: responses to noise are normally distributed, so (mean |r|)^2 = 2/pi * mean r^2, while
 * texture has less; noise stops growing at some distance, while texture keeps growing; and the
 * ratios of noise are those of the table. Thresholds were fitted to 23 pictures with six kinds of
 * noise of sigma 2 to 25, and to 470 clean pictures, 12 of which are misjudged as noisy. What usual
 * blocks have, too, was fitted to 404 cases: 318 photographs with nine kinds of noise of sigma 3.5
 * to 20, and to 3,752 clean pictures in several sizes, of which 102 were misjudged. Over 1,047
 * clean pictures 40 are now, where 36 were. The strength is 0.1 dB short of the best one for eight
 * held-out photographs with noise that is white, blurred or made at half the size, and 0.2 dB with
 * noise made at a quarter of the size, which is not found where it is faint.
 *
 * Blocks that are clipped (black borders, burnt-out sky) have no noise but say nothing about the
 * rest. Blocks whose mean is within 4 steps of 16 or 235, or beyond these, are left out as long as
 * others remain, as are blocks with a side that is, through which a border runs.
 *
 * Noise below about half a step disappears when samples are rounded; the uniform rounding error
 * alone has s = 0.29. */
#include "pipeline/stages/noise.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/stages/sample.h"
#include "pipeline/stages/vector.h"

#define TO_SIGMA (1.2533141373155003 / 6) /* sqrt(pi / 2) / 6 */

enum {
    AREA = NOISE_BLOCK * NOISE_BLOCK,
    SCALES = NOISE_SCALES,
    SORTED_BY = 2,
    DARKEST = 20,
    BRIGHTEST = 231,
    CONTRAST = 8
};

static const struct {
    unsigned spacing;
    double bias; /* the estimate for independent noise of 1 */
} DISTANCES[SCALES] = {{1, 0.950}, {2, 0.968}, {4, NOISE_THIRD_BIAS}, {8, 0.961}};

typedef struct view {
    const uint8_t *plane;
    ptrdiff_t stride;
    uint32_t width, height;
    unsigned bits;
} view;

typedef struct response {
    uint64_t sum, squares; /* sums of |r| and r^2 */
    uint64_t count;
} response;

/* ---- one block ------------------------------------------------------------------------------ */

/* p: the block's first sample. *level: the sum of its samples. */
static inline response respond(const uint8_t *p, ptrdiff_t stride, unsigned spacing,
                               const bool squared, uint32_t *level, const bool wide)
{
    const ptrdiff_t size = wide ? 2 : 1;
    const ptrdiff_t down = stride * (ptrdiff_t)spacing, right = (ptrdiff_t)spacing * size;
    response sum = {.count = AREA};
    for (unsigned y = 0; y < NOISE_BLOCK; y++, p += stride) {
        uint32_t row = 0, levels = 0;
        for (unsigned x = 0; x < NOISE_BLOCK; x++) {
            const uint8_t *c = p + x * size, *above = c - down, *below = c + down;
            int r = plane_sample(above - right, 0, wide) - 2 * plane_sample(above, 0, wide) +
                    plane_sample(above + right, 0, wide) - 2 * plane_sample(c - right, 0, wide) +
                    4 * plane_sample(c, 0, wide) - 2 * plane_sample(c + right, 0, wide) +
                    plane_sample(below - right, 0, wide) - 2 * plane_sample(below, 0, wide) +
                    plane_sample(below + right, 0, wide);
            row += (uint32_t)abs(r);
            levels += (uint32_t)plane_sample(c, 0, wide);
            if (squared)
                sum.squares += (uint64_t)((int64_t)r * r);
        }
        sum.sum += row;
        *level += levels;
    }
    return sum;
}

/* |third difference| across the position before sample x of a line, whose samples are `next` bytes
 * apart. */
static inline uint32_t jump(const uint8_t *line, ptrdiff_t x, ptrdiff_t next, const bool wide)
{
    const uint8_t *c = line + x * next;
    return (uint32_t)abs(plane_sample(c - 2 * next, 0, wide) - plane_sample(c + next, 0, wide) -
                         3 * (plane_sample(c - next, 0, wide) - plane_sample(c, 0, wide)));
}

/* Adds the jumps at the edges and in the middle of 8x8 blocks, in every other line of a block at
 * p. */
static inline void add_jumps(noise_work *work, const uint8_t *p, ptrdiff_t stride, const bool wide)
{
    const ptrdiff_t size = wide ? 2 : 1;
    for (unsigned i = 0; i < NOISE_BLOCK; i += 2) {
        const uint8_t *row = p + (ptrdiff_t)i * stride, *column = p + (ptrdiff_t)i * size;
        work->edges[0] += jump(row, 0, size, wide) + jump(row, 8, size, wide);
        work->middles[0] += jump(row, 4, size, wide) + jump(row, 12, size, wide);
        work->edges[1] += jump(column, 0, stride, wide) + jump(column, 8, stride, wide);
        work->middles[1] += jump(column, 4, stride, wide) + jump(column, 12, stride, wide);
    }
}

static const uint8_t *block_at(const view *v, uint32_t x, uint32_t y)
{
    return v->plane + (ptrdiff_t)y * v->stride + (ptrdiff_t)x * (v->bits > 8 ? 2 : 1);
}

/* ---- the flattest blocks -------------------------------------------------------------------- */

/* The distance between blocks. Large planes are sampled, since NOISE_BLOCKS of their blocks are
 * enough. (Over seven clips of 540p to 1080p, the estimates with 1,024 and with 4,096 blocks differ
 * by at most 2 %, over frames of strong noise by 1.5 %.) */
static uint32_t block_step(uint32_t width, uint32_t height)
{
    uint64_t blocks = (uint64_t)(width / NOISE_BLOCK) * (height / NOISE_BLOCK);
    uint32_t skip = 1;
    while (blocks / skip / skip > NOISE_BLOCKS)
        skip++;
    return skip * NOISE_BLOCK;
}

/* Whether a line along a block's side is black or white and far from the block's mean. */
static inline bool is_clipped(const uint8_t *line, ptrdiff_t next, unsigned more, const bool wide,
                              int mean)
{
    int least = 0, most = 0;
    for (unsigned i = 0; i < NOISE_BLOCK; i++, line += next) {
        const int level = plane_sample(line, 0, wide) >> more;
        least = i && least < level ? least : level;
        most = i && most > level ? most : level;
    }
    return (most <= DARKEST && mean >= most + CONTRAST) ||
           (least >= BRIGHTEST && mean <= least - CONTRAST);
}

/* Whether a border runs through a block, which then has less noise than others. */
static inline bool has_border(const uint8_t *first, ptrdiff_t stride, unsigned more,
                              const bool wide, int mean)
{
    const ptrdiff_t size = wide ? 2 : 1, last = NOISE_BLOCK - 1;
    return is_clipped(first, size, more, wide, mean) ||
           is_clipped(first + last * stride, size, more, wide, mean) ||
           is_clipped(first, stride, more, wide, mean) ||
           is_clipped(first + last * size, stride, more, wide, mean);
}

/* Lists blocks with `margin` samples around them that are either clipped or not, and sorts their
 * responses into bins. */
static void list_blocks(noise_work *work, const view *v, unsigned spacing, uint32_t margin,
                        bool clipped)
{
    const unsigned more = v->bits - 8;
    const uint32_t step = block_step(v->width, v->height);
    memset(work->bins, 0, sizeof work->bins);
    memset(work->edges, 0, sizeof work->edges);
    memset(work->middles, 0, sizeof work->middles);
    work->count = 0;
    for (uint32_t y = margin; y + NOISE_BLOCK + margin <= v->height; y += step)
        for (uint32_t x = margin; x + NOISE_BLOCK + margin <= v->width; x += step) {
            const uint8_t *first = block_at(v, x, y);
            uint32_t level = 0;
            const uint64_t sum =
                BY_WIDTH(more, respond, first, v->stride, spacing, false, &level).sum;
            const uint64_t bin = sum * NOISE_BIN_STEPS / AREA >> more;
            level >>= more;
            if ((!clipped && (level <= DARKEST * AREA || level >= BRIGHTEST * AREA ||
                              has_border(first, v->stride, more, more > 0, (int)(level / AREA)))) ||
                work->count == sizeof work->blocks / sizeof *work->blocks)
                continue;
            noise_block *b = &work->blocks[work->count++];
            *b = (noise_block){x, y, bin < NOISE_BINS ? (uint32_t)bin : NOISE_BINS - 1};
            work->bins[b->bin]++;
            BY_WIDTH(more, add_jumps, work, first, v->stride);
        }
}

/* Keeps only the flattest of the listed blocks; in the last bin, the first ones. */
static void keep_flattest(noise_work *work)
{
    uint32_t wanted = work->count / NOISE_FLATTEST, below = 0, bin = 0, kept = 0;
    wanted = wanted > NOISE_MIN_FLATTEST ? wanted : NOISE_MIN_FLATTEST;
    wanted = wanted < work->count ? wanted : work->count;
    while (below + work->bins[bin] < wanted)
        below += work->bins[bin++];
    uint32_t of_bin = wanted - below;
    for (uint32_t i = 0; i < work->count; i++) {
        const noise_block b = work->blocks[i];
        if (b.bin < bin || (b.bin == bin && of_bin && of_bin--))
            work->blocks[kept++] = b;
    }
    work->count = kept;
}

uint32_t noise_quantile(const noise_work *work, uint32_t twentieths)
{
    uint32_t bin = 0, below = 0;
    while (below + work->bins[bin] <= work->count * twentieths / 20)
        below += work->bins[bin++];
    return bin;
}

/* The mean of the quartiles of all blocks' responses, which edges hardly affect. */
static double mean_quartile(const noise_work *work)
{
    const uint32_t sum =
        noise_quantile(work, 5) + noise_quantile(work, 10) + noise_quantile(work, 15);
    return sum / (3.0 * NOISE_BIN_STEPS);
}

static response respond_all(const noise_work *work, const view *v, unsigned spacing)
{
    response all = {0};
    for (uint32_t i = 0; i < work->count; i++) {
        const uint8_t *first = block_at(v, work->blocks[i].x, work->blocks[i].y);
        uint32_t unused = 0;
        const response r = BY_WIDTH(v->bits > 8, respond, first, v->stride, spacing, true, &unused);
        all.sum += r.sum;
        all.squares += r.squares;
        all.count += r.count;
    }
    return all;
}

/* ---- what they say -------------------------------------------------------------------------- */

/* (mean |r|)^2 / mean r^2: 2/pi = 0.637 for normal noise. */
static double normality(const response *r)
{
    const double mean = (double)r->sum / (double)r->count;
    return r->squares ? mean * mean * (double)r->count / (double)r->squares : 0;
}

static noise_level level(double sigma, double strength)
{
    return (noise_level){(float)sigma, (float)strength};
}

/* Noise of the kind that networks are trained for, or similar. */
static noise_level fine(const double e[SCALES], const double n[SCALES])
{
    if (e[0] < 0.65 * e[1] || (e[1] < 0.75 * e[2] && n[2] < 0.6))
        return (noise_level){0};
    const double sigma = n[0] < 0.578 && e[1] > 0.8 * e[2] ? e[1] : e[0];
    return level(sigma, sigma);
}

/* The less independent noise is from sample to sample, the less the flattest blocks say of the
 * average: the estimate of coarse noise at the coarsest scale is multiplied by this. */
#define COARSE 1.2

/* Usual blocks' third scale over the flattest blocks': 1.4 to 6 in photographs with noise. */
#define PHOTOGRAPH 2.0
#define TEXTURED 4.0

/* Where there is texture, it adds to the estimate, and strong denoising takes more of it than it
 * gives: the best strength for coarse noise is below the estimate there. Removing faint coarse
 * noise costs more of the picture than it gains, so faint noise counts less, by lines fitted to 23
 * pictures, and not at all below 1.75. */
static noise_level coarse(const double e[SCALES], double ratio, double everywhere)
{
    const double finer = 1.1 * e[1], all = noise_between(ratio, 0.3, e[2], 0.42, finer);
    const double factor = ratio < 0.48 ? noise_between(ratio, 0.25, 2.45, 0.48, 1.7)
                                       : noise_between(ratio, 0.48, 1.7, 0.75, 1);
    const double less = ratio < 0.48 ? noise_between(ratio, 0.25, 7, 0.48, 3)
                                     : noise_between(ratio, 0.48, 3, 0.75, 0);
    const double textured = noise_between(ratio, 0.25, 0.75, 0.48, 1);
    const double most = noise_between(everywhere / e[2], PHOTOGRAPH, 1, TEXTURED, textured);
    const double strength = fmin(factor * all - less, most * all);
    return level(noise_between(ratio, 0.3, COARSE * e[3], 0.42, finer),
                 strength < 1.75 ? 0 : strength);
}

/* Noise made at a quarter of the size is found by the third scale's share of the fourth. Usual
 * blocks' third scale is as strong as the flattest blocks' fourth where there is nothing else. The
 * more they have, the less is removed. */
static noise_level coarsest(const double e[SCALES], const double n[SCALES], double second,
                            double everywhere)
{
    const double most = noise_between(second, 0.2, 2.5, 0.35, 2);
    if (e[3] < 5 || n[3] < 0.585 || e[2] < 0.48 * e[3] || e[2] > 0.69 * e[3] ||
        everywhere > most * e[3])
        return (noise_level){0};
    const double share = noise_between(everywhere / e[3], 1.15, 1, 1.6, 0.65);
    return level(COARSE * e[3], share * COARSE * e[3]);
}

/* n: the normality of the responses. Coding removes the smallest responses, which leaves the finest
 * scale less normal (a picture of JPEG quality 85 has 0.38 at a sigma of 4 and 0.54 at 8), while
 * the second is as normal as noise, over whatever content: none of 3,752 clean pictures is like
 * that. */
static noise_level judge(const double e[SCALES], const double n[SCALES], double everywhere)
{
    const double ratio = e[0] / fmax(e[1], 0.01), second = e[1] / fmax(e[2], 0.01);
    if (n[2] < 0.58 || n[2] > 0.68) /* texture */
        return (noise_level){0};
    if (ratio > 0.75)
        return fine(e, n);
    if (second < 0.49) {
        const noise_level found = coarsest(e, n, second, everywhere);
        if (second < 0.42 || found.strength > 0)
            return found;
    }
    if (ratio > 0.3 && second > 0.68 && e[1] > 3.5 && n[0] < 0.48 && n[1] > 0.585) /* coded */
        return level(e[1], e[1] + 1);
    const bool ends =
        e[2] > 0.88 * e[3] && n[2] > 0.61; /* stops growing, and is as normal as noise */
    /* Over fine content noise goes on growing. None of 1,744 clean pictures is as normal at three
     * scales, as strong and as coarse, while of pictures with noise of 7 and 12 that was blurred by
     * 1, one in fourteen is found by this alone. Less coarse, the grain of sharp photographs is
     * like it. */
    const bool strong =
        ratio < 0.4 && e[1] > 4 && n[1] > 0.57 && n[2] > 0.6 && n[3] > 0.57 && e[2] > 0.65 * e[3];
    /* Fainter noise, too, is as normal at three scales, and not much stronger in usual blocks. */
    const bool normal = ratio < 0.45 && second > 0.5 && e[1] > 2.8 && n[0] > 0.57 && n[1] > 0.615 &&
                        n[2] > 0.605 && everywhere < 2.9 * e[2];
    if (((second < 0.5 + 1.2 * (ratio - 0.25) && !ends) || e[2] < 0.76 * e[3]) && !strong &&
        !normal)
        return fine(e, n);
    if (n[0] < 0.45 && ratio > 0.3 && second > 0.8)
        return level(e[2], e[2] < 1.75 ? 0 : e[2]);
    return coarse(e, ratio, everywhere);
}

/* Coding in 8x8 blocks (JPEG, MPEG) leaves jumps at their edges. In pictures of quality 90, 85, 75
 * and 50 these are larger than jumps in the middle by 0.11, 0.2, 0.47 and 1.07; in pictures that
 * were never coded in blocks, noisy or not, by at most 0.05. Coding removes fine noise, so its
 * amount is estimated from the second scale. Without noise, coarse coding is cleaned only as far as
 * none of 23 pictures loses. */
static noise_level with_blocks(noise_level found, const noise_work *work, const double e[SCALES],
                               const double n[SCALES])
{
    const double across = (double)work->edges[0] / fmax((double)work->middles[0], 1) - 1;
    const double down = (double)work->edges[1] / fmax((double)work->middles[1], 1) - 1;
    const double mean = (across + down) / 2;
    double strength = mean < 0.5 ? 0 : noise_between(mean, 0.5, 2, 1.7, 5);
    if (mean < 0.12 || across < 0.06 || down < 0.06)
        return found;
    if (e[0] < 0.6 * e[1] && e[1] > 1.75 && n[1] > 0.55)
        strength = fmax(strength, fmin(e[1] + 1, 6));
    return level(fmax(found.sigma, strength), fmax(found.strength, strength));
}

static noise_level noise_measure_any(noise_work *work, const uint8_t *plane, ptrdiff_t stride,
                                     uint32_t width, uint32_t height, unsigned bits,
                                     unsigned spacing, bool coded)
{
    const view v = {plane, stride, width, height, bits};
    const uint32_t margin = DISTANCES[SCALES - 1].spacing * spacing;
    double *const e = work->scale, *const n = work->normality;
    work->flattest = 0;
    list_blocks(work, &v, DISTANCES[SORTED_BY].spacing * spacing, margin, false);
    if (!work->count)
        list_blocks(work, &v, DISTANCES[SORTED_BY].spacing * spacing, margin, true);
    if (!work->count)
        return (noise_level){0};
    const uint32_t looked_at = work->count;
    work->everywhere = mean_quartile(work) * TO_SIGMA / DISTANCES[SORTED_BY].bias;
    keep_flattest(work);
    for (int i = 0; i < SCALES; i++) {
        const response r = respond_all(work, &v, DISTANCES[i].spacing * spacing);
        e[i] = (double)r.sum / (double)r.count * TO_SIGMA / DISTANCES[i].bias / (1 << (bits - 8));
        n[i] = normality(&r);
    }
    work->flattest = work->count;
    work->count = looked_at;
    const noise_level found = judge(e, n, work->everywhere);
    return coded && spacing == 1 ? with_blocks(found, work, e, n) : found;
}

VECTOR_FUNCTION(noise_level, noise_measure,
                (noise_work * work, const uint8_t *plane, ptrdiff_t stride, uint32_t width,
                 uint32_t height, unsigned bits, unsigned spacing, bool coded),
                (work, plane, stride, width, height, bits, spacing, coded))

double noise_block_response(const noise_block *block, const uint8_t *plane, ptrdiff_t stride,
                            unsigned bits, unsigned distance)
{
    const view v = {.plane = plane, .stride = stride, .bits = bits};
    const uint8_t *first = block_at(&v, block->x, block->y);
    uint32_t unused = 0;
    const uint64_t sum = BY_WIDTH(bits > 8, respond, first, stride, distance, false, &unused).sum;
    return (double)sum / AREA * TO_SIGMA / (1 << (bits - 8));
}

double noise_block_third(const noise_block *block)
{
    return (double)block->bin / NOISE_BIN_STEPS * TO_SIGMA;
}
