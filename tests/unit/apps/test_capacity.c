// SPDX-License-Identifier: Apache-2.0
/* The search for the number of streams that a machine holds, on machines of known capacity, whose
 * short runs may mislead. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "apps/bench/capacity.h"
#include "apps/cli/json_output.h"

enum { SHORT_S = 5, LONG_S = 60 };

/* Holds so many streams in short and in long runs; a stream takes so much memory. */
typedef struct machine_of {
    unsigned shortly, long_run;
    double stream_bytes;
    unsigned runs, largest, cores;
    bool refuses;
} machine_of;

static bool run(void *context, unsigned streams, double seconds, capacity_trial *t)
{
    machine_of *m = context;
    const bool holds = streams <= (seconds < LONG_S ? m->shortly : m->long_run);
    m->runs++;
    m->largest = streams > m->largest ? streams : m->largest;
    if (m->refuses)
        return false;
    for (unsigned i = 0; i < 1000; i++)
        assert_true(samples_add(&t->times, 10));
    t->cpu_ms[CAPACITY_ENCODE] = 2;
    t->cpu_ms[CAPACITY_NETWORK] = 1;
    t->cpu_ms[CAPACITY_OTHER] = 9;
    t->stream_bytes = m->stream_bytes;
    /* 1 % may be late. */
    return capacity_leave_out(t, holds ? 10 : 11);
}

static cJSON *search(machine_of *m, double free_bytes)
{
    const capacity_job job = {.run = run,
                              .context = m,
                              .seconds = LONG_S,
                              .budget_ms = 40,
                              .percentile = 99,
                              .fps = 25,
                              .free_bytes = free_bytes,
                              .cores = m->cores,
                              .modelled = true};
    cJSON *result = cJSON_CreateObject();
    assert_int_equal(bench_capacity(result, &job), !m->refuses);
    return result;
}

/* The number, and its runs of full length. */
static void expect(machine_of m, unsigned streams)
{
    cJSON *result = search(&m, 0);
    const cJSON *confirmed = json_get(result, "confirmed"), *over = json_get(result, "over");
    assert_int_equal(json_number(result, "streams"), streams);
    assert_int_equal(json_number(confirmed, "streams"), streams);
    assert_int_equal(json_number(confirmed, "seconds"), LONG_S);
    assert_true(cJSON_IsTrue(json_get(confirmed, "holds")));
    assert_int_equal(json_number(over, "streams"), ceil(1.2 * streams));
    assert_int_equal(json_number(over, "seconds"), LONG_S);
    assert_true(cJSON_IsFalse(json_get(over, "holds")));
    assert_int_equal(json_number(json_get(result, "thousand"), "chips"), ceil(1000.0 / streams));
    assert_string_equal(json_string(result, "bound"), "encode");
    cJSON_Delete(result);
}

static void numbers_are_found(void **state)
{
    (void)state;
    for (unsigned n = 1; n < 70; n++)
        expect((machine_of){.shortly = n, .long_run = n}, n);
}

static void long_runs_decide(void **state)
{
    (void)state;
    expect((machine_of){.shortly = 3, .long_run = 1}, 1);
    expect((machine_of){.shortly = 12, .long_run = 9}, 9);
    /* Too low in short runs: a fifth more held, and so did a fifth more than that. */
    expect((machine_of){.shortly = 10, .long_run = 15}, 15);
}

static void none_holds(void **state)
{
    machine_of m = {0};
    cJSON *result = search(&m, 0);
    (void)state;
    assert_int_equal(m.runs, 1);
    assert_int_equal(json_number(result, "streams"), 0);
    assert_null(json_get(result, "confirmed"));
    assert_null(json_get(result, "thousand"));
    assert_int_equal(json_number(json_get(result, "over"), "streams"), 1);
    cJSON_Delete(result);
}

static void one_that_fails_ends_it(void **state)
{
    machine_of m = {.refuses = true};
    (void)state;
    cJSON_Delete(search(&m, 0));
    assert_int_equal(m.runs, 1);
}

/* 12 ms of CPU time a frame, 25 frames a second: 2 cores have time for 6.67 streams. */
static void few_too_many_are_tried(void **state)
{
    machine_of m = {.shortly = 6, .long_run = 6, .cores = 2};
    (void)state;
    cJSON_Delete(search(&m, 0));
    assert_in_range(m.largest, 8, 9);
    expect(m, 6);
    m.shortly = m.long_run = 20; /* what the estimate does not allow is tried one by one */
    expect(m, 20);
}

static void memory_bounds(void **state)
{
    machine_of m = {.shortly = 100, .long_run = 100, .stream_bytes = 1e6};
    cJSON *result = search(&m, 20.5e6);
    (void)state;
    assert_int_equal(m.largest, 20);
    assert_int_equal(json_number(result, "streams"), 20);
    assert_string_equal(json_string(result, "bound"), "memory");
    cJSON_Delete(result);
}

/* A chip that computes one frame after another holds what the sum of its time allows, if frames may
 * wait for all others; with a budget of one frame's time, they would have to come apart. */
static void chips_hold_what_their_time_allows(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 40; n += 3) {
        capacity_modelled chip = {
            .streams = {.pace = {.fps = 25, .jitter_ms = 5}, .max_delay_ms = 1000},
            .frame_ms = 40.0 / n - 1e-6};
        capacity_trial fits = {0}, over = {0};
        assert_true(capacity_modelled_run(&chip, n, 10, &fits));
        assert_int_equal(fits.left_out, 0);
        assert_in_range(fits.times.count, 249 * n, 250 * n);
        for (size_t i = 0; i < fits.times.count; i++)
            assert_true(fits.times.ms[i] >= chip.frame_ms - 1e-3 && fits.times.ms[i] < 46);
        /* Of a tenth more than it can compute, a tenth is left out at last. */
        chip.frame_ms *= 1.1;
        chip.streams.max_delay_ms = 50;
        assert_true(capacity_modelled_run(&chip, n, 100, &over));
        const double share = (double)over.left_out / (double)over.times.count;
        assert_true(share > 0.085 && share < 0.095);
        samples_free(&fits.times);
        samples_free(&over.times);
    }
}

static void cameras_are_out_of_step(void **state)
{
    const live_pace pace = {.fps = 25};
    double earliest = INFINITY, latest = 0;
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        live_clock clock = live_clock_of(&pace, i, 1000);
        const uint64_t at = live_clock_next(&clock);
        assert_in_range(at, 1000, 40001000);
        assert_true(live_clock_next(&clock) - at >= 39999999);
        earliest = fmin(earliest, (double)at);
        latest = fmax(latest, (double)at);
    }
    assert_true(earliest < 2e6 && latest > 38e6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_found),
        cmocka_unit_test(long_runs_decide),
        cmocka_unit_test(none_holds),
        cmocka_unit_test(one_that_fails_ends_it),
        cmocka_unit_test(few_too_many_are_tried),
        cmocka_unit_test(memory_bounds),
        cmocka_unit_test(chips_hold_what_their_time_allows),
        cmocka_unit_test(cameras_are_out_of_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
