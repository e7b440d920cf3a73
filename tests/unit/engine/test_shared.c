// SPDX-License-Identifier: Apache-2.0
/* Sessions that share packed weights: the same results, weights in memory once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"

enum { WIDTH = 50, HEIGHT = 37, SESSIONS = 3 };

typedef struct planes {
    uint8_t in[HEIGHT * WIDTH], out[2 * HEIGHT * 2 * WIDTH];
} planes;

static void run(mona_session *session, planes *p, unsigned salt)
{
    const mona_buffer in = {p->in, WIDTH, 0}, out = {p->out, 2 * WIDTH, 0};
    for (size_t i = 0; i < sizeof p->in; i++)
        p->in[i] = (uint8_t)(i * 7 + i / 31 + salt);
    memset(p->out, 0, sizeof p->out);
    assert_int_equal(mona_session_run(session, &in, &out), MONA_OK);
}

/* Of all constants as the arena has them. */
static size_t weight_bytes(const mona_plan *plan)
{
    mona_plan_buffer buffer;
    size_t bytes = 0, end = 0;
    for (uint64_t i = 0; mona_plan_next_buffer(plan, &i, &buffer);) {
        bytes += strcmp(buffer.kind, "weights") ? 0 : buffer.bytes;
        assert_int_equal(buffer.offset, end); /* regions still cover the arena */
        end = buffer.offset + buffer.bytes;
    }
    assert_int_equal(end, mona_plan_arena_bytes(plan));
    return bytes;
}

static void sessions_share_weights(void **state)
{
    (void)state;
    net_fixture net = net_open(16, 2, 5);
    mona_config config = {.threads = 1, .sizes[0] = {WIDTH, HEIGHT}};
    bound owner, guests[SESSIONS];
    planes *expected = malloc(sizeof *expected), *found = malloc(sizeof *found);
    assert_int_equal(bind(&owner, &net.model, &config), MONA_OK);
    const size_t weights = weight_bytes(owner.plan);
    assert_true(weights > 0);
    for (int i = 0; i < SESSIONS; i++) {
        config.shared = owner.session;
        config.threads = 1 + (unsigned)i % 2;
        assert_int_equal(bind(&guests[i], &net.model, &config), MONA_OK);
        assert_int_equal(weight_bytes(guests[i].plan), 0);
        if (config.threads == 1)
            assert_int_equal(mona_plan_arena_bytes(guests[i].plan) + weights,
                             mona_plan_arena_bytes(owner.plan));
    }
    for (unsigned round = 0; round < 4; round++) {
        run(owner.session, expected, round);
        for (int i = 0; i < SESSIONS; i++) {
            run(guests[i].session, found, round);
            assert_memory_equal(found->out, expected->out, sizeof found->out);
        }
    }
    for (int i = 0; i < SESSIONS; i++)
        unbind(&guests[i]);
    run(owner.session, expected, 1); /* closing a guest leaves the weights */
    unbind(&owner);
    free(expected), free(found);
    net_close(&net);
}

static void strangers_lend_nothing(void **state)
{
    (void)state;
    net_fixture net = net_open(16, 2, 5), other = net_open(16, 2, 6);
    mona_config config = {.threads = 1, .sizes[0] = {WIDTH, HEIGHT}};
    bound owner, guest;
    assert_int_equal(bind(&owner, &net.model, &config), MONA_OK);
    config.shared = owner.session;
    assert_int_equal(bind(&guest, &other.model, &config), MONA_ERR_ARGUMENT);
    config.sizes[0].height++;
    assert_int_equal(bind(&guest, &net.model, &config), MONA_ERR_ARGUMENT);
    config.sizes[0].height--;
    config.cpu = "c"; /* on some CPUs the best there is */
    if (strcmp(mona_plan_isa(owner.plan), config.cpu))
        assert_int_equal(bind(&guest, &net.model, &config), MONA_ERR_ARGUMENT);
    config.cpu = NULL;
    config.device = &mona_device_model310;
    assert_int_equal(bind(&guest, &net.model, &config), MONA_ERR_UNSUPPORTED);
    unbind(&owner);
    net_close(&net), net_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_share_weights),
        cmocka_unit_test(strangers_lend_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
