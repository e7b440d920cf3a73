// SPDX-License-Identifier: Apache-2.0
/* Estimates the number of frames in a part of a video from the video's length. */
#ifndef MONA_FRAME_ESTIMATE_H
#define MONA_FRAME_ESTIMATE_H

#include <math.h>

/* Frames with start <= time < end, in seconds, of a video of constant rate. length 0: unknown; end
 * 0: no end. Returns 0 if the number is unknown. */
static inline double frame_estimate(double length, double start, double end, double rate)
{
    const double clock = 0.01; /* of a frame: times are rounded to a container's clock */
    const double all = floor(length * rate + 0.5), first = ceil(start * rate - clock);
    const double cut = end > 0 ? ceil(end * rate - clock) : all;
    return fmax(0, (all > 0 ? fmin(all, cut) : cut) - first);
}

#endif
