// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/temporal.h"

#include <string.h>

#include "engine/arith.h"

#include "pipeline/stages/sample.h"
#include "pipeline/stages/vector.h"

/* g for blocks that stand still, and for those that move, which are interpolated each time. */
enum { STILL_TENTHS = 8, MOVING_TENTHS = 6 };

enum { CUT_SHARE = 4 }; /* fewer than a quarter of the blocks known: a cut */

enum { WINDOW_SUMS = MOTION_WINDOW / MOTION_MASK_SUM }; /* down and across a window */

/* Computes the steps for all d, rounded to nearest, with d = 0 in the middle; returns L. `one` is
 * one step of 8 bits. In integers: g d (L^2 - d^2) / L^2 with g = tenths (sigma - one) / (10
 * sigma). */
static int make_steps(int16_t *step, unsigned sigma, unsigned one, unsigned tenths)
{
    unsigned limit = sigma + 4 * one;
    limit = limit < TEMPORAL_MAX_LIMIT ? limit : TEMPORAL_MAX_LIMIT;
    const uint64_t square = (uint64_t)limit * limit, whole = 10 * (uint64_t)sigma * square;
    for (uint64_t d = 0; d <= limit; d++) {
        const uint64_t size =
            (2 * tenths * (sigma - one) * d * (square - d * d) + whole) / (2 * whole);
        step[TEMPORAL_MAX_LIMIT + d] = (int16_t)size;
        step[TEMPORAL_MAX_LIMIT - d] = (int16_t)-size;
    }
    return (int)limit;
}

enum { QUARTERS = 4 };

/* The target of a block: its first sample, whether samples have 16 bits, and what the light has
 * changed by since, in quarters of a step. */
typedef struct target {
    const uint8_t *data;
    ptrdiff_t stride;
    bool wide;
    int lighter;
} target;

/* One frame's work. */
typedef struct steadying {
    const frame *made, *now, *previous;
    unsigned planes;
    mona_size blocks;
    uint64_t still;     /* motion_mask_limit */
    int limit;          /* L */
    int64_t sigma, one; /* of the noise; a step of 8 bits */
    temporal_work *work;
} steadying;

/* Filters `count` samples. With noise, the sign and size of d are unpredictable, so there are no
 * branches. lighter: what is added to the target at even and odd places. */
static inline void filter_row(uint8_t *made, const uint8_t *to, uint32_t count, const int16_t *step,
                              int limit, int most, const int lighter[2], const bool wide,
                              const bool to_wide)
{
    for (uint32_t x = 0; x < count; x++) {
        const int s = plane_sample(made, x, wide),
                  p = plane_sample(to, x, to_wide) + lighter[x % 2];
        const int d = (p < 0 ? 0 : p > most ? most : p) - s;
        const int near = d < -limit ? -limit : d > limit ? limit : d;
        put_plane_sample(made, x, s + step[TEMPORAL_MAX_LIMIT + near], wide);
    }
}

static uint32_t block_side(unsigned plane)
{
    return MOTION_MASK_BLOCK >> (plane > 0);
}

/* Rounded up and down in turn, so that the mean of 2x2 samples is what was asked for. */
static int lighter_at(int quarters, uint32_t x, uint32_t y)
{
    static const int above[2][2] = {{0, 2}, {3, 1}};
    return (int)floor_div(quarters + above[y % 2][x % 2], QUARTERS);
}

/* Moves block (x, y) of a plane towards `to`. */
static void filter_block(const steadying *s, unsigned plane, uint32_t x, uint32_t y,
                         const int16_t *step, target to)
{
    const mona_size size = frame_plane_size(&s->made->format, plane);
    const uint32_t side = block_side(plane), from = x * side;
    const uint32_t count = min_u32(from + side, size.width) - from;
    const bool wide = s->made->format.bits > 8;
    const int most = (1 << s->made->format.bits) - 1;
    for (uint32_t row = y * side; row < min_u32((y + 1) * side, size.height); row++) {
        uint8_t *m = frame_row(s->made, plane, row) + (ptrdiff_t)from * (wide ? 2 : 1);
        const int lighter[2] = {lighter_at(to.lighter, 0, row), lighter_at(to.lighter, 1, row)};
        if (wide)
            filter_row(m, to.data, count, step, s->limit, most, lighter, true, true);
        else if (to.wide)
            filter_row(m, to.data, count, step, s->limit, most, lighter, false, true);
        else
            filter_row(m, to.data, count, step, s->limit, most, lighter, false, false);
        to.data += to.stride;
    }
}

/* ---- what stands still ---------------------------------------------------------------------- */

static inline void add_differences(temporal_light *to, unsigned plane, const uint8_t *made,
                                   const uint8_t *before, uint32_t count, const bool wide)
{
    int32_t sum = 0, both_ways = 0, most = to->most, least = to->least;
    for (uint32_t x = 0; x < count; x++) {
        const int d = plane_sample(made, x, wide) - plane_sample(before, x, wide);
        const int size = d < 0 ? -d : d;
        sum += d;
        both_ways += size;
        most = d > most ? d : most;
        least = d < least ? d : least;
    }
    to->sum[plane] += sum;
    if (plane)
        return;
    to->both_ways += both_ways;
    to->most = most;
    to->least = least;
}

static void measure_light(const steadying *s, unsigned plane)
{
    const mona_size size = frame_plane_size(&s->made->format, plane);
    const uint32_t side = block_side(plane);
    const bool wide = s->made->format.bits > 8;
    for (uint32_t y = 0; y < size.height; y++) {
        const uint8_t *m = frame_row(s->made, plane, y), *p = frame_row(s->previous, plane, y);
        temporal_light *to = s->work->light + (size_t)(y / side) * s->blocks.width;
        for (uint32_t x = 0; x < size.width; x += side, to++) {
            const uint32_t count = min_u32(side, size.width - x);
            const ptrdiff_t at = (ptrdiff_t)x * (wide ? 2 : 1);
            BY_WIDTH(wide, add_differences, to, plane, m + at, p + at, count);
        }
    }
}

/* Of the samples around a block. */
typedef struct light_change {
    int64_t count, sum;
} light_change;

static light_change light_around(const steadying *s, unsigned plane, uint32_t x, uint32_t y)
{
    const mona_size size = frame_plane_size(&s->made->format, plane);
    const uint32_t side = block_side(plane);
    const motion_mask_area a = motion_mask_around(s->blocks, x, y);
    light_change all = {.count = (int64_t)(min_u32(a.right * side, size.width) - a.left * side) *
                                 (min_u32(a.bottom * side, size.height) - a.top * side)};
    for (uint32_t v = a.top; v < a.bottom; v++)
        for (uint32_t u = a.left; u < a.right; u++)
            all.sum += s->work->light[(size_t)v * s->blocks.width + u].sum[plane];
    return all;
}

/* Whether luma around a block changes by light alone: nearly alike within each block, and most of
 * it one way. */
static bool goes_one_way(const steadying *s, uint32_t x, uint32_t y)
{
    const motion_mask_area a = motion_mask_around(s->blocks, x, y);
    int64_t sum = 0, both_ways = 0, apart = 0;
    for (uint32_t v = a.top; v < a.bottom; v++)
        for (uint32_t u = a.left; u < a.right; u++) {
            const temporal_light *l = &s->work->light[(size_t)v * s->blocks.width + u];
            sum += l->sum[0];
            both_ways += l->both_ways;
            apart = l->most - l->least > apart ? l->most - l->least : apart;
        }
    return apart <= 4 * s->one && 8 * (sum < 0 ? -sum : sum) >= 5 * both_ways;
}

/* m (1 - v / m^2), or 0 if that is negative, in quarters of a step rounded to nearest; with the sum
 * D = m N: (D - v N^2 / D) / N. */
static int lighter(const light_change *c, const steadying *s)
{
    const int64_t chance = 4 * s->sigma * s->sigma + c->count * s->one * s->one / 16;
    if (c->sum * c->sum <= chance * c->count)
        return 0;
    return (int)floor_div(2 * QUARTERS * (c->sum - chance * c->count / c->sum) + c->count,
                          2 * c->count);
}

static void filter_still(const steadying *s, uint32_t x, uint32_t y)
{
    for (unsigned p = 0; p < s->planes; p++) {
        const light_change change = light_around(s, p, x, y);
        const bool wide = s->previous->format.bits > 8;
        const ptrdiff_t column = (ptrdiff_t)(x * block_side(p)) * (wide ? 2 : 1);
        const uint8_t *row = frame_row(s->previous, p, y * block_side(p));
        filter_block(s, p, x, y, s->work->step,
                     (target){row + column, s->previous->stride[p], wide, lighter(&change, s)});
    }
}

/* ---- what moves ----------------------------------------------------------------------------- */

/* The sum of squares of the sums (motion_mask.h) in which this frame differs from a window of the
 * previous frame. */
static uint64_t squared_sums(const frame *now, const motion_window *w)
{
    const bool wide = now->format.bits > 8;
    int64_t sums[WINDOW_SUMS][WINDOW_SUMS] = {{0}};
    for (uint32_t y = 0; y < MOTION_WINDOW; y++) {
        const uint8_t *row = frame_row(now, 0, w->y + y);
        for (uint32_t x = 0; x < MOTION_WINDOW; x++)
            sums[y / MOTION_MASK_SUM][x / MOTION_MASK_SUM] +=
                plane_sample(row, w->x + x, wide) - w->luma[y][x];
    }
    uint64_t squares = 0;
    for (int y = 0; y < WINDOW_SUMS; y++)
        for (int x = 0; x < WINDOW_SUMS; x++)
            squares += (uint64_t)(sums[y][x] * sums[y][x]);
    return squares;
}

/* Whether block (x, y) was found. One that stands still and is hardly more alike elsewhere was not:
 * averages over one place are better than over places that noise chose. */
static bool find_block(const steadying *s, uint32_t x, uint32_t y, motion_vector *here)
{
    motion_difference difference;
    motion_window window;
    if (!motion_search(s->work->vectors, s->blocks.width, x, y, s->made, s->previous, &difference))
        return false;
    motion_fetch_luma(s->previous, x, y, *here, &window);
    if (squared_sums(s->now, &window) * 4 > s->still * 3 * WINDOW_SUMS * WINDOW_SUMS)
        return false;
    return (uint64_t)difference.moved * 5 <= (uint64_t)difference.unmoved * 4 ||
           !motion_mask_is_still(s->work->blocks, s->blocks, x, y, s->still);
}

/* Finds where blocks come from. Where hardly any block was there before, still or not, there is a
 * cut: then those that seem to be alike are not trusted, and no vector is kept for the next
 * frame. */
static void find_motion(const steadying *s)
{
    const size_t count = (size_t)s->blocks.width * s->blocks.height;
    size_t known = 0;
    for (uint32_t y = 0; y < s->blocks.height; y++)
        for (uint32_t x = 0; x < s->blocks.width; x++) {
            motion_vector *here = &s->work->vectors[(size_t)y * s->blocks.width + x];
            const bool found = find_block(s, x, y, here);
            here->trusted = found;
            known += found || motion_mask_is_still(s->work->blocks, s->blocks, x, y, s->still);
        }
    if (known * CUT_SHARE < count)
        memset(s->work->vectors, 0, count * sizeof *s->work->vectors);
}

static void filter_moving(const steadying *s, uint32_t x, uint32_t y, motion_vector by)
{
    motion_window window;
    motion_fetch_luma(s->previous, x, y, by, &window);
    const uint32_t left = x * MOTION_MASK_BLOCK - window.x, top = y * MOTION_MASK_BLOCK - window.y;
    uint16_t chroma[MOTION_CHROMA][MOTION_CHROMA];
    filter_block(s, 0, x, y, s->work->moving,
                 (target){(const uint8_t *)&window.luma[top][left], sizeof *window.luma, true, 0});
    for (unsigned p = 1; p < s->planes; p++)
        if (motion_fetch_chroma(s->previous, p, x, y, by, chroma))
            filter_block(s, p, x, y, s->work->moving,
                         (target){(const uint8_t *)chroma, sizeof *chroma, true, 0});
}

/* ---- the whole frame ------------------------------------------------------------------------ */

static void temporal_filter_any(const frame *made, const frame *now, const frame *previous,
                                unsigned planes, unsigned sigma, unsigned enlarged,
                                temporal_cause cause, temporal_work *work)
{
    const unsigned one = 1u << (made->format.bits - 8);
    if (sigma <= one)
        return;
    const steadying s = {.made = made,
                         .now = now,
                         .previous = previous,
                         .planes = planes,
                         .blocks = motion_mask_measure(work->blocks, now, previous),
                         .still = motion_mask_limit(&now->format, sigma, enlarged) /
                                  (cause == TEMPORAL_SUPPOSED ? 2 : 1),
                         .limit = make_steps(work->step, sigma, one, STILL_TENTHS),
                         .one = one,
                         .sigma = sigma,
                         .work = work};
    make_steps(work->moving, sigma, one, MOVING_TENTHS);
    const bool moving = cause == TEMPORAL_NOISE;
    if (moving)
        find_motion(&s);
    for (size_t i = 0; i < (size_t)s.blocks.width * s.blocks.height; i++)
        work->light[i] = (temporal_light){.most = INT32_MIN, .least = INT32_MAX};
    for (unsigned p = 0; p < planes; p++)
        measure_light(&s, p);
    for (uint32_t y = 0; y < s.blocks.height; y++)
        for (uint32_t x = 0; x < s.blocks.width; x++) {
            const motion_vector by = work->vectors[(size_t)y * s.blocks.width + x];
            if (moving && by.trusted)
                filter_moving(&s, x, y, by);
            else if (motion_mask_is_still(work->blocks, s.blocks, x, y, s.still) &&
                     (cause == TEMPORAL_NOISE || !goes_one_way(&s, x, y)))
                filter_still(&s, x, y);
        }
}

VECTOR_PROCEDURE(temporal_filter,
                 (const frame *made, const frame *now, const frame *previous, unsigned planes,
                  unsigned sigma, unsigned enlarged, temporal_cause cause, temporal_work *work),
                 (made, now, previous, planes, sigma, enlarged, cause, work))
