// SPDX-License-Identifier: Apache-2.0
/* Planes and channel blocks turned into each other in UB, by transposes alone. Private to ops/.
 *
 * Between the two lie lanes. Let S be the elements of a block of 32 bytes: 32 of 8 bits, 16 of 16.
 * A group is 16 S pixels, of which lane j, 0 <= j < 16, has S j .. S j + S - 1. A channel of a
 * group is S rows of 16 elements, row i having pixel i of every lane: 512 bytes. A row of 16 bits
 * is a block; of 8 bits, row i is the lower half (i < 16) or the upper half of block i % 16, since
 * an instruction works on halves of one kind. */
#ifndef MONA_OPS_LANES_H
#define MONA_OPS_LANES_H

#include "ops/ops.h"
#include "ops/vectors.h"

enum { LANES = 16, LANES_GROUP_BYTES = 512 };

typedef struct mona_lanes {
    ac_core *core;
    uint32_t element; /* bytes: 1 or 2 */
    uint32_t groups;
    uint8_t *channels; /* [channel][groups][512 bytes] */
    uint8_t *spare;    /* one more channel, for those that are not there: zeros where lanes are
                          read; where they are written it is overwritten */
} mona_lanes;

static inline uint32_t mona_lanes_group_pixels(uint32_t element)
{
    return LANES_GROUP_BYTES / element;
}

/* Samples of one row of a plane, `block` to a pixel, [groups * pixels of a group * block]. They
 * are the channels first .. first + block - 1. Of 8 bits, block is 1, 2 or 4. */
void mona_lanes_from_samples(const mona_lanes *lanes, uint32_t first, uint32_t block,
                             const uint8_t *samples);
void mona_lanes_to_samples(const mona_lanes *lanes, uint32_t first, uint32_t block,
                           uint8_t *samples);

/* A channel block, [groups * pixels of a group][c0]. Its channels are first .. first + c0 - 1 of
 * the lanes, of which 0 .. count - 1 are there. */
void mona_lanes_to_block(const mona_lanes *lanes, int32_t first, uint32_t count, uint32_t c0,
                         uint8_t *block);
void mona_lanes_from_block(const mona_lanes *lanes, int32_t first, uint32_t count, uint32_t c0,
                           const uint8_t *block);

/* What UB holds at once: `count` columns from column x on of the rows of calls[0 .. rows - 1]. The
 * rows lie one after another, each beginning at a multiple of 32 pixels. */
typedef struct mona_piece {
    const mona_row_call *calls;
    int64_t x;
    uint32_t rows, count;
    uint32_t pitch;  /* pixels from row to row */
    uint32_t groups; /* that hold all of them */
    bool last;
} mona_piece;

/* Groups that hold these columns of so many rows, but not more than `most`. */
uint32_t mona_lanes_groups(mona_span columns, uint32_t rows, uint32_t element, uint32_t most);
/* Whether pieces of so many groups at most have parts that are no pixel's. */
bool mona_lanes_have_gaps(mona_span columns, uint32_t rows, uint32_t element, uint32_t groups);
/* Calls `work` for one piece after another, each of so many groups at most. */
void mona_lanes_pieces(const mona_row_call *calls, uint32_t count, mona_span columns,
                       uint32_t element, uint32_t groups,
                       void (*work)(void *program, const mona_piece *piece), void *program);

/* Rows that lie so many bytes apart. */
typedef struct mona_steps {
    uint8_t *at;
    ptrdiff_t step;
} mona_steps;

/* Copies `bytes`, whole blocks, of each row: all rows at once where both sides allow it. */
void mona_copy_rows(ac_core *core, ac_path path, mona_steps to, mona_steps from, uint32_t rows,
                    uint32_t bytes);

#endif
