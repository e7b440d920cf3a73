// SPDX-License-Identifier: Apache-2.0
/* Observing operators: every row of every operator is told of, in order, by the caller's clock, and
 * neither results nor later runs notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

enum { WIDTH = 83, HEIGHT = 61, MAX_CORES = 4, MAX_EVENTS = 1 << 14 };

typedef struct log_of_core {
    mona_op_event events[MAX_EVENTS];
    unsigned count;
} log_of_core;

typedef struct record {
    atomic_ullong clock; /* a step each time somebody looks */
    log_of_core cores[MAX_CORES];
} record;

static uint64_t tick(void *context)
{
    record *r = context;
    return atomic_fetch_add(&r->clock, 1);
}

static void write_down(void *context, const mona_op_event *event)
{
    record *r = context;
    log_of_core *log = &r->cores[event->core];
    if (log->count < MAX_EVENTS)
        log->events[log->count++] = *event;
}

typedef struct planes {
    uint8_t in[HEIGHT * WIDTH], out[2 * HEIGHT * 2 * WIDTH];
} planes;

static void run(mona_session *session, planes *p)
{
    const mona_buffer in = {p->in, WIDTH, 0}, out = {p->out, 2 * WIDTH, 0};
    assert_int_equal(mona_session_run(session, &in, &out), MONA_OK);
}

/* On one core events follow each other without overlap. A core that comes late may have none. */
static void check_order(const record *r, unsigned cores)
{
    for (unsigned c = 0; c < cores; c++) {
        const log_of_core *log = &r->cores[c];
        assert_in_range(log->count, cores == 1, MAX_EVENTS - 1);
        for (unsigned i = 0; i < log->count; i++) {
            assert_int_equal(log->events[i].core, c);
            assert_true(log->events[i].begin < log->events[i].end && log->events[i].rows > 0);
            assert_true(!i || log->events[i].begin >= log->events[i - 1].end);
        }
    }
}

static unsigned long rows_of(const record *r, unsigned cores, unsigned op)
{
    unsigned long rows = 0;
    for (unsigned c = 0; c < cores; c++)
        for (unsigned i = 0; i < r->cores[c].count; i++)
            rows += r->cores[c].events[i].op == op ? r->cores[c].events[i].rows : 0;
    return rows;
}

/* One core makes every row once a tile; what several make overlaps by what the next layers read,
 * where bands meet and where one takes over half of another's. */
static void check_rows(const record *r, const mona_plan *plan, unsigned tiles)
{
    const unsigned cores = mona_plan_threads(plan);
    mona_op_info info;
    unsigned op = 0, fused = 0;
    for (; mona_plan_op_at(plan, op, &info); op++) {
        const unsigned long rows = rows_of(r, cores, op);
        if (info.fused)
            assert_int_equal(rows, 0);
        else if (cores == 1)
            assert_int_equal(rows, HEIGHT * tiles);
        else
            assert_in_range(rows, HEIGHT * tiles, HEIGHT * tiles + 2 * cores * 2 * 8 * tiles);
        fused += info.fused;
    }
    assert_int_equal(fused, 1);
    assert_false(mona_plan_op_at(plan, op + 7, &info));
}

static void observe_with(const mona_config *settings, unsigned tiles)
{
    net_fixture net = net_open(16, 2, 5);
    mona_config config = *settings;
    config.sizes[0] = (mona_size){WIDTH, HEIGHT};
    planes *plain = calloc(1, sizeof *plain), *seen = calloc(1, sizeof *seen);
    record *r = calloc(1, sizeof *r);
    for (size_t i = 0; i < sizeof plain->in; i++)
        plain->in[i] = seen->in[i] = (uint8_t)(i * 7 + i / 31);
    bound b;
    assert_int_equal(bind(&b, &net.model, &config), MONA_OK);
    run(b.session, plain);
    const mona_op_observer observer = {tick, write_down, r};
    assert_int_equal(mona_session_observe_ops(b.session, &observer), MONA_OK);
    run(b.session, seen);
    assert_memory_equal(plain->out, seen->out, sizeof plain->out);
    check_order(r, mona_plan_threads(b.plan));
    if (tiles)
        check_rows(r, b.plan, tiles);
    const unsigned long long looks = atomic_load(&r->clock);
    assert_int_equal(mona_session_observe_ops(b.session, NULL), MONA_OK);
    run(b.session, seen);
    assert_int_equal(atomic_load(&r->clock), looks);
    unbind(&b);
    free(plain), free(seen), free(r);
    net_close(&net);
}

static void every_row_is_told_of(void **state)
{
    (void)state;
    observe_with(&(mona_config){.threads = 1}, 1);
    observe_with(&(mona_config){.threads = 1, .strip_rows = 7}, 1);
    observe_with(&(mona_config){.threads = 1, .tile_columns = 40}, 3);
}

static void cores_tell_of_their_own(void **state)
{
    (void)state;
    observe_with(&(mona_config){.threads = 3}, 1);
}

/* A cache that holds nothing parts the net into groups, some on whole maps. */
static void groups_and_maps_are_observed(void **state)
{
    (void)state;
    observe_with(&(mona_config){.threads = 2, .cache_bytes = 64}, 0);
}

static void an_observer_is_whole(void **state)
{
    (void)state;
    net_fixture net = net_open(16, 1, 5);
    bound b;
    assert_int_equal(bind(&b, &net.model, &(mona_config){.sizes[0] = {8, 8}}), MONA_OK);
    assert_int_equal(mona_session_observe_ops(b.session, &(mona_op_observer){.now = tick}),
                     MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_observe_ops(b.session, &(mona_op_observer){.done = write_down}),
                     MONA_ERR_ARGUMENT);
    assert_int_equal(mona_session_observe_ops(NULL, NULL), MONA_ERR_ARGUMENT);
    unbind(&b);
    net_close(&net);
}

/* Sums over operators are those of the plan, bytes those of the shapes. */
static void operators_are_described(void **state)
{
    (void)state;
    net_fixture net = net_open(16, 2, 5);
    bound b;
    const mona_config config = {.threads = 1, .cpu = "c", .sizes[0] = {WIDTH, HEIGHT}};
    assert_int_equal(bind(&b, &net.model, &config), MONA_OK);
    mona_op_info info, first, last = {0};
    uint64_t macs = 0, planes = 0;
    assert_true(mona_plan_op_at(b.plan, 0, &first));
    for (unsigned op = 0; mona_plan_op_at(b.plan, op, &info); op++) {
        macs += info.macs;
        planes += info.plane_bytes;
        assert_int_equal(info.columns, WIDTH);
        last = info.fused ? last : info;
    }
    assert_int_equal(macs, mona_plan_macs(b.plan));
    assert_string_equal(first.kind, "load");
    assert_int_equal(first.plane_bytes, WIDTH * HEIGHT);
    assert_true(first.ring_bytes > 0 && first.macs == 0);
    assert_string_equal(last.kind, "conv");
    assert_int_equal(last.plane_bytes, 4 * WIDTH * HEIGHT);
    assert_true(last.constant_bytes > 0);
    assert_int_equal(planes, 5 * WIDTH * HEIGHT);
    unbind(&b);
    net_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_told_of),         cmocka_unit_test(cores_tell_of_their_own),
        cmocka_unit_test(groups_and_maps_are_observed), cmocka_unit_test(an_observer_is_whole),
        cmocka_unit_test(operators_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
