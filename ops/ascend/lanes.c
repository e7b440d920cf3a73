// SPDX-License-Identifier: Apache-2.0
/* See lanes.h. Both ways use the same blocks, swapped: a transpose is its own inverse.
 *
 * Samples. A lane has S pixels of `block` samples, `block` blocks of 32 bytes, each one or two
 * parts of 16 samples. Sample s of part h of block b is number t = S b + 16 h + s of the lane:
 * channel t % block of pixel t / block. An instruction takes one part of all 16 lanes, its rows
 * are those of its 16 samples, and its repeats are the groups. With 8 bits, t / 16 block is the
 * same for all samples of a part if block is 1, 2 or 4, and so is the half of the block that their
 * rows lie in.
 *
 * Channel blocks. A lane has S c0 elements, U = S c0 / 16 units of 16. Element k of unit g is
 * number e = 16 g + k: channel e % c0 of pixel e / c0. An instruction takes one unit of all lanes.
 * Its repeats are the groups, or, if that takes fewer instructions, other units of the same halves:
 * of 8 bits those of the same parity. Their rows lie 16 c0 apart. */
#include "ops/ascend/lanes.h"

/* Parts of a block of 32 bytes that are transposed one by one. */
static uint32_t parts(const mona_lanes *l)
{
    return 2 / l->element;
}

static uint32_t row_count(const mona_lanes *l)
{
    return LANES * parts(l);
}

/* The block of row `row` of group 0 of channel c. */
static ac_address row_of(const mona_lanes *l, int64_t c, uint32_t count, uint32_t row)
{
    const bool there = c >= 0 && c < count;
    const size_t index = l->repeats ? 0 : (size_t)c;
    const ac_address channel =
        there ? l->channels + index * l->groups * LANES_GROUP_BYTES : l->spare;
    return channel + row % LANES * AC_BLOCK;
}

static void turn_samples(const mona_lanes *l, uint32_t first, uint32_t block, ac_address samples,
                         bool to_lanes)
{
    for (uint32_t b = 0; b < block; b++)
        for (uint32_t h = 0; h < parts(l); h++) {
            const uint32_t t = row_count(l) * b + LANES * h;
            ac_turned plane = {.high = h, .repeat = LANES * block};
            ac_turned rows = {.high = t / block / LANES, .repeat = LANES_GROUP_BYTES / AC_BLOCK};
            for (uint32_t i = 0; i < LANES; i++) {
                plane.at[i] = samples + (size_t)(block * i + b) * AC_BLOCK;
                rows.at[i] = row_of(l, first + (t + i) % block, UINT32_MAX, (t + i) / block);
            }
            turn_all(l->core, l->element, to_lanes ? &rows : &plane, to_lanes ? &plane : &rows,
                     l->groups);
        }
}

void mona_lanes_from_samples(const mona_lanes *l, uint32_t first, uint32_t block,
                             ac_address samples)
{
    turn_samples(l, first, block, samples, true);
}

void mona_lanes_to_samples(const mona_lanes *l, uint32_t first, uint32_t block, ac_address samples)
{
    turn_samples(l, first, block, samples, false);
}

/* ---- channel blocks ------------------------------------------------------------------------- */

typedef struct units {
    int32_t first;
    uint32_t count, c0;
    uint32_t of_lane; /* U */
    bool to_lanes;
    ac_address block;
} units;

/* Transposes `repeats` units, from unit g of group `group` on: those of the groups that follow, or
 * every parts()th unit. */
static void turn_unit(const mona_lanes *l, const units *u, uint32_t group, uint32_t g,
                      uint32_t repeats, bool over_groups)
{
    const uint32_t pixel = LANES * g / u->c0, bytes = LANES * l->element;
    const size_t group_bytes = (size_t)LANES * u->of_lane * bytes;
    ac_turned rows = {.high = pixel / LANES, .repeat = LANES_GROUP_BYTES / AC_BLOCK};
    ac_turned blocks = {.high = g % parts(l), .repeat = (uint32_t)(group_bytes / AC_BLOCK)};
    if (!over_groups) {
        rows.repeat = LANES * parts(l) / u->c0;
        blocks.repeat = 1;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t e = LANES * g + i;
        rows.at[i] = row_of(l, (int64_t)u->first + e % u->c0, u->count, e / u->c0) +
                     (size_t)group * LANES_GROUP_BYTES;
        blocks.at[i] = u->block + group * group_bytes + (u->of_lane * i + g) / parts(l) * AC_BLOCK;
    }
    turn_all(l->core, l->element, u->to_lanes ? &rows : &blocks, u->to_lanes ? &blocks : &rows,
             repeats);
}

/* The rows of of_lane / parts units lie in the same half. 1 / parts of these units have the same
 * parity. */
static void turn_block(const mona_lanes *l, const units *u)
{
    const uint32_t halves = u->of_lane / parts(l), repeats = halves / parts(l);
    const uint32_t stride = LANES * u->of_lane * LANES * l->element / AC_BLOCK;
    const bool over_groups = !repeats || u->c0 > LANES * parts(l) ||
                             (stride <= UINT8_MAX && u->of_lane < l->groups * parts(l) * parts(l));
    for (uint32_t g = 0; over_groups && g < u->of_lane; g++)
        turn_unit(l, u, 0, g, l->groups, true);
    for (uint32_t group = 0; !over_groups && group < l->groups; group++)
        for (uint32_t h = 0; h < parts(l); h++)
            for (uint32_t p = 0; p < parts(l); p++)
                turn_unit(l, u, group, h * halves + p, repeats, false);
}

void mona_lanes_to_block(const mona_lanes *l, int32_t first, uint32_t count, uint32_t c0,
                         ac_address block)
{
    turn_block(l, &(units){first, count, c0, row_count(l) * c0 / LANES, false, block});
}

void mona_lanes_from_block(const mona_lanes *l, int32_t first, uint32_t count, uint32_t c0,
                           ac_address block)
{
    turn_block(l, &(units){first, count, c0, row_count(l) * c0 / LANES, true, block});
}

/* ---- pieces --------------------------------------------------------------------------------- */

enum { ROW_PIXELS = 32 };

static uint32_t pitch_of(uint32_t pixels)
{
    return (pixels + ROW_PIXELS - 1) / ROW_PIXELS * ROW_PIXELS;
}

uint32_t mona_lanes_groups(mona_span columns, uint32_t rows, uint32_t element, uint32_t max)
{
    const uint32_t all = rows * pitch_of((uint32_t)(columns.end - columns.begin));
    const uint32_t group = mona_lanes_group_pixels(element), groups = (all + group - 1) / group;
    return groups < max ? groups : max;
}

bool mona_lanes_have_gaps(mona_span columns, uint32_t rows, uint32_t element, uint32_t groups)
{
    const uint32_t pixels = (uint32_t)(columns.end - columns.begin);
    const uint32_t group = mona_lanes_group_pixels(element);
    const bool one_piece = rows * pitch_of(pixels) <= groups * group;
    return pixels % ROW_PIXELS || pixels * (one_piece ? rows : 1) % group;
}

void mona_lanes_pieces(const mona_row_call *calls, uint32_t count, mona_span columns,
                       uint32_t element, uint32_t groups,
                       void (*work)(void *program, const mona_piece *piece), void *program)
{
    const uint32_t group = mona_lanes_group_pixels(element), room = groups * group;
    const uint32_t pixels = (uint32_t)(columns.end - columns.begin);
    const uint32_t max = room / pitch_of(pixels); /* rows of a piece; 0: part of one */
    for (uint32_t y = 0, rows; y < count; y += rows) {
        rows = !max ? 1 : count - y < max ? count - y : max;
        for (uint32_t x = 0, part; x < pixels; x += part) {
            part = max || pixels - x < room ? pixels - x : room;
            const uint32_t pitch = pitch_of(part);
            work(program, &(mona_piece){.calls = calls + y,
                                        .x = columns.begin + x,
                                        .rows = rows,
                                        .count = part,
                                        .pitch = pitch,
                                        .groups = (rows * pitch + group - 1) / group,
                                        .last = y + rows == count && x + part == pixels});
        }
    }
}
