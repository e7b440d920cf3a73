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

/* How far samples go towards their targets: g d (1 - d^2 / L^2), with each step's nearest whole
 * number, halves up. */
typedef struct steps {
    int limit;             /* L */
    double square, factor; /* L^2, g / L^2 */
} steps;

/* `one` is one step of 8 bits. */
static steps make_steps(unsigned sigma, unsigned one, unsigned tenths)
{
    const unsigned limit = min_u32(sigma + 4 * one, TEMPORAL_MAX_LIMIT);
    const double square = (double)limit * limit;
    return (steps){(int)limit, square, tenths * (double)(sigma - one) / (10.0 * sigma * square)};
}

/* With K = tenths (sigma - one) and W = 10 sigma L^2, what is rounded is r = K d (L^2 - d^2) / W. d
 * (L^2 - d^2) < 2^29 is exact, and so are K and W; r + 1/2 < 2^9 comes out wrong by less than 2^-42
 * and is a whole number or 1 / 2W > 2^-39 from one, for sigma < 2^14 and L <= 2^10. */
#define HALF_UP (0.5 + 0x1p-41)

static inline int step_towards(steps by, int d)
{
    const int far = d < 0 ? -d : d;
    const double near = far < by.limit ? far : by.limit;
    const int size = (int)(near * (by.square - near * near) * by.factor + HALF_UP);
    return d < 0 ? -size : size;
}

enum { QUARTERS = 4 };

/* So many blocks of a row are treated at once, so that loops over their samples are long enough for
 * vectors. */
enum { GROUP = 8, GROUP_SAMPLES = GROUP * MOTION_MASK_BLOCK };

/* One frame's work. */
typedef struct steadying {
    const frame *made, *now, *previous;
    unsigned planes;
    mona_size blocks;
    uint64_t still;     /* motion_mask_limit */
    int64_t sigma, one; /* of the noise; a step of 8 bits */
    steps stays, moves; /* of blocks that stand still, and of others */
    bool moving;        /* others are steadied, too */
    temporal_work *work;
} steadying;

/* What a row of samples goes to: those of the previous frame that are `lighter` now. Not where
 * `goes` is 0, or else -1. */
typedef struct target {
    int32_t lighter[GROUP_SAMPLES], goes[GROUP_SAMPLES];
} target;

/* Filters `count` samples. With noise, the sign and size of d are unpredictable, so there are no
 * branches. */
static inline void filter_samples(uint8_t *made, const uint8_t *previous, uint32_t count, steps by,
                                  int most, const target *to, const bool wide, const bool to_wide)
{
    for (uint32_t x = 0; x < count; x++) {
        const int s = plane_sample(made, x, wide),
                  p = plane_sample(previous, x, to_wide) + to->lighter[x];
        const int d = (p < 0 ? 0 : p > most ? most : p) - s;
        put_plane_sample(made, x, s + (step_towards(by, d) & to->goes[x]), wide);
    }
}

/* Not inlined, as it is called for what moves and for what does not: as vector code it is long. */
static __attribute__((noinline)) void filter_row(uint8_t *made, const uint8_t *previous,
                                                 uint32_t count, steps by, unsigned bits,
                                                 const target *to, bool previous_wide)
{
    const int most = (1 << bits) - 1;
    if (bits > 8)
        filter_samples(made, previous, count, by, most, to, true, true);
    else if (previous_wide)
        filter_samples(made, previous, count, by, most, to, false, true);
    else
        filter_samples(made, previous, count, by, most, to, false, false);
}

static uint32_t block_side(unsigned plane)
{
    return MOTION_MASK_BLOCK >> (plane > 0);
}

/* The samples of a plane in `count` blocks of a row, of which (x, y) is the first. */
typedef struct part {
    uint32_t top, columns, rows;
    ptrdiff_t at; /* in bytes from the beginning of their rows */
} part;

static part part_of(const steadying *s, unsigned plane, uint32_t x, uint32_t y, uint32_t count)
{
    const mona_size size = frame_plane_size(&s->made->format, plane);
    const uint32_t side = block_side(plane), left = x * side, top = y * side;
    return (part){top, min_u32(size.width - left, count * side), min_u32(size.height - top, side),
                  (ptrdiff_t)left * (s->made->format.bits > 8 ? 2 : 1)};
}

/* ---- what stands still ---------------------------------------------------------------------- */

static inline void add_light(temporal_light *to, const temporal_light *more)
{
    for (int i = 0; i < LIGHT_FIELDS; i++)
        to->of[i] += more->of[i];
}

/* How a block of a plane differs. made, before: its first samples. */
static inline void add_differences(temporal_light *to, unsigned plane, const uint8_t *made,
                                   ptrdiff_t made_stride, const uint8_t *before,
                                   ptrdiff_t before_stride, part block, int64_t one,
                                   const bool wide)
{
    int32_t sum = 0, both_ways = 0, most = INT32_MIN, least = INT32_MAX;
    for (uint32_t y = 0; y < block.rows; y++, made += made_stride, before += before_stride)
        for (uint32_t x = 0; x < block.columns; x++) {
            const int d = plane_sample(made, x, wide) - plane_sample(before, x, wide);
            sum += d;
            both_ways += d < 0 ? -d : d;
            most = d > most ? d : most;
            least = d < least ? d : least;
        }
    to->of[LIGHT_SUM + plane] = sum;
    to->of[LIGHT_COUNT + plane] = (int32_t)(block.columns * block.rows);
    if (plane)
        return;
    to->of[LIGHT_BOTH_WAYS] = both_ways;
    to->of[LIGHT_UNEVEN] = most - least > 4 * one;
}

static void measure_light(const steadying *s, unsigned plane)
{
    temporal_light *to = s->work->light;
    for (uint32_t y = 0; y < s->blocks.height; y++)
        for (uint32_t x = 0; x < s->blocks.width; x++, to++) {
            const part block = part_of(s, plane, x, y, 1);
            BY_WIDTH(s->made->format.bits > 8, add_differences, to, plane,
                     frame_row(s->made, plane, block.top) + block.at, s->made->stride[plane],
                     frame_row(s->previous, plane, block.top) + block.at,
                     s->previous->stride[plane], block, s->one);
        }
}

size_t temporal_lights(const frame_format *format)
{
    return motion_mask_blocks(format) + motion_mask_size(format).width;
}

/* The sums over the rows around row y. */
static temporal_light *sum_rows(const steadying *s, uint32_t y)
{
    const motion_mask_area a = motion_mask_around(s->blocks, 0, y);
    temporal_light *const to = s->work->light + (size_t)s->blocks.width * s->blocks.height;
    memset(to, 0, s->blocks.width * sizeof *to);
    for (uint32_t v = a.top; v < a.bottom; v++)
        for (uint32_t u = 0; u < s->blocks.width; u++)
            add_light(&to[u], &s->work->light[(size_t)v * s->blocks.width + u]);
    return to;
}

/* The sum over the columns around column x. */
static temporal_light sum_columns(const steadying *s, const temporal_light *rows, uint32_t x)
{
    const motion_mask_area a = motion_mask_around(s->blocks, x, 0);
    temporal_light all = {{0}};
    for (uint32_t u = a.left; u < a.right; u++)
        add_light(&all, &rows[u]);
    return all;
}

/* Whether luma changes by light alone: nearly alike within each block, and most of it one way. */
static bool goes_one_way(const temporal_light *l)
{
    const int64_t sum = l->of[LIGHT_SUM];
    return !l->of[LIGHT_UNEVEN] &&
           8 * (sum < 0 ? -sum : sum) >= 5 * (int64_t)l->of[LIGHT_BOTH_WAYS];
}

/* m (1 - v / m^2), or 0 if that is negative, in quarters of a step rounded to nearest; with the sum
 * D = m N: (D - v N^2 / D) / N. */
static int lighter(const temporal_light *l, unsigned plane, const steadying *s)
{
    const int64_t sum = l->of[LIGHT_SUM + plane], count = l->of[LIGHT_COUNT + plane];
    const int64_t chance = 4 * s->sigma * s->sigma + count * s->one * s->one / 16;
    if (sum * sum <= chance * count)
        return 0;
    return (int)floor_div(2 * QUARTERS * (sum - chance * count / sum) + count, 2 * count);
}

/* Rounded up and down in turn, so that the mean of 2x2 samples is what was asked for. */
static void set_target(target to[2], uint32_t from, uint32_t count, int quarters, bool goes)
{
    static const int above[2][2] = {{0, 2}, {3, 1}};
    for (uint32_t y = 0; y < 2; y++) {
        const int even = floor_div_small(quarters + above[y][0], QUARTERS);
        const int odd = floor_div_small(quarters + above[y][1], QUARTERS);
        for (uint32_t x = from; x < from + count; x++) {
            to[y].lighter[x] = x % 2 ? odd : even;
            to[y].goes[x] = -goes;
        }
    }
}

/* Filters those of a group of blocks that stay. around: of each of these, its light. */
static void filter_still(const steadying *s, unsigned plane, uint32_t x, uint32_t y,
                         const bool stays[GROUP], const temporal_light around[GROUP])
{
    const part group = part_of(s, plane, x, y, GROUP);
    const uint32_t side = block_side(plane);
    target to[2];
    for (uint32_t i = 0; i < GROUP; i++)
        set_target(to, i * side, side, stays[i] ? lighter(&around[i], plane, s) : 0, stays[i]);
    for (uint32_t row = group.top; row < group.top + group.rows; row++)
        filter_row(frame_row(s->made, plane, row) + group.at,
                   frame_row(s->previous, plane, row) + group.at, group.columns, s->stays,
                   s->made->format.bits, &to[row % 2], s->made->format.bits > 8);
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

/* Filters a block of a plane; from: what was found, its first sample. */
static void filter_found(const steadying *s, unsigned plane, uint32_t x, uint32_t y,
                         const uint16_t *from, uint32_t stride)
{
    const part block = part_of(s, plane, x, y, 1);
    target to = {.lighter = {0}};
    memset(to.goes, -1, sizeof to.goes);
    for (uint32_t row = 0; row < block.rows; row++, from += stride)
        filter_row(frame_row(s->made, plane, block.top + row) + block.at, (const uint8_t *)from,
                   block.columns, s->moves, s->made->format.bits, &to, true);
}

static void filter_moving(const steadying *s, uint32_t x, uint32_t y, motion_vector by)
{
    motion_window window;
    motion_fetch_luma(s->previous, x, y, by, &window);
    const uint32_t left = x * MOTION_MASK_BLOCK - window.x, top = y * MOTION_MASK_BLOCK - window.y;
    uint16_t chroma[MOTION_CHROMA][MOTION_CHROMA];
    filter_found(s, 0, x, y, &window.luma[top][left], MOTION_WINDOW);
    for (unsigned p = 1; p < s->planes; p++)
        if (motion_fetch_chroma(s->previous, p, x, y, by, chroma))
            filter_found(s, p, x, y, chroma[0], MOTION_CHROMA);
}

/* ---- the whole frame ------------------------------------------------------------------------ */

/* Filters a group of blocks whose first is (x, y). rows: sum_rows(s, y). */
static void filter_group(const steadying *s, uint32_t x, uint32_t y, const temporal_light *rows)
{
    bool stays[GROUP] = {false}, any = false;
    temporal_light around[GROUP];
    for (uint32_t i = 0; i < GROUP && x + i < s->blocks.width; i++) {
        const motion_vector by = s->work->vectors[(size_t)y * s->blocks.width + x + i];
        if (s->moving && by.trusted) {
            filter_moving(s, x + i, y, by);
            continue;
        }
        if (!motion_mask_is_still(s->work->blocks, s->blocks, x + i, y, s->still))
            continue;
        around[i] = sum_columns(s, rows, x + i);
        stays[i] = s->moving || !goes_one_way(&around[i]);
        any = any || stays[i];
    }
    for (unsigned p = 0; p < s->planes && any; p++)
        filter_still(s, p, x, y, stays, around);
}

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
                         .sigma = sigma,
                         .one = one,
                         .stays = make_steps(sigma, one, STILL_TENTHS),
                         .moves = make_steps(sigma, one, MOVING_TENTHS),
                         .moving = cause == TEMPORAL_NOISE,
                         .work = work};
    if (s.moving)
        find_motion(&s);
    memset(work->light, 0, (size_t)s.blocks.width * s.blocks.height * sizeof *work->light);
    for (unsigned p = 0; p < planes; p++)
        measure_light(&s, p);
    for (uint32_t y = 0; y < s.blocks.height; y++) {
        const temporal_light *const rows = sum_rows(&s, y);
        for (uint32_t x = 0; x < s.blocks.width; x += GROUP)
            filter_group(&s, x, y, rows);
    }
}

VECTOR_PROCEDURE(temporal_filter,
                 (const frame *made, const frame *now, const frame *previous, unsigned planes,
                  unsigned sigma, unsigned enlarged, temporal_cause cause, temporal_work *work),
                 (made, now, previous, planes, sigma, enlarged, cause, work))
