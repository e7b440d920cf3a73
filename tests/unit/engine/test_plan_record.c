// SPDX-License-Identifier: Apache-2.0
/* Plans that models hold: what is loaded is what the planner made, and damaged records are refused
 * or stay within their arena. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "engine/layout/layout.h"
#include "formats/compiler/program/programs.h"
#include "formats/mona_writer.h"
#include "models/embedded.h"
#include "tests/cases.h"
#include "tests/unit/fixture.h"

/* A model in a file of its own, with one plan for this machine. */
typedef struct planned {
    uint8_t *bytes;
    size_t size;
    mona_model model;
    mona_file_plan *record;
    size_t record_bytes;
} planned;

static planned plan_for(const mona_model *model, mona_size size)
{
    planned p;
    uint8_t *record;
    size_t count;
    format_error error;
    assert_true(plan_record(model, "host", size, &record, &count, &error));
    const mona_writer_program program = {.target = "host", .bytes = record, .size = count};
    assert_true(mona_writer_add_programs(model->file, 0, &program, 1, &p.bytes, &p.size, &error));
    free(record);
    assert_int_equal(mona_model_open(&p.model, p.bytes, p.size), MONA_OK);
    const mona_file_program *listed =
        (const mona_file_program *)(const void *)(p.bytes + p.model.header->programs_offset) +
        p.model.header->program_count - 1;
    p.record = (mona_file_plan *)(void *)(p.bytes + listed->offset);
    p.record_bytes = (size_t)listed->bytes;
    return p;
}

static void same_plan(const mona_plan *a, const mona_plan *b)
{
    assert_int_equal(a->arena_bytes, b->arena_bytes);
    assert_int_equal(a->cores, b->cores);
    assert_ptr_equal(a->crew, b->crew);
    assert_int_equal(a->core_bytes, b->core_bytes);
    assert_int_equal(a->parts, b->parts);
    assert_memory_equal(a->reach, b->reach, sizeof a->reach);
    assert_memory_equal(&a->lines, &b->lines, sizeof a->lines);
    for (uint32_t o = 0; o < a->model.header->op_count; o++) {
        const plan_op *x = &a->ops[o], *y = &b->ops[o];
        assert_memory_equal(&x->group, &y->group, sizeof x->group);
        assert_ptr_equal(x->bound.run, y->bound.run);
        assert_int_equal(x->bound.placed, y->bound.placed);
        assert_int_equal(x->depth, y->depth);
        assert_int_equal(x->columns, y->columns);
        assert_int_equal(x->ring_offset, y->ring_offset);
        assert_int_equal(x->row_bytes, y->row_bytes);
        assert_int_equal(x->block_stride, y->block_stride);
        assert_int_equal(x->constants_offset, y->constants_offset);
        assert_int_equal(x->home, y->home);
        assert_int_equal(x->store, y->store);
    }
}

static void loaded_as_made(const mona_model *model, mona_size size)
{
    planned p = plan_for(model, size);
    const mona_config config = {.sizes = {size}};
    mona_plan *made, *loaded;
    void *memory[2] = {aligned(mona_plan_bytes(&p.model)), aligned(mona_plan_bytes(&p.model))};
    assert_int_equal(mona_plan_make(&made, memory[0], &p.model, &config), MONA_OK);
    assert_int_equal(mona_plan_load(&loaded, memory[1], &p.model, &config), MONA_OK);
    same_plan(made, loaded);
    const mona_config other = {.sizes = {{size.width + 2, size.height}}};
    assert_int_equal(mona_plan_load(&loaded, memory[1], &p.model, &other), MONA_ERR_UNSUPPORTED);
    assert_int_equal(mona_plan_load(&loaded, memory[1], model, &config), MONA_ERR_UNSUPPORTED);
    free(memory[0]), free(memory[1]), free(p.bytes);
}

static void every_model_is_loaded_as_made(void **state)
{
    (void)state;
    static const char *const names[] = {"sr_x2_fast", "sr_x3_best", "denoise_balanced_video",
                                        "bicubic_x2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const embedded_model *m = embedded_model_find(names[i]);
        mona_model model;
        assert_non_null(m);
        assert_int_equal(mona_model_open(&model, m->begin, (size_t)(m->end - m->begin)), MONA_OK);
        loaded_as_made(&model, (mona_size){128, 96});
    }
    net_fixture heavy = net_open(48, 40, 2); /* its weights do not stay in a cache: in groups */
    loaded_as_made(&heavy.model, (mona_size){40, 24});
    net_close(&heavy);
}

/* ---- damaged --------------------------------------------------------------------------------- */

static bool load_and_run(planned *p, mona_size size)
{
    const mona_config config = {.sizes = {size}};
    bound b = {.plan_memory = aligned(mona_plan_bytes(&p->model))};
    mona_status status = mona_plan_load(&b.plan, b.plan_memory, &p->model, &config);
    if (!status && mona_plan_arena_bytes(b.plan) < (64u << 20)) {
        b.arena = aligned(mona_plan_arena_bytes(b.plan));
        assert_int_equal(
            mona_session_open(&b.session, b.plan, b.arena, mona_plan_arena_bytes(b.plan)), MONA_OK);
        uint8_t *in = calloc(size.height, size.width), *out = malloc(4 * size.height * size.width);
        const mona_buffer from = {in, (ptrdiff_t)size.width, 0},
                          to = {out, 2 * (ptrdiff_t)size.width, 0};
        assert_int_equal(mona_session_run(b.session, &from, &to), MONA_OK);
        free(in), free(out);
    }
    unbind(&b);
    return !status;
}

/* Words are replaced by small numbers, which are likelier to be taken than others, and by any. */
static void damage(planned *p, uint32_t *seed)
{
    uint32_t *words = (uint32_t *)(void *)p->record;
    const uint32_t count = 1 + test_random(seed) % 3;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = test_random(seed) % (uint32_t)(p->record_bytes / 4);
        words[at] = test_random(seed) % 4 ? test_random(seed) % 12 : test_random(seed) << 8;
    }
}

static void damaged(int channels, int body, mona_size size, uint32_t times)
{
    net_fixture f = net_open(channels, body, 9);
    planned p = plan_for(&f.model, size);
    uint8_t *sound = malloc(p.record_bytes);
    memcpy(sound, p.record, p.record_bytes);
    assert_true(load_and_run(&p, size));
    uint32_t seed = 1, taken = 0;
    for (uint32_t i = 0; i < times; i++) {
        memcpy(p.record, sound, p.record_bytes);
        damage(&p, &seed);
        taken += load_and_run(&p, size);
    }
    assert_in_range(taken, 1, times - 1);
    free(sound), free(p.bytes);
    net_close(&f);
}

static void damaged_records_stay_in_their_arena(void **state)
{
    (void)state;
    damaged(16, 2, (mona_size){48, 32}, CASES(2000));
    damaged(48, 40, (mona_size){24, 16}, CASES(500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_loaded_as_made),
        cmocka_unit_test(damaged_records_stay_in_their_arena),
    };
    return cmocka_run_group_tests_name("plan_record", tests, NULL, NULL);
}
