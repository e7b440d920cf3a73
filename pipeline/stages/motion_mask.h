// SPDX-License-Identifier: Apache-2.0
/* What stands still since the frame before.
 *
 * Of the differences between the luma of a frame and that of what was made of the one before, the
 * sums q of 4x4 samples are compared with what noise makes of them: independent noise of sigma
 * steps has sums with a variance of 16 sigma^2, while what has moved differs by patches. Frames are
 * looked at in blocks of 8x8 samples. A block stands still when over it and those around it, 5x5
 * blocks or as many as there are,
 *
 *     mean q^2 <= 40 sigma^2 e^2 + 1024
 *
 * with e = 1: 2.5 times that, as what was left in the frame before counts too, and what 2 steps of
 * 8 bits in every sample come to, for slow changes of light. The mean of the squares of 100
 * independent sums spreads by sqrt(2 / 100) = 14 %, so noise alone hardly ever comes there
 * (measured on photographs with a sigma of 10 and 25: 0 and 5 blocks of 10,000). Of a pan by 2
 * pixels across and down, what is taken for still differs by a mean square of 9 at a sigma of 25;
 * all of it by 558. Noise that was enlarged e times is alike over e x e samples, so its sums have
 * e^2 times the variance, up to e = 4, where a sum's samples are all alike. */
#ifndef MONA_MOTION_MASK_H
#define MONA_MOTION_MASK_H

#include "pipeline/stages/frame.h"

enum { MOTION_MASK_BLOCK = 8, MOTION_MASK_SUM = 4, MOTION_MASK_AROUND = 2 };

/* The differences in a block. */
typedef struct motion_mask_block {
    uint64_t squares; /* of its sums */
    uint32_t sums;    /* at the right and lower edge fewer than 4, or none */
} motion_mask_block;

/* Blocks of a frame of this format. */
size_t motion_mask_blocks(const frame_format *format);

/* Measures the differences of luma in all blocks, and tells how many there are across and down. */
mona_size motion_mask_measure(motion_mask_block *blocks, const frame *now, const frame *previous);

/* What a block's mean q^2 may be. sigma: in steps of the samples. */
uint64_t motion_mask_limit(const frame_format *format, unsigned sigma, unsigned enlarged);

/* Whether block (x, y) stands still. count: of motion_mask_measure. */
bool motion_mask_is_still(const motion_mask_block *blocks, mona_size count, uint32_t x, uint32_t y,
                          uint64_t limit);

#endif
