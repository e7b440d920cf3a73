// SPDX-License-Identifier: Apache-2.0
/* A camera for measuring: sends the packets of a clip over a loopback connection, at a steady pace
 * disturbed as by a network. It goes on whether or not the receiver keeps up. */
#ifndef LIVE_SOURCE_H
#define LIVE_SOURCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pace of cameras: when each frame comes, disturbed as by a network. Cameras are not in step:
 * each has a phase of its own. */

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

/* Where streams of several processes meet, in memory that they share: frames count once all of them
 * have a frame out. */
typedef struct live_gate {
    unsigned cameras;
    atomic_uint there;  /* cameras with a frame out */
    atomic_bool broken; /* one of them will not come */
} live_gate;

typedef struct live_source {
    live_pace pace;
    const char *clip;          /* which is repeated */
    size_t warm_up, frames;    /* that do not count; that do */
    live_gate *gate;           /* of a stream among others, whose warm-up begins there; or NULL */
    unsigned camera;           /* which of them */
    _Atomic size_t first;      /* number of the first frame that counts; SIZE_MAX: not known yet */
    size_t capacity;           /* frames that may be sent */
    _Atomic uint64_t *sent_at; /* clock_ns() when a frame, by its time, was due to be sent */
    int listener;
    char address[64]; /* for mona enhance --live */
    pthread_t thread;
    bool runs;
    atomic_bool ends;
    char failure[256]; /* once it is closed: why it ended early; empty: it did not */
} live_source;

/* Waits for a connection in a thread of its own, then sends. The fields up to the camera are set,
 * the others zero. False, with a message. */
bool live_source_open(live_source *s);

/* Ends sending, wherever it is. sent_at stays until live_source_free. */
void live_source_close(live_source *s);
void live_source_free(live_source *s);

#endif
