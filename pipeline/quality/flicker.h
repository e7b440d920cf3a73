// SPDX-License-Identifier: Apache-2.0
/* How much a video changes from frame to frame where its reference does not.
 *
 * Planes are examined in whole blocks of 8x8 samples; the remainder at the right and lower edges is
 * ignored. A block stands still from one frame to the next if the mean absolute difference of its
 * samples in the reference A is at most 2 steps of 8 bits, which the noise of a good camera does
 * not exceed. The flicker of a video is the mean absolute difference between its frames n and n - 1
 * over all samples of all blocks that stand still, in steps of 8 bits:
 *
 *     sum |B[n] - B[n - 1]| / samples
 *
 * A's own flicker, over the same samples, shows how much of it was in the reference. */
#ifndef MONA_FLICKER_H
#define MONA_FLICKER_H

#include <stdint.h>

#include "pipeline/quality/quality.h"

enum { FLICKER_BLOCK = 8, FLICKER_STILL = 2 };

/* Sums of a plane, or of all planes; zeroed at first. */
typedef struct flicker_sums {
    uint64_t a, b;       /* absolute differences in steps of the samples, where A stands still */
    uint64_t still, all; /* samples in whole blocks */
} flicker_sums;

typedef struct flicker {
    flicker_sums rows[QUALITY_ROWS];
} flicker;

/* Adds the changes between two successive pairs of frames. All four have the same size and a format
 * that quality_takes accepts. */
void flicker_add(flicker *f, const AVFrame *a_before, const AVFrame *a, const AVFrame *b_before,
                 const AVFrame *b);

/* In steps of 8 bits; NAN if nothing stood still. */
double flicker_of(const flicker_sums *s, uint64_t differences, int pix_fmt);

#endif
