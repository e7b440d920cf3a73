// SPDX-License-Identifier: Apache-2.0
/* Turns in the order they were asked for: who waits longest goes next, whatever the system's
 * scheduler thinks. Left to that, streams that share a machine under load drift apart. */
#ifndef TURNSTILE_H
#define TURNSTILE_H

#include <pthread.h>
#include <stdint.h>

typedef struct turnstile {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t tickets, left; /* drawn so far; turns that have ended */
    unsigned places;        /* turns at once */
} turnstile;

/* places: at least 1. */
void turnstile_open(turnstile *t, unsigned places);
void turnstile_close(turnstile *t);

/* Draws a ticket; every ticket must be used. */
uint64_t turnstile_draw(turnstile *t);
/* Waits until all but places - 1 of the turns before the ticket's have ended. */
void turnstile_enter(turnstile *t, uint64_t ticket);
void turnstile_leave(turnstile *t);

#endif
