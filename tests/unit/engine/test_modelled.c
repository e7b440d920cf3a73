// SPDX-License-Identifier: Apache-2.0
/* The shipped models on model310: the host's bytes, nothing for the checks to find, and a time that
 * a short piece of the frame predicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/modelled_check.h"
#include "models/embedded.h"
#include "mona.h"
#include "tests/unit/sr_net.h"
#include "tests/cases.h"

/* A frame through a model; outputs follow one another. */
typedef struct frame {
    uint8_t *out;
    size_t bytes;
    double cycles;       /* of the slower core; 0 on the host */
    double of_operators; /* cycles of theirs on core 0 */
    uint64_t moved;      /* bytes of global memory */
    double cube[64];     /* [operators]: share of an operator's time that core 0's is busy */
} frame;

/* Samples of 8 bits, or of 10 in words. */
static uint8_t *noise(size_t samples, size_t size)
{
    uint8_t *p = malloc(samples * size);
    uint32_t state = 7;
    for (size_t i = 0; i < samples; i++) {
        state = state * 1664525 + 1013904223;
        const uint16_t value = (uint16_t)(state >> (size == 1 ? 24 : 22));
        memcpy(p + i * size, &value, size); /* little-endian */
    }
    return p;
}

static void read_report(frame *f, const mona_session *session)
{
    const ac_model_report *r;
    for (unsigned core = 0; (r = mona_session_modelled(session, core)); core++) {
        f->cycles = r->cycles > f->cycles ? r->cycles : f->cycles;
        f->moved += r->gm_read + r->gm_written;
    }
}

static frame run(const mona_model *model, mona_config config, uint32_t width, uint32_t height)
{
    frame f = {0};
    config.sizes[0] = (mona_size){width, height};
    void *memory = aligned_alloc(64, mona_plan_bytes(model));
    mona_plan *plan;
    assert_int_equal(mona_plan_make(&plan, memory, model, &config), MONA_OK);
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    uint8_t *planes[MONA_MAX_IO];
    const unsigned inputs = mona_model_input_count(model), outputs = mona_model_output_count(model);
    for (unsigned i = 0; i < inputs; i++) {
        const mona_tensor_info t = mona_plan_input(plan, i);
        const size_t size = mona_type_size(t.type);
        planes[i] = noise((size_t)t.width * t.height, size);
        in[i] = (mona_buffer){planes[i], (ptrdiff_t)(t.width * size), 0};
    }
    for (unsigned i = 0; i < outputs; i++) {
        const mona_tensor_info t = mona_plan_output(plan, i);
        f.bytes += (size_t)t.width * t.height * mona_type_size(t.type);
    }
    uint8_t *to = f.out = calloc(f.bytes, 1);
    for (unsigned i = 0; i < outputs; i++) {
        const mona_tensor_info t = mona_plan_output(plan, i);
        const size_t row = t.width * mona_type_size(t.type);
        out[i] = (mona_buffer){to, (ptrdiff_t)row, 0};
        to += row * t.height;
    }
    const size_t bytes = mona_plan_arena_bytes(plan);
    void *arena = NULL;
    assert_int_equal(posix_memalign(&arena, 64, bytes), 0);
    mona_session *session;
    assert_int_equal(mona_session_open(&session, plan, arena, bytes), MONA_OK);
    assert_int_equal(mona_session_run(session, in, out), MONA_OK);
    assert_nothing_found(session);
    read_report(&f, session);
    const mona_modelled_op *op;
    for (unsigned o = 0; (op = mona_session_modelled_op(session, 0, o)); o++) {
        assert_true(o < sizeof f.cube / sizeof *f.cube);
        f.of_operators += op->cycles;
        f.cube[o] = op->cycles > 0 ? op->busy[AC_PIPE_M] / op->cycles : 0;
    }
    mona_session_close(session);
    for (unsigned i = 0; i < inputs; i++)
        free(planes[i]);
    free(arena), free(memory);
    return f;
}

static mona_model shipped(const char *name)
{
    const embedded_model *e = embedded_model_find(name);
    assert_non_null(e);
    mona_model model;
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    return model;
}

/* bits: of the planes, 8 or 10. */
static void check_shipped(unsigned bits)
{
    static const char *const names[] = {"sr_x2_fast", "sr_x2_balanced", "denoise_fast",
                                        "bicubic_x2"};
    static const struct {
        uint32_t width, height;
    } sizes[] = {{64, 36}, {230, 14}, {18, 50}, {2, 2}};
    for (size_t m = 0; m < sizeof names / sizeof *names; m++)
        for (size_t k = 0; k < CASES(sizeof sizes / sizeof *sizes); k++) {
            mona_model model = shipped(names[m]), eight = model;
            const size_t room = mona_model_deep_bytes(&eight);
            void *deep = aligned_alloc(64, room);
            if (bits > 8)
                assert_int_equal(mona_model_deepen(&model, deep, room, &eight, bits), MONA_OK);
            const mona_config host = {.device = &mona_device_host};
            const mona_config modelled = {.device = &mona_device_model310};
            const frame want = run(&model, host, sizes[k].width, sizes[k].height);
            const frame found = run(&model, modelled, sizes[k].width, sizes[k].height);
            assert_int_equal(found.bytes, want.bytes);
            assert_memory_equal(found.out, want.out, want.bytes);
            assert_true(found.cycles > 0 && want.cycles == 0);
            free(want.out), free(found.out), free(deep);
        }
}

static void shipped_models_give_the_hosts_bytes(void **state)
{
    (void)state;
    check_shipped(8);
}

static void and_on_planes_of_10_bits(void **state)
{
    (void)state;
    check_shipped(10);
}

/* mona bench samples tall frames by two short ones. */
static void short_frames_predict_tall_ones(void **state)
{
    (void)state;
    const mona_model model = shipped("sr_x2_fast");
    const mona_config config = {.device = &mona_device_model310};
    const frame a = run(&model, config, 320, MODELLED_SHORT_ROWS);
    const frame b = run(&model, config, 320, MODELLED_LONG_ROWS);
    const frame whole = run(&model, config, 320, 400);
    const double predicted = modelled_grown(a.cycles, b.cycles, 400);
    assert_true(predicted > 0.98 * whole.cycles && predicted < 1.02 * whole.cycles);
    free(a.out), free(b.out), free(whole.out);
}

/* The same frame twice takes the same time, and two cores less than one. */
static void time_is_repeatable_and_shared(void **state)
{
    (void)state;
    const mona_model model = shipped("sr_x2_fast");
    mona_config config = {.device = &mona_device_model310};
    const frame a = run(&model, config, 128, 64), b = run(&model, config, 128, 64);
    config.threads = 1;
    const frame alone = run(&model, config, 128, 64);
    assert_true(a.cycles == b.cycles);
    assert_true(a.cycles < 0.7 * alone.cycles);
    assert_memory_equal(a.out, alone.out, a.bytes);
    free(a.out), free(b.out), free(alone.out);
}

/* What no operator takes of a frame: the launch, and a copy of a row of zeros. Operators load their
 * constants. */
static void a_frame_begins_with_its_launch(void **state)
{
    (void)state;
    const mona_model model = shipped("denoise_fast");
    const mona_config config = {.device = &mona_device_model310, .threads = 1};
    const frame f = run(&model, config, 64, 36);
    const ac_costs *c = &ac_costs_310;
    const double launch = c->task_launch * c->clock_mhz + c->copy_latency;
    const size_t planes = 64 * 36 * 3 / 2;
    const double copied = (double)f.moved - 2 * planes - 32 * 18; /* noise: a sample a pixel pair */
    assert_true(copied >= 14592 / 2); /* the model's file is mostly weights */
    assert_true(f.cycles - f.of_operators >= 0.99 * launch);
    assert_true(f.cycles - f.of_operators <= 1.01 * launch + 100);
    free(f.out);
}

/* A short frame of full width, whose rows take longer than those of a tall one: 1080 of them, still
 * within 8 ms, and the layers that nothing but the cube binds keep it busy. */
static void super_resolution_of_1080p_is_fast(void **state)
{
    (void)state;
    enum { BODY_0 = 2, BODY_1 = 3 };
    const mona_model model = shipped("sr_x2_fast");
    const mona_config config = {.device = &mona_device_model310};
    const frame f = run(&model, config, 1920, MODELLED_SHORT_ROWS);
    const double ms = f.cycles * 1080 / MODELLED_SHORT_ROWS / (ac_costs_310.clock_mhz * 1e3);
    assert_true(ms < 8);
    assert_true(f.cube[BODY_0] > 0.7 && f.cube[BODY_1] > 0.7);
    free(f.out);
}

static void layers_of_32_channels_keep_the_cube_busy(void **state)
{
    (void)state;
    size_t size;
    sr_net *net = sr_net_new(32, 3, 2, 5);
    uint8_t *file = sr_net_model(net, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, file, size), MONA_OK);
    const mona_config config = {.device = &mona_device_model310};
    const frame f = run(&model, config, 960, 48);
    for (int body = 2; body < 4; body++) /* without a residual */
        assert_true(f.cube[body] > 0.85);
    free(f.out), free(file), free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_models_give_the_hosts_bytes),
        cmocka_unit_test(and_on_planes_of_10_bits),
        cmocka_unit_test(short_frames_predict_tall_ones),
        cmocka_unit_test(time_is_repeatable_and_shared),
        cmocka_unit_test(super_resolution_of_1080p_is_fast),
        cmocka_unit_test(layers_of_32_channels_keep_the_cube_busy),
        cmocka_unit_test(a_frame_begins_with_its_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
