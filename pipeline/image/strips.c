// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/still_codec.h"

#include <pthread.h>

#include <libavutil/cpu.h>

typedef struct work {
    const strips *strips;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint32_t next, turn; /* strip to encode, to write */
    bool failed;
} work;

static bool take(work *w, uint32_t *i)
{
    pthread_mutex_lock(&w->lock);
    const bool more = !w->failed && w->next < w->strips->count;
    *i = w->next;
    w->next += more;
    pthread_mutex_unlock(&w->lock);
    return more;
}

/* A thread waits until its strip's turn comes, so at most one strip for each thread is in
 * memory. */
static void put(work *w, uint32_t i, metadata_bytes *bytes, bool made)
{
    pthread_mutex_lock(&w->lock);
    while (w->turn != i)
        pthread_cond_wait(&w->moved, &w->lock);
    if (!w->failed)
        w->failed = !made || !w->strips->put(w->strips->context, i, bytes);
    w->turn++;
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

static void *serve(void *context)
{
    work *w = context;
    for (uint32_t i; take(w, &i);) {
        metadata_bytes bytes = {0};
        const bool made = w->strips->make(w->strips->context, i, &bytes);
        put(w, i, &bytes, made);
        metadata_drop(&bytes);
    }
    return NULL;
}

/* The caller's thread is one of them, so it goes on where no other can be started. */
bool strips_encode(const strips *s)
{
    enum { MAX_THREADS = 64, STACK = 256 << 10 };
    work w = {s, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false};
    const unsigned wanted = s->threads ? s->threads : (unsigned)av_cpu_count();
    pthread_t threads[MAX_THREADS];
    pthread_attr_t attributes;
    unsigned started = 0;
    if (!pthread_attr_init(&attributes)) {
        pthread_attr_setstacksize(&attributes, STACK);
        while (started < MAX_THREADS && started + 1 < wanted && started + 1 < s->count &&
               !pthread_create(&threads[started], &attributes, serve, &w))
            started++;
        pthread_attr_destroy(&attributes);
    }
    serve(&w);
    while (started)
        pthread_join(threads[--started], NULL);
    return !w.failed;
}
