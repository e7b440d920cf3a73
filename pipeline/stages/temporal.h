// SPDX-License-Identifier: Apache-2.0
/* Steadies what a denoiser makes frame by frame.
 *
 * What is left of noise, or comes back with every key frame, is another in each frame, and is seen
 * as flicker. Where the frame stands still (stillness.h) each sample s goes part of the way to p,
 * what it became in the frame before:
 *
 *     s + g d (1 - d^2 / L^2),   d = p - s, for |d| < L, and s beyond
 *     g = 0.8 (1 - 1 / sigma),   L = sigma + 4 steps of 8 bits
 *
 * A denoiser leaves a third of the noise or less, so d is mostly small against L; what differs by
 * more has moved although the blocks around it have not. Samples that are averaged so have (1 - g)
 * / (1 + g) of the variance: a ninth at g = 0.8. Without noise, or with as little as texture is
 * easily taken for (a sigma of 1), nothing changes. */
#ifndef MONA_STEADY_H
#define MONA_STEADY_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/motion_mask.h"

enum { STEADY_MOST = 1024 }; /* L at most, in steps of the samples */

typedef struct steady_work {
    int16_t step[2 * STEADY_MOST + 1]; /* for d + STEADY_MOST */
    stillness_block *blocks;           /* stillness_blocks of the frame's format */
} steady_work;

/* Steadies `made` of `now`; `previous` is what was made of the frame before. All are 4:2:0 of one
 * format, or what stands for it (denoise.h): planes after the first `planes` are left alone. sigma:
 * of the noise in `now`, in steps of the samples, which was enlarged so many times. */
void steady(const frame *made, const frame *now, const frame *previous, unsigned planes,
            unsigned sigma, unsigned enlarged, steady_work *work);

#endif
