// SPDX-License-Identifier: Apache-2.0
/* The pace of cameras: when each frame comes, disturbed as by a network. Cameras are not in step:
 * each has a phase of its own. */
#ifndef LIVE_PACE_H
#define LIVE_PACE_H

#include <stddef.h>
#include <stdint.h>

typedef struct live_pace {
    double fps;
    double jitter_ms; /* a packet comes later by any time up to this */
    double late_ms;   /* and every late_every-th by this; packets keep their order, so those behind
                         wait, too */
    unsigned late_every;  /* 0: none */
    unsigned burst;       /* of every burst_every packets, this many come at once, with the last */
    unsigned burst_every; /* 0: never */
} live_pace;

typedef struct live_clock {
    const live_pace *pace;
    uint64_t began, last; /* when the first packet and the one before the next were due, in ns */
    size_t packets;       /* so far */
    uint32_t seed;
} live_clock;

/* Of camera number `camera`, whose first packet is due within a period of `began`; that of camera 0
 * at once. */
live_clock live_clock_of(const live_pace *pace, unsigned camera, uint64_t began);

/* When the next packet is due. */
uint64_t live_clock_next(live_clock *c);

#endif
