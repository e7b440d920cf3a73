// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/channel.h"

#include <stddef.h>

void channel_open(channel *c)
{
    *c = (channel){0};
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &clock);
    pthread_condattr_destroy(&clock);
}

void channel_destroy(channel *c)
{
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}

bool channel_push(channel *c, void *item)
{
    pthread_mutex_lock(&c->lock);
    while (c->count == CHANNEL_CAPACITY && !c->closed)
        pthread_cond_wait(&c->changed, &c->lock);
    bool open = !c->closed;
    if (open) {
        c->items[(c->first + c->count++) % CHANNEL_CAPACITY] = item;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return open;
}

void *channel_pop(channel *c)
{
    return channel_pop_until(c, UINT64_MAX);
}

void *channel_pop_until(channel *c, uint64_t ns)
{
    void *item = NULL;
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    pthread_mutex_lock(&c->lock);
    while (!c->count && !c->closed && !pthread_cond_timedwait(&c->changed, &c->lock, &until))
        ;
    if (c->count) {
        item = c->items[c->first];
        c->first = (c->first + 1) % CHANNEL_CAPACITY;
        c->count--;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return item;
}

void channel_close(channel *c)
{
    pthread_mutex_lock(&c->lock);
    c->closed = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}
