// SPDX-License-Identifier: Apache-2.0
/* A bounded queue of pointers between two threads. Its size is fixed when it is opened; nothing is
 * allocated afterwards. */
#ifndef MONA_CHANNEL_H
#define MONA_CHANNEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { CHANNEL_CAPACITY = 64 };

typedef struct channel {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *items[CHANNEL_CAPACITY];
    unsigned first, count;
    bool closed;
} channel;

void channel_open(channel *c);
void channel_destroy(channel *c);

/* Waits for room. False: the channel is closed and the item was not taken. */
bool channel_push(channel *c, void *item);

/* Waits for an item. NULL: the channel is closed and empty. */
void *channel_pop(channel *c);

/* Waits no longer than to this clock_ns(). NULL: there is still none, or as above. */
void *channel_pop_until(channel *c, uint64_t ns);

/* Ends pushing and wakes both sides. May be called more than once. */
void channel_close(channel *c);

#endif
