// SPDX-License-Identifier: Apache-2.0
/* Steadies what a denoiser makes frame by frame.
 *
 * What is left of noise, or comes back with every key frame, is another in each frame, and is seen
 * as flicker. Where the frame stands still (motion_mask.h) each sample s goes part of the way to p,
 * what it became in the frame before:
 *
 *     s + g d (1 - d^2 / L^2),   d = p - s, for |d| < L, and s beyond
 *     g = 0.8 (1 - 1 / sigma),   L = sigma + 4 steps of 8 bits
 *
 * A denoiser leaves a third of the noise or less, so d is mostly small against L; what differs by
 * more has moved although the blocks around it have not. Samples that are averaged so have (1 - g)
 * / (1 + g) of the variance: a ninth at g = 0.8. Without noise, or with as little as texture is
 * easily taken for (a sigma of 1), nothing changes. */
#ifndef MONA_TEMPORAL_H
#define MONA_TEMPORAL_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/motion_mask.h"

enum { TEMPORAL_MAX_LIMIT = 1024 }; /* L at most, in steps of the samples */

typedef struct temporal_work {
    int16_t step[2 * TEMPORAL_MAX_LIMIT + 1]; /* for d + TEMPORAL_MAX_LIMIT */
    motion_mask_block *blocks;                /* motion_mask_blocks of the frame's format */
} temporal_work;

/* Steadies `made` of `now`; `previous` is what was made of the frame before. All are 4:2:0 of one
 * format, or what stands for it (denoise.h): planes after the first `planes` are left alone. sigma:
 * of the noise in `now`, in steps of the samples, which was enlarged so many times. */
void temporal_filter(const frame *made, const frame *now, const frame *previous, unsigned planes,
                     unsigned sigma, unsigned enlarged, temporal_work *work);

#endif
