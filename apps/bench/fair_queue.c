// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/fair_queue.h"

void turnstile_open(turnstile *t, unsigned places)
{
    *t = (turnstile){.places = places};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
}

void turnstile_close(turnstile *t)
{
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

uint64_t turnstile_draw(turnstile *t)
{
    pthread_mutex_lock(&t->lock);
    const uint64_t ticket = t->tickets++;
    pthread_mutex_unlock(&t->lock);
    return ticket;
}

void turnstile_enter(turnstile *t, uint64_t ticket)
{
    pthread_mutex_lock(&t->lock);
    while (ticket >= t->left + t->places)
        pthread_cond_wait(&t->moved, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void turnstile_leave(turnstile *t)
{
    pthread_mutex_lock(&t->lock);
    t->left++;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}
