// SPDX-License-Identifier: Apache-2.0
/* Steadies the results of a denoiser that treats each frame separately.
 *
 * Noise that remains, or returns with every key frame, differs from frame to frame and shows as
 * flicker. Where the frame stands still (motion_mask.h), each sample s moves part of the way to p,
 * its result in the previous frame:
 *
 *     s + g d (1 - d^2 / L^2),   d = p - s, for |d| < L, and s beyond
 *     g = 0.8 (1 - 1 / sigma),   L = sigma + 4 steps of 8 bits
 *
 * A denoiser leaves a third of the noise or less, so d is mostly small compared with L; a sample
 * that differs by more has moved although the blocks around it have not. Averaging leaves (1 - g) /
 * (1 + g) of the variance: a ninth at g = 0.8. Without noise, or with so little that it is easily
 * confused with texture (a sigma of 1), nothing changes.
 *
 * Light may change slowly, in a fade or where a soft shadow passes. So p is not the previous result
 * alone: the mean m of s less that, over the same 5x5 blocks as the mask's, is added to it as far
 * as it is more than what noise leaves in a mean of N samples, and than the quarter of a step that
 * a coder's key frames are lighter or darker by: m (1 - v / m^2) with v = 4 sigma^2 / N + 1 / 16,
 * or 0 if that is negative. What a coder leaves goes both ways. So where there is no noise and no
 * sample of luma becomes lighter by more than 4 steps than another in its block, s stays if the sum
 * of s less p is at least five eighths of that of |s - p|: light alone changes, which g would
 * delay by a few frames. (With three quarters a soft light on a dark wall lost 0.14 dB more at CRF
 * 23, doubled; six clips at CRF 18 and 23 flicker by 0.001 steps less at most.)
 *
 * In noisy film, moving blocks of 8x8 are treated in the same way with g = 0.6 (1 - 1 / sigma) and
 * p at the place they came from (motion_search.h), if the 16x16 samples around them differ there
 * only by noise: mean q^2 (motion_mask.h) is at most three quarters of the limit for still blocks.
 * So are blocks that seem still but match better by a fifth elsewhere. On four clips with noise of
 * 5 and 20 this gains 0.3 to 1.3 dB in moving parts. */
#ifndef MONA_TEMPORAL_H
#define MONA_TEMPORAL_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/motion_mask.h"
#include "pipeline/stages/motion_search.h"

enum { TEMPORAL_MAX_LIMIT = 1024 }; /* L at most, in steps of the samples */

/* What makes frames differ where nothing moves. */
typedef enum temporal_cause {
    TEMPORAL_NOISE,    /* moving parts are steadied too */
    TEMPORAL_CODING,   /* errors of compression, of a known size */
    TEMPORAL_SUPPOSED, /* the same, if any; blocks must be twice as alike to count as still */
} temporal_cause;

/* How the results of blocks differ from the frame before's. */
enum {
    LIGHT_SUM,           /* how much lighter, over each plane's samples */
    LIGHT_COUNT = 3,     /* of each plane's samples */
    LIGHT_BOTH_WAYS = 6, /* LIGHT_SUM of luma, lighter and darker alike */
    LIGHT_UNEVEN,        /* blocks in which luma differs by more than 4 steps of 8 bits */
    LIGHT_FIELDS
};

typedef struct temporal_light {
    int32_t of[LIGHT_FIELDS];
} temporal_light;

typedef struct temporal_work {
    motion_mask_block *blocks; /* motion_mask_blocks of the format */
    temporal_light *light;     /* temporal_lights */
    motion_vector *vectors;    /* as many as blocks; 0 before the first frame */
} temporal_work;

/* One for each block, and a row of sums. */
size_t temporal_lights(const frame_format *format);

/* Steadies `made`, the result for `now`; `previous` is the previous frame's result. All are 4:2:0
 * frames of the same format, or their substitutes (denoise.c): planes after the first `planes` are
 * left alone. sigma: of the noise in `now`, in steps of the samples, which was enlarged this many
 * times. */
void temporal_filter(const frame *made, const frame *now, const frame *previous, unsigned planes,
                     unsigned sigma, unsigned enlarged, temporal_cause cause, temporal_work *work);

#endif
