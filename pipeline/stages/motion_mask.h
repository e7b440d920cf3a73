// SPDX-License-Identifier: Apache-2.0
/* Finds the parts of a frame that stand still since the previous frame.
 *
 * The differences between a frame's luma and the previous frame's result are summed over 4x4
 * samples. These sums q are compared with those of noise: for independent noise of sigma steps they
 * have a variance of 16 sigma^2, while motion differs in patches. Frames are examined in blocks of
 * 8x8 samples. A block stands still if, over it and the blocks around it, 5x5 blocks or as many as
 * there are,
 *
 *     mean q^2 <= 40 sigma^2 e^2 + 1024
 *
 * with e = 1. The first term is 2.5 times the variance, as the previous frame has some noise left
 * too. The second is a difference of 2 steps of 8 bits in every sample, for slow changes of light.
 * The mean of the squares of 100 independent sums spreads by sqrt(2 / 100) = 14 %, so noise alone
 * hardly ever reaches the limit (measured on photographs with a sigma of 10 and 25: 0 and 5 blocks
 * of 10,000). In a pan by 2 pixels across and down, the blocks that count as still differ by a mean
 * square of 9 at a sigma of 25; all blocks by 558. Noise that was enlarged e times is the same over
 * e x e samples, so its sums have e^2 times the variance, up to e = 4, where all samples of a sum
 * are equal. */
#ifndef MONA_MOTION_MASK_H
#define MONA_MOTION_MASK_H

#include "pipeline/stages/frame.h"

enum { MOTION_MASK_BLOCK = 8, MOTION_MASK_SUM = 4, MOTION_MASK_AROUND = 2 };

/* The differences in a block. */
typedef struct motion_mask_block {
    uint64_t squares; /* of the block's sums */
    uint32_t sums;    /* fewer than 4 at the right and lower edges, or none */
} motion_mask_block;

/* How many blocks a frame of this format has across and down, and in all. */
mona_size motion_mask_size(const frame_format *format);
size_t motion_mask_blocks(const frame_format *format);

/* Measures the differences of luma in all blocks; returns motion_mask_size. */
mona_size motion_mask_measure(motion_mask_block *blocks, const frame *now, const frame *previous);

/* Blocks [left, right) and [top, bottom). */
typedef struct motion_mask_area {
    uint32_t left, top, right, bottom;
} motion_mask_area;

/* Block (x, y) and those around it, as many as there are. */
motion_mask_area motion_mask_around(mona_size count, uint32_t x, uint32_t y);

/* The largest mean q^2 of a block that stands still. sigma: in steps of the samples. */
uint64_t motion_mask_limit(const frame_format *format, unsigned sigma, unsigned enlarged);

/* Whether block (x, y) stands still. count: motion_mask_size. */
bool motion_mask_is_still(const motion_mask_block *blocks, mona_size count, uint32_t x, uint32_t y,
                          uint64_t limit);

#endif
