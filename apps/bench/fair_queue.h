// SPDX-License-Identifier: Apache-2.0
/* Gives turns in the order of requests: the thread that has waited longest goes next, whatever the
 * system's scheduler would choose. Without this, streams that share a machine under load drift
 * apart. */
#ifndef MONA_FAIR_QUEUE_H
#define MONA_FAIR_QUEUE_H

#include <pthread.h>
#include <stdint.h>

typedef struct fair_queue {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t tickets, left; /* drawn so far; turns that have ended */
    unsigned places;        /* turns that may run at the same time */
} fair_queue;

/* places: at least 1. */
void fair_queue_open(fair_queue *t, unsigned places);
void fair_queue_close(fair_queue *t);

/* Draws a ticket. Every ticket must be used. */
uint64_t fair_queue_draw(fair_queue *t);
/* Waits until all but places - 1 of the turns before the ticket's have ended. */
void fair_queue_enter(fair_queue *t, uint64_t ticket);
void fair_queue_leave(fair_queue *t);

#endif
