// SPDX-License-Identifier: Apache-2.0
/* Recorded programs: the instructions that a program issues are those that were recorded, whatever
 * the loops that were found, and its size does not grow with the frame's height. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/run/modelled.h"
#include "formats/compiler/program/recorder.h"
#include "models/embedded.h"
#include "tests/unit/fixture.h"

/* ---- what was recorded ---------------------------------------------------------------------- */

/* A hash of everything that a core was given, in order. */
typedef struct trace {
    recorder *recorder;
    uint64_t hash[AC_PROGRAM_CORES], count[AC_PROGRAM_CORES];
} trace;

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

static void add(trace *t, uint32_t core, const ac_instruction *i)
{
    const bool turns = ac_turns(i->opcode);
    const ac_form f = ac_form_of(i, 0, 0);
    const ac_address at[AC_OPERANDS] = {i->dst, i->a, i->b};
    const uint8_t *bytes = (const uint8_t *)&f;
    uint64_t h = t->hash[core];
    for (size_t k = 0; k < sizeof f; k++)
        h = mixed(h, bytes[k]);
    for (uint32_t k = 0; k < ac_operands(i->opcode) && !turns; k++)
        h = mixed(h, at[k]);
    for (uint32_t k = 0; k < AC_FRACTAL && turns; k++)
        h = mixed(mixed(h, i->turn.to->at[k]), i->turn.from->at[k]);
    t->hash[core] = h;
    t->count[core]++;
}

static void on_begin(void *context, const ac_ring *rings, uint32_t count)
{
    recorder_segment(((trace *)context)->recorder, rings, count);
}

static void on_operator(void *context, uint32_t core, uint32_t op)
{
    recorder_operator(((trace *)context)->recorder, core, op);
}

static void on_take(void *context, uint32_t core, const ac_instruction *i)
{
    trace *t = context;
    recorder_take(t->recorder, core, i);
    add(t, core, i);
}

/* ---- what is played ------------------------------------------------------------------------- */

typedef struct player {
    ac_core core; /* first */
    trace *trace;
    uint32_t index;
} player;

static void played(ac_core *core, const ac_instruction *i)
{
    player *p = (player *)(void *)core;
    add(p->trace, p->index, i);
}

static void play(const void *bytes, size_t size, trace *t)
{
    ac_program p;
    assert_true(ac_program_open(&p, bytes, size));
    for (uint32_t s = 0; s < p.header.segments; s++)
        for (uint32_t i = 0; i < AC_PROGRAM_CORES; i++) {
            player one = {.core = {.target = &ac_target_ascend310, .take = played}, t, i};
            ac_program_run(&one.core, &p, s, i, NULL, NULL);
        }
}

/* ---- models --------------------------------------------------------------------------------- */

static const embedded_model *find_model(const char *name)
{
    for (size_t i = 0; i < embedded_model_count; i++)
        if (!strcmp(embedded_models[i].name, name))
            return &embedded_models[i];
    fail_msg("no model %s", name);
    return NULL;
}

static mona_buffer new_plane(mona_tensor_info t)
{
    const size_t row = t.width * mona_type_size(t.type);
    return (mona_buffer){calloc(t.channels, row * t.height), (ptrdiff_t)row,
                         (ptrdiff_t)(row * t.height)};
}

/* Runs a frame of zeros on model310, and returns its program. */
static void *record_frame(const char *name, uint32_t width, uint32_t height, size_t *size, trace *t)
{
    const embedded_model *e = find_model(name);
    mona_model model;
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    mona_config config = {.device = mona_device_find("model310")};
    bound b;
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    config.sizes[0] = (mona_size){width, height};
    assert_int_equal(bind(&b, &model, &config), MONA_OK);
    const unsigned inputs = mona_model_input_count(&model),
                   outputs = mona_model_output_count(&model);
    for (unsigned i = 0; i < inputs; i++)
        in[i] = new_plane(mona_plan_input(b.plan, i));
    for (unsigned i = 0; i < outputs; i++)
        out[i] = new_plane(mona_plan_output(b.plan, i));
    const mona_program_recorder r = {t, on_begin, on_operator, on_take};
    const char *why;
    t->recorder = recorder_new();
    mona_session_record(b.session, &r);
    assert_int_equal(mona_session_run(b.session, in, out), MONA_OK);
    void *bytes = recorder_finish(t->recorder, (uint32_t)mona_plan_l1_bytes(b.plan),
                                  (uint32_t)mona_plan_constants_bytes(b.plan), size, &why);
    if (!bytes)
        fail_msg("%s: %s", name, why);
    recorder_free(t->recorder);
    for (unsigned i = 0; i < inputs; i++)
        free(in[i].data);
    for (unsigned i = 0; i < outputs; i++)
        free(out[i].data);
    unbind(&b);
    return bytes;
}

static size_t check_frame(const char *name, uint32_t width, uint32_t height)
{
    trace recorded = {0}, issued = {0};
    size_t size;
    void *bytes = record_frame(name, width, height, &size, &recorded);
    play(bytes, size, &issued);
    for (int core = 0; core < AC_PROGRAM_CORES; core++) {
        assert_int_equal(issued.count[core], recorded.count[core]);
        assert_int_equal(issued.hash[core], recorded.hash[core]);
    }
    print_message("# %s at %ux%u: %u + %u instructions, %u bytes\n", name, width, height,
                  (unsigned)recorded.count[0], (unsigned)recorded.count[1], (unsigned)size);
    free(bytes);
    return size;
}

static void programs_issue_what_was_recorded(void **state)
{
    (void)state;
    check_frame("sr_x2_fast", 96, 64);
    check_frame("sr_x2_fast", 321, 99);
    check_frame("sr_x3_fast", 64, 40);
    check_frame("denoise_fast", 128, 72);
}

static void size_does_not_grow_with_the_height(void **state)
{
    (void)state;
    const size_t low = check_frame("sr_x2_fast", 320, 360);
    const size_t high = check_frame("sr_x2_fast", 320, 1080);
    assert_in_range(high, 1, low + low / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_issue_what_was_recorded),
        cmocka_unit_test(size_does_not_grow_with_the_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
