// SPDX-License-Identifier: Apache-2.0
/* Streams: order, events between streams, failures that travel, and double buffering: frame n + 1
 * is uploaded and frame n - 1 downloaded while frame n computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <cmocka.h>
#include <time.h>

#include "tests/unit/fixture.h"

static mona_stream *open_stream(void)
{
    mona_stream *stream = NULL;
    void *memory = aligned_alloc(64, mona_stream_bytes());
    assert_int_equal(mona_stream_open(&stream, NULL, memory, mona_stream_bytes()), MONA_OK);
    assert_ptr_equal(stream, memory);
    return stream;
}

static void close_stream(mona_stream *stream)
{
    mona_stream_close(stream);
    free(stream);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static int journal[400], journal_count;

typedef struct entry {
    int value;
    long delay_ms;
} entry;

static void write_entry(void *argument)
{
    const entry *e = argument;
    if (e->delay_ms)
        sleep_ms(e->delay_ms);
    journal[journal_count++] = e->value;
}

/* More commands than the queue holds, so that enqueueing has to wait. */
static void commands_run_in_order(void **state)
{
    (void)state;
    static entry entries[200];
    journal_count = 0;
    mona_stream *stream = open_stream();
    for (int i = 0; i < 200; i++) {
        entries[i] = (entry){i, i == 0 ? 20 : 0};
        assert_int_equal(mona_stream_call(stream, write_entry, &entries[i]), MONA_OK);
    }
    assert_int_equal(mona_stream_synchronize(stream), MONA_OK);
    assert_int_equal(journal_count, 200);
    for (int i = 0; i < 200; i++)
        assert_int_equal(journal[i], i);
    close_stream(stream);
}

static void events_order_two_streams(void **state)
{
    (void)state;
    mona_stream *first = open_stream(), *second = open_stream();
    for (int round = 0; round < 20; round++) {
        journal_count = 0;
        entry slow = {1, 2}, after = {2, 0};
        mona_event event = {0};
        /* An event never recorded holds nothing up. */
        assert_int_equal(mona_stream_wait(second, &event), MONA_OK);
        assert_int_equal(mona_event_synchronize(&event), MONA_OK);
        assert_int_equal(mona_stream_call(first, write_entry, &slow), MONA_OK);
        assert_int_equal(mona_stream_record(first, &event), MONA_OK);
        assert_int_equal(mona_stream_wait(second, &event), MONA_OK);
        assert_int_equal(mona_stream_call(second, write_entry, &after), MONA_OK);
        assert_int_equal(mona_stream_synchronize(second), MONA_OK);
        assert_int_equal(journal_count, 2);
        assert_int_equal(journal[0], 1);
        assert_int_equal(journal[1], 2);
        assert_int_equal(mona_event_synchronize(&event), MONA_OK);
        assert_int_equal(mona_stream_record(second, &event), MONA_ERR_ARGUMENT);
    }
    close_stream(first), close_stream(second);
}

static void close_finishes_what_is_queued(void **state)
{
    (void)state;
    entry e = {5, 10};
    journal_count = 0;
    mona_stream *stream = open_stream();
    assert_int_equal(mona_stream_call(stream, write_entry, &e), MONA_OK);
    assert_int_equal(mona_stream_call(stream, write_entry, &e), MONA_OK);
    close_stream(stream);
    assert_int_equal(journal_count, 2);
}

static void copies_respect_strides(void **state)
{
    (void)state;
    uint8_t from[6 * 10], to[6 * 8];
    for (int i = 0; i < 60; i++)
        from[i] = (uint8_t)i;
    memset(to, 0xee, sizeof to);
    mona_stream *stream = open_stream();
    /* Bottom row first: strides may be negative. */
    assert_int_equal(mona_stream_copy(stream, to, 8, from + 50, -10, 5, 6), MONA_OK);
    assert_int_equal(mona_stream_synchronize(stream), MONA_OK);
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 8; x++)
            assert_int_equal(to[8 * y + x], x < 5 ? from[(5 - y) * 10 + x] : 0xee);
    close_stream(stream);
}

static void wait_until_open(void *gate)
{
    while (!atomic_load((atomic_bool *)gate))
        sleep_ms(1);
}

static void a_failure_travels(void **state)
{
    (void)state;
    atomic_bool gate = false; /* nothing fails before everything is queued */
    net_fixture f = net_open(16, 1, 3);
    bound b;
    const mona_config config = {.threads = 1, .sizes = {{16, 16}}};
    assert_int_equal(bind(&b, &f.model, &config), MONA_OK);
    mona_stream *first = open_stream(), *second = open_stream();
    mona_event event = {0};
    entry never = {9, 0};
    journal_count = 0;
    const mona_buffer nothing[1] = {{NULL, 0, 0}};
    mona_event before = {0}, never_recorded = {0};
    assert_int_equal(mona_stream_record(first, &before), MONA_OK);
    assert_int_equal(mona_stream_call(first, wait_until_open, &gate), MONA_OK);
    assert_int_equal(mona_stream_run(first, b.session, nothing, nothing), MONA_OK);
    assert_int_equal(mona_stream_record(first, &event), MONA_OK);
    assert_int_equal(mona_stream_wait(second, &event), MONA_OK);
    assert_int_equal(mona_stream_call(second, write_entry, &never), MONA_OK);
    atomic_store(&gate, true);
    assert_int_equal(mona_stream_synchronize(first), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_stream_synchronize(second), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_event_synchronize(&event), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_event_synchronize(&before), MONA_OK); /* reached before the failure */
    assert_int_equal(mona_stream_call(first, write_entry, &never), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_stream_wait(first, &never_recorded), MONA_ERR_ARGUMENT);
    assert_int_equal(journal_count, 0);
    close_stream(first), close_stream(second);
    unbind(&b);
    net_close(&f);
}

static void want(void *wanted)
{
    *(bool *)wanted = true;
}

/* A run without buffers fails, if it takes place. */
static void a_run_can_be_left_out(void **state)
{
    (void)state;
    bool wanted = false;
    net_fixture f = net_open(16, 1, 3);
    bound b;
    const mona_config config = {.threads = 1, .sizes = {{16, 16}}};
    const mona_buffer nothing[1] = {{NULL, 0, 0}};
    assert_int_equal(bind(&b, &f.model, &config), MONA_OK);
    mona_stream *stream = open_stream();
    assert_int_equal(mona_stream_run_if(stream, NULL, b.session, nothing, nothing),
                     MONA_ERR_ARGUMENT);
    assert_int_equal(mona_stream_run_if(stream, &wanted, b.session, nothing, nothing), MONA_OK);
    assert_int_equal(mona_stream_synchronize(stream), MONA_OK);
    assert_int_equal(mona_stream_call(stream, want, &wanted), MONA_OK);
    assert_int_equal(mona_stream_run_if(stream, &wanted, b.session, nothing, nothing), MONA_OK);
    assert_int_equal(mona_stream_synchronize(stream), MONA_ERR_ARGUMENT);
    close_stream(stream);
    unbind(&b);
    net_close(&f);
}

static void bad_memory_is_refused(void **state)
{
    (void)state;
    uint8_t *memory = aligned_alloc(64, mona_stream_bytes() + 64);
    mona_stream *stream = NULL;
    assert_int_equal(mona_stream_open(&stream, NULL, memory, mona_stream_bytes() - 1),
                     MONA_ERR_ARENA);
    assert_int_equal(mona_stream_open(&stream, NULL, memory + 1, mona_stream_bytes()),
                     MONA_ERR_ARENA);
    assert_null(stream);
    free(memory);
}

/* Three streams over two slots. The device's memory is `slot`; frames lie in the caller's planes.
 */
enum { W = 96, H = 40, FRAMES = 9, SLOTS = 2 };

typedef struct gauge {
    atomic_int *running, *most;
} gauge;

/* Counts streams that are at work at one time: proof that they overlap. */
static void enter(void *argument)
{
    const gauge *g = argument;
    const int now = atomic_fetch_add(g->running, 1) + 1;
    int most = atomic_load(g->most);
    while (now > most && !atomic_compare_exchange_weak(g->most, &most, now))
        ;
    sleep_ms(3);
}

static void leave(void *argument)
{
    atomic_fetch_sub(((const gauge *)argument)->running, 1);
}

static void double_buffering(void **state)
{
    (void)state;
    net_fixture f = net_open(16, 2, 5);
    bound b;
    const mona_config config = {.threads = 2, .sizes = {{W, H}}};
    assert_int_equal(bind(&b, &f.model, &config), MONA_OK);

    static uint8_t frames[FRAMES][W * H], results[FRAMES][4 * W * H], expected[4 * W * H];
    static uint8_t slot_in[SLOTS][W * H], slot_out[SLOTS][4 * W * H];
    uint32_t seed = 11;
    for (int n = 0; n < FRAMES; n++)
        for (int i = 0; i < W * H; i++)
            frames[n][i] = (uint8_t)test_random(&seed);

    mona_stream *upload = open_stream(), *compute = open_stream(), *download = open_stream();
    mona_event uploaded[SLOTS] = {{0}}, computed[SLOTS] = {{0}}, downloaded[SLOTS] = {{0}};
    atomic_int running = 0, most = 0;
    gauge g = {&running, &most};
    for (int n = 0; n < FRAMES; n++) {
        const int s = n % SLOTS;
        const mona_buffer input = {slot_in[s], W, 0}, output = {slot_out[s], 2 * W, 0};
        mona_stream_wait(upload, &computed[s]); /* the slot's input has been used */
        mona_stream_call(upload, enter, &g);
        mona_stream_copy(upload, slot_in[s], W, frames[n], W, W, H);
        mona_stream_call(upload, leave, &g);
        mona_stream_record(upload, &uploaded[s]);

        mona_stream_wait(compute, &uploaded[s]);
        mona_stream_wait(compute, &downloaded[s]); /* the slot's output has been taken */
        mona_stream_call(compute, enter, &g);
        mona_stream_run(compute, b.session, &input, &output);
        mona_stream_call(compute, leave, &g);
        mona_stream_record(compute, &computed[s]);

        mona_stream_wait(download, &computed[s]);
        mona_stream_call(download, enter, &g);
        mona_stream_copy(download, results[n], 2 * W, slot_out[s], 2 * W, 2 * W, 2 * H);
        mona_stream_call(download, leave, &g);
        mona_stream_record(download, &downloaded[s]);
    }
    assert_int_equal(mona_stream_synchronize(download), MONA_OK);
    for (int n = 0; n < FRAMES; n++) {
        sr_net_reference(f.net, frames[n], H, W, expected);
        assert_memory_equal(results[n], expected, sizeof expected);
    }
    assert_true(atomic_load(&most) >= 2);
    close_stream(upload), close_stream(compute), close_stream(download);
    unbind(&b);
    net_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_run_in_order),
        cmocka_unit_test(events_order_two_streams),
        cmocka_unit_test(close_finishes_what_is_queued),
        cmocka_unit_test(copies_respect_strides),
        cmocka_unit_test(a_failure_travels),
        cmocka_unit_test(a_run_can_be_left_out),
        cmocka_unit_test(bad_memory_is_refused),
        cmocka_unit_test(double_buffering),
    };
    return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
