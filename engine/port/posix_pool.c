// SPDX-License-Identifier: Apache-2.0
/* The pool for Unix-like systems: the computing threads of a process, which all its jobs share.
 *
 * There are as many threads as the largest job has seats. They sleep until a job invites them. A
 * job that has invited one goes to the end of the list, so that every job has its turn. */
#include "engine/port/port.h"

#include <pthread.h>

enum { MAX_THREADS = 64 };

static struct {
    pthread_mutex_t members; /* held while jobs and threads are added or removed */
    pthread_mutex_t mutex;   /* of everything below */
    pthread_cond_t invited, left;
    mona_port_job *jobs;
    pthread_t threads[MAX_THREADS];
    unsigned count, asleep;
    bool stop;
} pool = {.members = PTHREAD_MUTEX_INITIALIZER,
          .mutex = PTHREAD_MUTEX_INITIALIZER,
          .invited = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static uint64_t all_seats(const mona_port_job *job)
{
    return UINT64_MAX >> (64 - job->seats);
}

static void append(mona_port_job *job)
{
    mona_port_job **end = &pool.jobs;
    while (*end)
        end = &(*end)->next;
    job->next = NULL;
    *end = job;
}

static void take_out(mona_port_job *job)
{
    mona_port_job **at = &pool.jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
}

static mona_port_job *inviting(void)
{
    for (mona_port_job *job = pool.jobs; job; job = job->next)
        if (job->invited && job->taken != all_seats(job))
            return job;
    return NULL;
}

static void visit(mona_port_job *job)
{
    const unsigned seat = (unsigned)__builtin_ctzll(~job->taken);
    const uint64_t bit = UINT64_C(1) << seat;
    job->invited--;
    job->taken |= bit;
    take_out(job);
    append(job);
    pthread_mutex_unlock(&pool.mutex);
    job->work(job, seat);
    pthread_mutex_lock(&pool.mutex);
    job->taken &= ~bit;
    pthread_cond_broadcast(&pool.left);
}

static void *serve(void *unused)
{
    pthread_mutex_lock(&pool.mutex);
    while (!pool.stop) {
        mona_port_job *job = inviting();
        if (job) {
            visit(job);
            continue;
        }
        pool.asleep++;
        pthread_cond_wait(&pool.invited, &pool.mutex);
        pool.asleep--;
    }
    pthread_mutex_unlock(&pool.mutex);
    return unused;
}

/* Without jobs. */
static void stop_threads(void)
{
    pthread_mutex_lock(&pool.mutex);
    pool.stop = true;
    pthread_cond_broadcast(&pool.invited);
    pthread_mutex_unlock(&pool.mutex);
    while (pool.count)
        pthread_join(pool.threads[--pool.count], NULL);
    pool.stop = false;
}

bool mona_port_pool_add(mona_port_job *job)
{
    pthread_mutex_lock(&pool.members);
    bool ok = true;
    while (pool.count < job->seats && ok)
        ok = !pthread_create(&pool.threads[pool.count], NULL, serve, NULL) && ++pool.count;
    pthread_mutex_lock(&pool.mutex);
    const bool none = !ok && !pool.jobs; /* threads move jobs in the list */
    if (ok) {
        job->invited = 0;
        job->taken = 0;
        append(job);
    }
    pthread_mutex_unlock(&pool.mutex);
    if (none)
        stop_threads();
    pthread_mutex_unlock(&pool.members);
    return ok;
}

void mona_port_pool_invite(mona_port_job *job)
{
    pthread_mutex_lock(&pool.mutex);
    job->invited = job->seats;
    const bool wake = pool.asleep && job->taken != all_seats(job);
    pthread_mutex_unlock(&pool.mutex);
    if (wake) /* outside the lock, so that they do not block on it */
        job->seats == 1 ? pthread_cond_signal(&pool.invited)
                        : pthread_cond_broadcast(&pool.invited);
}

void mona_port_pool_remove(mona_port_job *job)
{
    pthread_mutex_lock(&pool.members);
    pthread_mutex_lock(&pool.mutex);
    job->invited = 0;
    while (job->taken)
        pthread_cond_wait(&pool.left, &pool.mutex);
    take_out(job);
    const bool last = !pool.jobs;
    pthread_mutex_unlock(&pool.mutex);
    if (last)
        stop_threads();
    pthread_mutex_unlock(&pool.members);
}
