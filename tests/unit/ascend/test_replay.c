// SPDX-License-Identifier: Apache-2.0
/* The replay kernel, compiled for this CPU, has the bytes of the host for every built-in model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "tests/cases.h"
#include "tests/unit/ascend/replay_machine.h"
#include "tests/unit/fixture.h"
#include "tests/unit/recorded.h"

#ifndef REPLAY_EVERY
#define REPLAY_EVERY 1 /* so many models one is taken of */
#endif
#ifndef REPLAY_READINGS
#define REPLAY_READINGS                                                                            \
    {                                                                                              \
        0                                                                                          \
    } /* of machine.h, which are taken in turn */
#endif
#ifndef REPLAY_FIRST
#define REPLAY_FIRST 0
#define REPLAY_END SIZE_MAX
#endif

static uint32_t noise;

static uint8_t next_byte(void)
{
    noise = noise * 1664525 + 1013904223;
    return (uint8_t)(noise >> 24);
}

typedef struct frame {
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    size_t in_bytes[MONA_MAX_IO], out_bytes[MONA_MAX_IO];
} frame;

static mona_buffer new_plane(mona_tensor_info t, size_t *bytes)
{
    *bytes = mona_device_planes_bytes(&t);
    const mona_buffer b = mona_device_planes(calloc(1, *bytes), NULL, &t);
    for (size_t i = 0; i < *bytes; i++)
        ((uint8_t *)b.data)[i] = next_byte() & (t.type == MONA_U8 ? 255 : 59);
    return b;
}

static uint32_t small_channels(const ac_program *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->header.forms; i++)
        count += p->forms[i].opcode == AC_OP_LOAD3D && (p->forms[i].config[2] >> 40 & 1);
    return count;
}

static void check_model(const mona_model *model, const char *name, mona_size size,
                        uint32_t readings, bool modelled)
{
    const mona_tensor_info fixed = mona_model_input(model, 0);
    bound host;
    if (fixed.width)
        size = (mona_size){fixed.width, fixed.height};
    frame f = {0};
    const mona_config config = {.device = &mona_device_host, .sizes = {size}};
    const unsigned inputs = mona_model_input_count(model), outputs = mona_model_output_count(model);
    const mona_status status = bind(&host, model, &config);
    if (status)
        fail_msg("%s at %ux%u: %s", name, size.width, size.height, mona_status_text(status));
    for (unsigned i = 0; i < inputs; i++)
        f.in[i] = new_plane(mona_plan_input(host.plan, i), &f.in_bytes[i]);
    for (unsigned i = 0; i < outputs; i++)
        f.out[i] = new_plane(mona_plan_output(host.plan, i), &f.out_bytes[i]);
    assert_int_equal(mona_session_run(host.session, f.in, f.out), MONA_OK);
    size_t bytes;
    uint8_t *program = recorded_program(model, size, &bytes);
    ac_program p;
    assert_true(ac_program_open(&p, program, bytes));
    replay_machine r;
    replay_open(&r, &p);
    r.modelled = modelled && !readings;
    r.readings = readings;
    r.control = readings & CCE_SMALL_BY_CONTROL ? UINT64_C(1) << 63 : 0;
    for (unsigned i = 0; i < inputs; i++)
        memcpy(replay_buffer(&r, i), f.in[i].data, f.in_bytes[i]);
    if (!MONA_SMALL_CHANNELS && small_channels(&p))
        fail_msg("%s: %u load3ds of small channels", name, small_channels(&p));
    for (uint32_t s = 0; s < p.header.segments; s++) {
        const char *fault = replay_segment(&r, &p, s);
        if (fault)
            fail_msg("%s, segment %u: %s", name, s, fault);
    }
    for (unsigned i = 0; i < outputs; i++)
        if (!replay_has(&r, inputs + i, mona_plan_output(host.plan, i), f.out[i]))
            fail_msg("%s at %ux%u, readings %u: output %u differs", name, size.width, size.height,
                     readings, i);
    for (unsigned i = 0; i < inputs; i++)
        free(f.in[i].data);
    for (unsigned i = 0; i < outputs; i++)
        free(f.out[i].data);
    replay_close(&r);
    free(program);
    unbind(&host);
}

/* Sizes that leave loops inside a chunk, and such that do not; the short tier takes them in turn.
 * The smallest frames also run on the modelled chip, which finds races and flags that do not
 * match. */
static void built_in_models_have_the_hosts_bytes(void **state)
{
    enum { SIZES = 3 };
    static const uint32_t readings[] = REPLAY_READINGS;
    const size_t count = sizeof readings / sizeof *readings;
    static const mona_size sizes[SIZES] = {{64, 24}, {98, 62}, {130, 150}};
    (void)state;
    for (size_t i = REPLAY_FIRST; i < embedded_model_count && i < REPLAY_END; i += REPLAY_EVERY) {
        const embedded_model *e = &embedded_models[i];
        mona_model model;
        assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
        for (size_t k = 0; k < SIZES; k++)
            for (size_t r = 0; r < count && (CASES(SIZES) == SIZES || i % SIZES == k); r++)
                if (CASES(count) == count || i % count == r || r + 1 == count)
                    check_model(&model, e->name, sizes[k], readings[r], !k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_models_have_the_hosts_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
