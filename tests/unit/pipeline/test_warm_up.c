// SPDX-License-Identifier: Apache-2.0
/* Of frames that only come before those that are wanted, a chain computes no more than its stages
 * need, and what is wanted depends on no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "pipeline/stages/chain.h"

enum { WIDTH = 64, HEIGHT = 48, FRAMES = 12, WANTED = 10 }; /* the first wanted one */

static named_model denoise, enlarge, colour, bicubic;
static atomic_uint turns[CHAIN_MAX_STAGES][FRAMES];

static const named_model *model(named_model *m, const char *name)
{
    const embedded_model *e = embedded_model_find(name);
    assert_non_null(e);
    m->name = name;
    assert_int_equal(mona_model_open(&m->model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    return m;
}

static void mark(void *context, uint64_t frame, unsigned step, bool end)
{
    (void)context;
    if (step >= PROBE_STAGE && !end)
        atomic_fetch_add(&turns[step - PROBE_STAGE][frame], 1);
}

/* Frame n of a film whose picture and noise change. */
static void fill(frame *f, unsigned n)
{
    uint32_t random = n + 1;
    for (unsigned p = 0; p < 3; p++) {
        const mona_size size = frame_plane_size(&f->format, p);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++) {
                random = random * 1664525 + 1013904223;
                frame_row(f, p, y)[x] = (uint8_t)(60 + x + y + 3 * n + (random >> 16) % 17);
            }
    }
}

/* Takes the frames from `first` on through a chain and copies the last one's result to `result`.
 * wanted: the first that is. */
static void run(const stage_kind *kinds, unsigned count, unsigned first, unsigned wanted,
                uint8_t *result)
{
    static const pipeline_probe probe = {.mark = mark};
    static const frame_format in = {
        .width = WIDTH, .height = HEIGHT, .planes = 3, .shift_x = 1, .shift_y = 1, .bits = 8};
    stage_settings settings = {.denoise = model(&denoise, "denoise_fast"),
                               .colour = model(&colour, "colour"),
                               .bicubic = model(&bicubic, "bicubic_x2"),
                               .threads = 1,
                               .temporal = true,
                               .strength = -1,
                               .colour_strength = 1};
    pipeline_error error = {0};
    chain c;
    mona_event *done = NULL;
    for (unsigned i = 0; i < count; i++)
        settings.sr[i] = model(&enlarge, "sr_x2_tiny");
    if (!chain_open(&c, kinds, count, &settings, in, true, &error))
        fail_msg("%s", error.text);
    chain_watch(&c, &probe);
    memset(turns, 0, sizeof turns);
    for (unsigned n = first; n < FRAMES; n++) {
        frame *to;
        assert_int_equal(chain_input(&c, &to), MONA_OK);
        fill(to, n);
        assert_int_equal(chain_enqueue(&c, 0, n == first, n < wanted ? wanted - n : 0, &done),
                         MONA_OK);
        assert_int_equal(mona_event_synchronize(done), MONA_OK);
    }
    const frame *last = &c.edges[count][(FRAMES - first - 1) % c.slots[count]];
    const mona_size size = frame_plane_size(&last->format, 0);
    for (uint32_t y = 0; y < size.height; y++)
        memcpy(result + (size_t)y * size.width, frame_row(last, 0, y), size.width);
    chain_close(&c);
}

static unsigned turns_of(unsigned stage)
{
    unsigned all = 0;
    for (unsigned n = 0; n < FRAMES; n++)
        all += atomic_load(&turns[stage][n]);
    return all;
}

static uint8_t some[4 * WIDTH * HEIGHT], others[4 * WIDTH * HEIGHT];

static void stages_work_on_what_they_need(void **unused)
{
    (void)unused;
    static const stage_kind usual[] = {STAGE_DENOISE, STAGE_SR, STAGE_COLOUR},
                            enlarged[] = {STAGE_SR, STAGE_DENOISE}, graded[] = {STAGE_COLOUR};
    const unsigned wanted = FRAMES - WANTED, need = stage_row_of(STAGE_DENOISE)->warm_up;
    run(usual, 3, 0, WANTED, some);
    assert_int_equal(turns_of(0), need + wanted);
    assert_int_equal(turns_of(1), wanted);
    assert_int_equal(turns_of(2), wanted);
    run(enlarged, 2, 0, WANTED, some);
    assert_int_equal(turns_of(0), need + wanted);
    assert_int_equal(turns_of(1), need + wanted);
    run(graded, 1, 0, WANTED, some);
    assert_int_equal(turns_of(0), wanted);
}

static void what_is_passed_by_leaves_nothing(void **unused)
{
    (void)unused;
    static const stage_kind kinds[] = {STAGE_DENOISE};
    const unsigned first = WANTED - stage_row_of(STAGE_DENOISE)->warm_up;
    run(kinds, 1, 0, WANTED, some);
    run(kinds, 1, first, first, others);
    assert_memory_equal(some, others, WIDTH * HEIGHT);
    run(kinds, 1, 0, 0, others);
    assert_memory_not_equal(some, others, WIDTH * HEIGHT);
}

/* Colours are followed the same whether a frame is graded or only looked at. */
static void looking_is_as_good_as_working(void **unused)
{
    (void)unused;
    static const stage_kind kinds[] = {STAGE_COLOUR};
    const unsigned first = WANTED - stage_row_of(STAGE_COLOUR)->looks;
    run(kinds, 1, 0, WANTED, some);
    run(kinds, 1, first, first, others);
    assert_memory_equal(some, others, WIDTH * HEIGHT);
    run(kinds, 1, WANTED, WANTED, others);
    assert_memory_not_equal(some, others, WIDTH * HEIGHT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_work_on_what_they_need),
        cmocka_unit_test(what_is_passed_by_leaves_nothing),
        cmocka_unit_test(looking_is_as_good_as_working),
    };
    return cmocka_run_group_tests_name("warm-up", tests, NULL, NULL);
}
