// SPDX-License-Identifier: Apache-2.0
/* How many frames a part of a video has, as far as its length says. */
#ifndef MONA_FRAME_ESTIMATE_H
#define MONA_FRAME_ESTIMATE_H

#include <math.h>

/* Frames with start <= time < end, in seconds, of a video of an even rate; length or end 0: not known,
 * none. 0: it cannot be said. */
static inline double frame_estimate(double length, double start, double end, double rate)
{
    const double clock = 0.01; /* of a frame: times are rounded to a container's clock */
    const double all = floor(length * rate + 0.5), first = ceil(start * rate - clock);
    const double cut = end > 0 ? ceil(end * rate - clock) : all;
    return fmax(0, (all > 0 ? fmin(all, cut) : cut) - first);
}

#endif
