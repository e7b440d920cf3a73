// SPDX-License-Identifier: Apache-2.0
/* Turns come in the order of tickets, with no more at once than there are places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <unistd.h>

#include "apps/bench/bench_streams.h"

enum { THREADS = 8 };

typedef struct crowd {
    fair_queue gate;
    pthread_mutex_t lock;
    unsigned order[THREADS], count, inside, most;
} crowd;

typedef struct visitor {
    crowd *crowd;
    unsigned number;
    pthread_t thread;
} visitor;

static void *visit(void *argument)
{
    visitor *v = argument;
    crowd *c = v->crowd;
    fair_queue_enter(&c->gate, fair_queue_draw(&c->gate));
    pthread_mutex_lock(&c->lock);
    c->order[c->count++] = v->number;
    c->inside++;
    c->most = c->inside > c->most ? c->inside : c->most;
    pthread_mutex_unlock(&c->lock);
    usleep(2000);
    pthread_mutex_lock(&c->lock);
    c->inside--;
    pthread_mutex_unlock(&c->lock);
    fair_queue_leave(&c->gate);
    return NULL;
}

static uint64_t tickets(crowd *c)
{
    pthread_mutex_lock(&c->gate.lock);
    const uint64_t drawn = c->gate.tickets;
    pthread_mutex_unlock(&c->gate.lock);
    return drawn;
}

/* All places are taken while the visitors arrive one after another. */
static void run_crowd(crowd *c, unsigned places)
{
    visitor visitors[THREADS];
    *c = (crowd){.lock = PTHREAD_MUTEX_INITIALIZER};
    fair_queue_open(&c->gate, places);
    for (unsigned i = 0; i < places; i++)
        fair_queue_enter(&c->gate, fair_queue_draw(&c->gate));
    for (unsigned i = 0; i < THREADS; i++) {
        visitors[i] = (visitor){.crowd = c, .number = i};
        assert_int_equal(pthread_create(&visitors[i].thread, NULL, visit, &visitors[i]), 0);
        while (tickets(c) < places + i + 1)
            usleep(100);
    }
    assert_int_equal(c->count, 0);
    for (unsigned i = 0; i < places; i++)
        fair_queue_leave(&c->gate);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(visitors[i].thread, NULL);
    assert_int_equal(c->count, THREADS);
    fair_queue_close(&c->gate);
}

static void turns_come_in_order(void **state)
{
    (void)state;
    crowd c;
    run_crowd(&c, 1);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(c.order[i], i);
    assert_int_equal(c.most, 1);
}

static void places_are_not_exceeded(void **state)
{
    (void)state;
    crowd c;
    run_crowd(&c, 3);
    assert_in_range(c.most, 1, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_come_in_order),
        cmocka_unit_test(places_are_not_exceeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
