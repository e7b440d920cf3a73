// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/channel.h"

#include <stddef.h>

void channel_open(channel *c)
{
    *c = (channel){0};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
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
    void *item = NULL;
    pthread_mutex_lock(&c->lock);
    while (!c->count && !c->closed)
        pthread_cond_wait(&c->changed, &c->lock);
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
