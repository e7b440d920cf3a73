// SPDX-License-Identifier: Apache-2.0
/* Runs that make only what has changed: the bytes of a run that makes everything, in fewer rows,
 * and nothing written that was not to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "tests/cases.h"
#include "tests/unit/fixture.h"

enum { WIDTH = 230, HEIGHT = 148, MAX_RECTS = 4, MARGIN = 8 };

/* The planes of a run: of 8 bits, one channel each, side by side with a margin. */
typedef struct planes {
    unsigned count;
    mona_buffer buffers[MONA_MAX_IO];
    mona_tensor_info infos[MONA_MAX_IO];
    uint8_t *memory[MONA_MAX_IO];
    size_t bytes[MONA_MAX_IO];
} planes;

static planes planes_new(const mona_plan *plan, bool outputs, int value)
{
    const mona_model *model = mona_plan_model(plan);
    planes p = {.count = outputs ? mona_model_output_count(model) : mona_model_input_count(model)};
    for (unsigned i = 0; i < p.count; i++) {
        p.infos[i] = outputs ? mona_plan_output(plan, i) : mona_plan_input(plan, i);
        assert_int_equal(p.infos[i].type, MONA_U8);
        assert_int_equal(p.infos[i].channels, 1);
        const size_t stride = p.infos[i].width + 2 * MARGIN;
        p.bytes[i] = stride * (p.infos[i].height + 2);
        p.memory[i] = malloc(p.bytes[i]);
        memset(p.memory[i], value, p.bytes[i]);
        p.buffers[i] = (mona_buffer){p.memory[i] + stride + MARGIN, (ptrdiff_t)stride, 0};
    }
    return p;
}

static planes planes_copy(const planes *from)
{
    planes p = *from;
    for (unsigned i = 0; i < p.count; i++) {
        p.memory[i] = memcpy(malloc(p.bytes[i]), from->memory[i], p.bytes[i]);
        p.buffers[i].data = p.memory[i] + ((uint8_t *)from->buffers[i].data - from->memory[i]);
    }
    return p;
}

static void planes_free(planes *p)
{
    for (unsigned i = 0; i < p->count; i++)
        free(p->memory[i]);
}

static void scribble(planes *p, const mona_rect *r, uint32_t *seed)
{
    const mona_buffer *b = &p->buffers[r->input];
    for (uint32_t y = r->y; y < r->y + r->height; y++)
        for (uint32_t x = r->x; x < r->x + r->width; x++)
            ((uint8_t *)b->data)[(ptrdiff_t)y * b->row_stride + x] = (uint8_t)test_random(seed);
}

/* Small ones as a rule, at the edges too. */
static mona_rect random_rect(const planes *in, uint32_t *seed)
{
    const uint32_t input = test_random(seed) % in->count;
    const uint32_t w = in->infos[input].width, h = in->infos[input].height;
    mona_rect r = {.input = input, .x = test_random(seed) % w, .y = test_random(seed) % h};
    r.width = 1 + test_random(seed) % 20, r.height = 1 + test_random(seed) % 20;
    r.width = r.width < w - r.x ? r.width : w - r.x;
    r.height = r.height < h - r.y ? r.height : h - r.y;
    return r;
}

static void expect_same(const planes *found, const planes *expected, const mona_plan *plan,
                        const char *what)
{
    for (unsigned i = 0; i < found->count; i++)
        for (size_t k = 0; k < found->bytes[i]; k++)
            if (found->memory[i][k] != expected->memory[i][k]) {
                const size_t stride = (size_t)found->buffers[i].row_stride;
                fail_msg("%s, %u threads, %s: output %u, row %d, column %d differs",
                         mona_plan_isa(plan), mona_plan_threads(plan), what, i,
                         (int)(k / stride) - 1, (int)(k % stride) - MARGIN);
            }
}

/* Frame after frame, each with some rectangles new: into other planes, and into the same ones. */
static void follow(const bound *b, uint32_t *seed, unsigned frames)
{
    planes in = planes_new(b->plan, false, 0);
    for (uint32_t i = 0; i < in.count; i++)
        scribble(&in, &(mona_rect){i, 0, 0, in.infos[i].width, in.infos[i].height}, seed);
    planes expected = planes_new(b->plan, true, 0xa5), kept = planes_new(b->plan, true, 0xa5);
    assert_int_equal(mona_session_run(b->session, in.buffers, kept.buffers), MONA_OK);
    for (unsigned n = 0; n < frames; n++) {
        mona_rect rects[MAX_RECTS];
        const mona_change change = {kept.buffers, rects, test_random(seed) % (MAX_RECTS + 1)};
        for (size_t i = 0; i < change.count; i++) {
            rects[i] = random_rect(&in, seed);
            scribble(&in, &rects[i], seed);
        }
        planes copied = planes_new(b->plan, true, 0xa5);
        assert_int_equal(mona_session_run_changed(b->session, in.buffers, copied.buffers, &change),
                         MONA_OK);
        assert_int_equal(mona_session_run_changed(b->session, in.buffers, kept.buffers, &change),
                         MONA_OK);
        assert_int_equal(mona_session_run(b->session, in.buffers, expected.buffers), MONA_OK);
        expect_same(&copied, &expected, b->plan, "copied");
        expect_same(&kept, &expected, b->plan, "kept");
        planes_free(&copied);
    }
    planes_free(&in), planes_free(&expected), planes_free(&kept);
}

static void same_bytes(const mona_model *model)
{
    static const char *const levels[] = {"c",   "avx2", "avxvnni", "avx512",
                                         "amx", "neon", "dotprod", "i8mm"};
    static const unsigned strips[] = {0, 5, 2}, tiles[] = {0, 0, 48, 17};
    uint32_t seed = 5, tried = 0;
    for (uint32_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const bool slow = i == 0;
        for (uint32_t k = 0; k < CASES(slow ? 2 : 6); k++) {
            const uint32_t part = slow ? 2 : 1;
            const mona_config config = {.cpu = levels[i],
                                        .threads = 1 + (i + k) % 3,
                                        .strip_rows = strips[k % 3],
                                        .tile_columns = tiles[(i + k) % 4],
                                        .sizes = {{WIDTH / part & ~1u, HEIGHT / part & ~1u}}};
            bound b;
            const mona_status status = bind(&b, model, &config);
            if (status == MONA_ERR_DEVICE)
                break; /* not this CPU */
            assert_int_equal(status, MONA_OK);
            follow(&b, &seed, slow ? 2 : 3);
            unbind(&b);
            tried++;
        }
    }
    assert_true(tried > 0);
}

static void nets_of_random_weights(void **state)
{
    (void)state;
    static const struct {
        int channels, body, scale;
    } nets[] = {{16, 3, 2}, {20, 1, 3}, {33, 1, 1}};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        net_fixture n = net_open_scaled(nets[i].channels, nets[i].body, nets[i].scale, 1);
        same_bytes(&n.model);
        net_close(&n);
    }
}

static mona_model shipped(const char *name)
{
    mona_model model;
    const embedded_model *m = embedded_model_find(name);
    assert_non_null(m);
    assert_int_equal(mona_model_open(&model, m->begin, (size_t)(m->end - m->begin)), MONA_OK);
    return model;
}

static void shipped_models(void **state)
{
    (void)state;
    static const char *const names[] = {"sr_x2_fast_video", "denoise_fast", "bicubic_x2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mona_model model = shipped(names[i]);
        same_bytes(&model);
    }
}

/* ---- what it costs --------------------------------------------------------------------------- */

static uint64_t no_time(void *context)
{
    (void)context;
    return 0;
}

static void count_rows(void *context, const mona_op_event *event)
{
    atomic_fetch_add((atomic_uint *)context, event->rows);
}

static unsigned rows_made(const bound *b, planes *in, planes *out, const mona_change *change)
{
    atomic_uint rows = 0;
    const mona_op_observer observer = {no_time, count_rows, &rows};
    const mona_status status = mona_session_observe_ops(b->session, &observer);
    if (status == MONA_ERR_UNSUPPORTED)
        skip();
    assert_int_equal(mona_session_run_changed(b->session, in->buffers, out->buffers, change),
                     MONA_OK);
    return rows;
}

static void fewer_rows_are_made(void **state)
{
    (void)state;
    const mona_model model = shipped("sr_x2_fast_video");
    for (unsigned threads = 1; threads <= 2; threads++) {
        const mona_config config = {.threads = threads, .sizes = {{640, 360}}};
        bound b;
        assert_int_equal(bind(&b, &model, &config), MONA_OK);
        planes in = planes_new(b.plan, false, 1), out = planes_new(b.plan, true, 0);
        const mona_rect spot = {0, 300, 180, 8, 8}, all = {0, 0, 0, 640, 360};
        mona_change change = {out.buffers, NULL, 0};
        const unsigned whole = rows_made(&b, &in, &out, NULL);
        assert_int_equal(rows_made(&b, &in, &out, &change), 0);
        change.rects = &spot, change.count = 1;
        assert_in_range(rows_made(&b, &in, &out, &change), 1, whole / 4);
        change.rects = &all; /* two cores may divide the work otherwise each time */
        assert_in_range(rows_made(&b, &in, &out, &change), whole - (threads - 1) * whole / 8,
                        whole + (threads - 1) * whole / 8);
        planes_free(&in), planes_free(&out);
        unbind(&b);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    net_fixture n = net_open(16, 1, 1);
    const mona_config config = {.threads = 1, .sizes = {{64, 64}}};
    bound b;
    assert_int_equal(bind(&b, &n.model, &config), MONA_OK);
    planes in = planes_new(b.plan, false, 1), out = planes_new(b.plan, true, 0xa5);
    planes untouched = planes_copy(&out);
    static const mona_rect wrong[] = {{1, 0, 0, 1, 1},
                                      {0, 64, 0, 1, 1},
                                      {0, 0, 60, 1, 5},
                                      {0, UINT32_MAX, 0, 2, 1},
                                      {0, 1, 1, UINT32_MAX, 1}};
    mona_change change = {out.buffers, NULL, 1};
    assert_int_equal(mona_session_run_changed(b.session, in.buffers, out.buffers, &change),
                     MONA_ERR_ARGUMENT);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        change.rects = &wrong[i];
        assert_int_equal(mona_session_run_changed(b.session, in.buffers, out.buffers, &change),
                         MONA_ERR_ARGUMENT);
    }
    change = (mona_change){NULL, NULL, 0};
    assert_int_equal(mona_session_run_changed(b.session, in.buffers, out.buffers, &change),
                     MONA_ERR_ARGUMENT);
    expect_same(&out, &untouched, b.plan, "refused");
    planes_free(&in), planes_free(&out), planes_free(&untouched);
    unbind(&b);
    net_close(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nets_of_random_weights),
        cmocka_unit_test(shipped_models),
        cmocka_unit_test(fewer_rows_are_made),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests_name("changed", tests, NULL, NULL);
}
