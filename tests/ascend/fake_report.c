// SPDX-License-Identifier: Apache-2.0
/* Reports of the chip, which a thread of the program fetches. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tests/ascend/fake.h"

enum { NO_SUBSCRIPTION = 107012, NOTHING_TO_REPORT = 507012 };

typedef struct report {
    struct report *next;
    pthread_t thread;
    void (*deliver)(void *argument);
    void *argument;
} report;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static report *first, **last = &first;
static struct {
    pthread_t thread;
    long count;
} subscriptions[64];

void fake_subscribe(uint64_t thread, long count)
{
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < 63 && subscriptions[i].count &&
           !pthread_equal(subscriptions[i].thread, (pthread_t)thread))
        i++;
    subscriptions[i].thread = (pthread_t)thread;
    subscriptions[i].count += count;
    pthread_mutex_unlock(&lock);
}

void fake_report(uint64_t thread, void (*deliver)(void *argument), void *argument)
{
    report *r = calloc(1, sizeof *r);
    *r = (report){NULL, (pthread_t)thread, deliver, argument};
    pthread_mutex_lock(&lock);
    *last = r;
    last = &r->next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static bool is_subscribed(void)
{
    for (size_t i = 0; i < 64; i++)
        if (subscriptions[i].count && pthread_equal(subscriptions[i].thread, pthread_self()))
            return true;
    return false;
}

static report *take(void)
{
    for (report **at = &first; *at; at = &(*at)->next)
        if (pthread_equal((*at)->thread, pthread_self())) {
            report *r = *at;
            *at = r->next;
            if (!r->next)
                last = at;
            return r;
        }
    return NULL;
}

API int aclrtProcessReport(int32_t milliseconds)
{
    const int code = fake_ready();
    struct timespec end;
    report *r = NULL;
    if (code)
        return code;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += milliseconds % 1000 * 1000000L;
    end.tv_sec += milliseconds / 1000 + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    const bool subscribed = is_subscribed();
    while (subscribed && !(r = take()))
        if (pthread_cond_timedwait(&changed, &lock, &end) == ETIMEDOUT)
            break;
    pthread_mutex_unlock(&lock);
    if (!subscribed)
        return fake_fail(NO_SUBSCRIPTION, "this thread is not registered for reports");
    if (!r)
        return NOTHING_TO_REPORT;
    r->deliver(r->argument);
    free(r);
    return 0;
}
