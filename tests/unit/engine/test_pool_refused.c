// SPDX-License-Identifier: Apache-2.0
/* The system refuses threads for one job while another runs all the time: the pool keeps its
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

static atomic_int refuse, rounds;

static int create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                  void *argument)
{
    return atomic_load(&refuse) ? 11 : pthread_create(thread, attributes, run, argument);
}

#define pthread_create create
#include "engine/port/posix_pool.c"
#undef pthread_create

enum { ROUNDS = 8000000 };

static void work(mona_port_job *job, unsigned seat)
{
    (void)job, (void)seat;
}

static mona_port_job busy = {.work = work, .seats = 1};

static void *invite(void *unused)
{
    while (atomic_load(&rounds) < ROUNDS)
        mona_port_pool_invite(&busy);
    return unused;
}

static void threads_stay_where_more_are_refused(void **state)
{
    (void)state;
    assert_true(mona_port_pool_add(&busy));
    atomic_store(&refuse, 1);
    pthread_t inviting;
    assert_int_equal(pthread_create(&inviting, NULL, invite, NULL), 0);
    unsigned lost = 0, taken = 0;
    for (; atomic_load(&rounds) < ROUNDS; atomic_fetch_add(&rounds, 1)) {
        mona_port_job large = {.work = work, .seats = 2};
        taken += mona_port_pool_add(&large);
        lost += pool.count != 1;
    }
    pthread_join(inviting, NULL);
    assert_int_equal(taken, 0);
    assert_int_equal(lost, 0);
    mona_port_pool_remove(&busy);
    assert_int_equal(pool.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_stay_where_more_are_refused)};
    return cmocka_run_group_tests_name("pool_refused", tests, NULL, NULL);
}
