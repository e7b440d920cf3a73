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

typedef struct live_pace {
    double fps;
    double jitter_ms; /* a packet comes later by any time up to this */
    double late_ms;   /* and every late_every-th by this; packets keep their order, so those behind
                         wait, too */
    unsigned late_every;  /* 0: none */
    unsigned burst;       /* of every burst_every packets, this many come at once, with the last */
    unsigned burst_every; /* 0: never */
} live_pace;

typedef struct live_source {
    live_pace pace;
    const char *clip;
    size_t frames; /* to send; the clip is repeated */
    _Atomic uint64_t
        *sent_at; /* [frames] clock_ns() when a frame, by its time, was due to be sent */
    int listener;
    char address[64]; /* for mona enhance --live */
    pthread_t thread;
    bool runs;
    atomic_bool ends;
    char failure[256]; /* once it is closed: why it ended early; empty: it did not */
} live_source;

/* Waits for a connection in a thread of its own, then sends. False, with a message. */
bool live_source_open(live_source *s, const char *clip, const live_pace *pace, size_t frames);

/* Ends sending, wherever it is. sent_at stays until live_source_free. */
void live_source_close(live_source *s);
void live_source_free(live_source *s);

#endif
