// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_streams.h"

void fair_queue_open(fair_queue *t, unsigned places)
{
    *t = (fair_queue){.places = places};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
}

void fair_queue_close(fair_queue *t)
{
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

uint64_t fair_queue_draw(fair_queue *t)
{
    pthread_mutex_lock(&t->lock);
    const uint64_t ticket = t->tickets++;
    pthread_mutex_unlock(&t->lock);
    return ticket;
}

void fair_queue_enter(fair_queue *t, uint64_t ticket)
{
    pthread_mutex_lock(&t->lock);
    while (ticket >= t->left + t->places)
        pthread_cond_wait(&t->moved, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

void fair_queue_leave(fair_queue *t)
{
    pthread_mutex_lock(&t->lock);
    t->left++;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}
