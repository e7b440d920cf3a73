// SPDX-License-Identifier: Apache-2.0
/* Turns planes into channel blocks and back in UB, by transposes alone. Private to ops/.
 *
 * Between the two are lanes. Let S be the number of elements in a block of 32 bytes: 32 of 8 bits,
 * or 16 of 16 bits. A group is 16 S pixels; lane j, 0 <= j < 16, holds pixels S j to S j + S - 1 of
 * it. A channel of a group is S rows of 16 elements, 512 bytes: row i holds pixel i of every lane.
 * A row of 16 bits is a block. Of 8 bits, row i is half of block i % 16, the lower half if i < 16,
 * else the upper, since an instruction works on halves of one kind. */
#ifndef MONA_OPS_LANES_H
#define MONA_OPS_LANES_H

#include "engine/op/op.h"
#include "ops/ascend/vectors.h"

enum { LANES = 16, LANES_GROUP_BYTES = 512 };

typedef struct mona_lanes {
    ac_core *core;
    uint32_t element; /* bytes: 1 or 2 */
    uint32_t groups;
    ac_address channels; /* [channel][groups][512 bytes] */
    ac_address spare; /* a channel in place of those that do not exist: zeros to read from, or room
                          to write to */
    bool repeats;     /* there is one channel, which stands for all */
} mona_lanes;

static inline uint32_t mona_lanes_group_pixels(uint32_t element)
{
    return LANES_GROUP_BYTES / element;
}

/* Samples of one row of a plane, [groups * pixels of a group][block], to or from channels first to
 * first + block - 1. With 8 bits, block is 1, 2 or 4. */
void mona_lanes_from_samples(const mona_lanes *lanes, uint32_t first, uint32_t block,
                             ac_address samples);
void mona_lanes_to_samples(const mona_lanes *lanes, uint32_t first, uint32_t block,
                           ac_address samples);

/* A channel block, [groups * pixels of a group][c0], from or to channels first to first + c0 - 1 of
 * the lanes. Channels 0 to count - 1 of the lanes exist. */
void mona_lanes_to_block(const mona_lanes *lanes, int32_t first, uint32_t count, uint32_t c0,
                         ac_address block);
void mona_lanes_from_block(const mona_lanes *lanes, int32_t first, uint32_t count, uint32_t c0,
                           ac_address block);

/* The contents of UB: for each of calls[0] to calls[rows - 1], `count` columns of its row from
 * column x on. The rows lie one after another, each beginning at a multiple of 32 pixels. */
typedef struct mona_piece {
    const mona_row_call *calls;
    int64_t x;
    uint32_t rows, count;
    uint32_t pitch;  /* pixels from one row to the next */
    uint32_t groups; /* groups that hold all these pixels */
    bool last;       /* no piece follows */
} mona_piece;

/* Groups needed for these columns of so many rows, at most `max`. */
uint32_t mona_lanes_groups(mona_span columns, uint32_t rows, uint32_t element, uint32_t max);
/* Whether pieces of up to so many groups have parts that belong to no pixel. */
bool mona_lanes_have_gaps(mona_span columns, uint32_t rows, uint32_t element, uint32_t groups);
/* Calls `work` for one piece after another, each of up to so many groups. */
void mona_lanes_pieces(const mona_row_call *calls, uint32_t count, mona_span columns,
                       uint32_t element, uint32_t groups,
                       void (*work)(void *program, const mona_piece *piece), void *program);

#endif
