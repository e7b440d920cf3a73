// SPDX-License-Identifier: Apache-2.0
/* The pool: sessions share its threads, it is gone when they are, a core that is held up delays the
 * others by a strip, and bytes do not depend on who computes what. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

enum { W = 120, H = 90, TALL = 400, SESSIONS = 4, RUNS = 25 };

static unsigned threads_now(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (!tasks)
        skip();
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count - 2; /* without . and .. */
}

/* A thread that has ended is listed a little longer. */
static void assert_threads(unsigned expected)
{
    for (int i = 0; i < 1000 && threads_now() != expected; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(threads_now(), expected);
}

static uint8_t frame[W * H], expected[4 * W * H];

static void fill_frame(const sr_net *net)
{
    uint32_t seed = 5;
    for (int i = 0; i < W * H; i++)
        frame[i] = (uint8_t)test_random(&seed);
    sr_net_reference(net, frame, H, W, expected);
}

static void one_pool_for_all_sessions(void **state)
{
    (void)state;
    net_fixture f = net_open(16, 2, 3);
    const mona_config config = {.threads = 4, .sizes = {{W, H}}},
                      more = {.threads = 7, .sizes = {{W, H}}};
    bound b[SESSIONS], larger;
    assert_int_equal(bind(&larger, &f.model, &more), MONA_OK); /* sanitisers start one of theirs */
    unbind(&larger);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    const unsigned before = threads_now();
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(bind(&b[i], &f.model, &config), MONA_OK);
    assert_threads(before + 3);
    assert_int_equal(bind(&larger, &f.model, &more), MONA_OK);
    assert_threads(before + 6);
    unbind(&larger);
    for (int i = 0; i < SESSIONS; i++)
        unbind(&b[i]);
    assert_threads(before);
    net_close(&f);
}

/* A frame of one row too short to be shared has work for one core, whatever was asked for. */
static void a_crew_of_one(void **state)
{
    (void)state;
    enum { SHORT = 63 };
    net_fixture f = net_open(16, 1, 8);
    const mona_config config = {.threads = 4, .sizes = {{SHORT, 1}}};
    bound b;
    const unsigned before = threads_now();
    assert_int_equal(bind(&b, &f.model, &config), MONA_OK);
    assert_threads(before);
    uint8_t in[SHORT] = {1}, out[4 * SHORT], row[4 * SHORT];
    const mona_buffer from = {in, SHORT, 0}, to = {out, 2 * SHORT, 0};
    assert_int_equal(mona_session_run(b.session, &from, &to), MONA_OK);
    sr_net_reference(f.net, in, 1, SHORT, row);
    assert_memory_equal(out, row, sizeof row);
    unbind(&b);
    net_close(&f);
}

/* ---- many at once ---------------------------------------------------------------------------- */

typedef struct runner {
    const mona_model *model;
    mona_config config;
    unsigned wrong;
} runner;

/* Opens and closes a session over and over, while others do. */
static void *run_often(void *argument)
{
    runner *r = argument;
    uint8_t *out = malloc(sizeof expected);
    const mona_buffer from = {frame, W, 0}, to = {out, 2 * W, 0};
    for (int i = 0; i < RUNS; i++) {
        bound b;
        if (bind(&b, r->model, &r->config)) {
            r->wrong++;
            continue;
        }
        for (int run = 0; run < 3; run++) {
            memset(out, 0xa5, sizeof expected);
            r->wrong += mona_session_run(b.session, &from, &to) != MONA_OK ||
                        memcmp(out, expected, sizeof expected);
        }
        unbind(&b);
    }
    free(out);
    return NULL;
}

static void sessions_at_once(void **state)
{
    (void)state;
    net_fixture f = net_open(16, 2, 4);
    fill_frame(f.net);
    runner runners[] = {
        {&f.model, {.threads = 2, .sizes = {{W, H}}}, 0},
        {&f.model, {.threads = 5, .sizes = {{W, H}}}, 0},
        {&f.model, {.threads = 3, .strip_rows = 4, .tile_columns = 30, .sizes = {{W, H}}}, 0},
        {&f.model, {.threads = 4, .cache_bytes = 64, .sizes = {{W, H}}}, 0}, /* in groups */
    };
    enum { COUNT = sizeof runners / sizeof *runners };
    pthread_t threads[COUNT];
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, &runners[i]), 0);
    for (int i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(runners[i].wrong, 0);
    }
    net_close(&f);
}

/* ---- a core that is held up ------------------------------------------------------------------ */

static _Thread_local bool calls; /* this thread calls mona_session_run */
static atomic_uint rows_of_caller, rows_of_others, held_up;

/* The thread of the pool is interrupted until the caller has made three quarters of the rows, or
 * for 20 s. */
static uint64_t hold_up(void *context)
{
    (void)context;
    if (!calls && !atomic_fetch_add(&held_up, 1))
        for (int ms = 0; ms < 20000 && rows_of_caller < TALL * 3 / 4; ms++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return 0;
}

static void count_rows(void *context, const mona_op_event *event)
{
    (void)context;
    if (event->op == 0)
        atomic_fetch_add(calls ? &rows_of_caller : &rows_of_others, event->rows);
}

static void others_go_on(void **state)
{
    (void)state;
    net_fixture f = net_open(16, 1, 6);
    bound b;
    const mona_config config = {.threads = 2, .sizes = {{W, TALL}}};
    assert_int_equal(bind(&b, &f.model, &config), MONA_OK);
    uint8_t *in = calloc(TALL, W), *out = malloc(4 * W * TALL);
    const mona_buffer from = {in, W, 0}, to = {out, 2 * W, 0};
    const mona_op_observer observer = {hold_up, count_rows, NULL};
    if (mona_session_observe_ops(b.session, &observer) == MONA_ERR_UNSUPPORTED)
        skip();
    calls = true;
    assert_int_equal(mona_session_run(b.session, &from, &to), MONA_OK);
    /* Each would have half of them; a late one finds that the caller has taken its band over. */
    assert_in_range(rows_of_caller, TALL * 3 / 4, TALL + 40);
    free(in), free(out);
    unbind(&b);
    net_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pool_for_all_sessions),
        cmocka_unit_test(a_crew_of_one),
        cmocka_unit_test(sessions_at_once),
        cmocka_unit_test(others_go_on),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
