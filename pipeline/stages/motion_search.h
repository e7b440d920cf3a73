// SPDX-License-Identifier: Apache-2.0
/* Finds where blocks of luma were in the previous frame, to a quarter of a sample.
 *
 * A block of 8x8 samples is compared together with 4 samples around it, 16x16 in all, by the sum of
 * absolute differences. The search starts from the best of its neighbours' vectors, the same
 * block's vector in the previous frame, and no motion; it descends in steps of 8 to 1 samples, and
 * then in halves and quarters with linear interpolation. The block found is fetched with cubic
 * interpolation, which blurs less when it is repeated from frame to frame. */
#ifndef MONA_MOTION_SEARCH_H
#define MONA_MOTION_SEARCH_H

#include <stdint.h>

#include "pipeline/stages/frame.h"

enum {
    MOTION_WINDOW = 16, /* luma samples a side of what is compared */
    MOTION_WINDOW_AREA = MOTION_WINDOW * MOTION_WINDOW,
    MOTION_AROUND = 4,   /* of these around the block on each side */
    MOTION_CHROMA = 4,   /* chroma samples a side of a block */
    MOTION_FARTHEST = 64 /* luma samples that a block moves at most, down and across */
};

typedef struct motion_vector {
    int16_t x, y; /* from a block to its place in the frame before, in quarters of a luma sample */
    bool trusted; /* the caller's: whether it is one */
} motion_vector;

/* A window of the previous frame, as it would be in this frame. */
typedef struct motion_window {
    uint16_t luma[MOTION_WINDOW][MOTION_WINDOW];
    uint32_t x, y; /* its first sample in this frame's plane */
} motion_window;

/* Sums of absolute differences. */
typedef struct motion_difference {
    uint32_t unmoved, moved;
} motion_difference;

/* Finds the vector of block (x, y). vectors: one for each block of 8x8 samples, `across` in a row;
 * later blocks have their vectors of the previous frame, or 0. False: the window would reach
 * outside, or the frame is too small. */
bool motion_search(motion_vector *vectors, uint32_t across, uint32_t x, uint32_t y,
                   const frame *now, const frame *before, motion_difference *difference);

/* By how many whole steps the window whose first sample is (x, y), which lies inside, is brighter
 * than in the previous frame. */
int motion_brighter(const frame *now, const frame *before, uint32_t x, uint32_t y);

/* The least sum of absolute differences between that window and the previous frame; UINT32_MAX: it
 * would reach outside. level: how much brighter one is does not count. The search starts from no
 * motion and from *at, and sets *at to the vector found. */
uint32_t motion_residual(const frame *now, const frame *before, uint32_t x, uint32_t y, bool level,
                         motion_vector *at);

/* Fetches the window of block (x, y) that was found by this vector. */
void motion_fetch_luma(const frame *before, uint32_t x, uint32_t y, motion_vector by,
                       motion_window *window);

/* Fetches the block (x, y) of a chroma plane that moves by this vector of luma.
 * False: it would come from outside. */
bool motion_fetch_chroma(const frame *before, unsigned plane, uint32_t x, uint32_t y,
                         motion_vector by, uint16_t to[MOTION_CHROMA][MOTION_CHROMA]);

#endif
