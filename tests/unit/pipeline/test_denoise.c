// SPDX-License-Identifier: Apache-2.0
/* The denoiser's network runs where there is noise, and clean planes come out as they went in. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/embedded.h"
#include "pipeline/stages/denoise.h"

enum { WIDTH = 64, HEIGHT = 48 };

typedef struct fixture {
    named_model model;
    frame_format format;
    denoiser denoiser;
    void *stream_memory, *frames_memory;
    mona_stream *stream;
    frame in, out;
    atomic_ulong events; /* of operators that have run */
} fixture;

static uint64_t no_time(void *context)
{
    (void)context;
    return 0;
}

static void count(void *context, const mona_op_event *event)
{
    (void)event;
    atomic_fetch_add((atomic_ulong *)context, 1);
}

static void observe(fixture *f, session_binding *bound)
{
    const mona_op_observer observer = {no_time, count, &f->events};
    if (bound->session)
        assert_int_equal(mona_session_observe_ops(bound->session, &observer), MONA_OK);
}

static void open_fixture(fixture *f, unsigned shift, unsigned bits, double strength)
{
    const embedded_model *e = embedded_model_find("denoise_fast");
    pipeline_error error = {0};
    *f = (fixture){.model.name = "denoise_fast",
                   .format = {.width = WIDTH,
                              .height = HEIGHT,
                              .planes = 3,
                              .shift_x = shift,
                              .shift_y = shift,
                              .bits = bits}};
    const stage_settings settings = {.denoise = &f->model, .threads = 1, .strength = strength};
    assert_non_null(e);
    assert_int_equal(mona_model_open(&f->model.model, e->begin, (size_t)(e->end - e->begin)),
                     MONA_OK);
    f->format.multiple = denoise_multiple(&f->format);
    f->stream_memory = session_binding_allocate(mona_stream_bytes());
    f->frames_memory = session_binding_allocate(2 * frame_bytes(&f->format));
    assert_true(f->stream_memory && f->frames_memory);
    frame_place(&f->in, &f->format, f->frames_memory);
    frame_place(&f->out, &f->format, (uint8_t *)f->frames_memory + frame_bytes(&f->format));
    assert_int_equal(mona_stream_open(&f->stream, NULL, f->stream_memory, mona_stream_bytes()),
                     MONA_OK);
    if (!denoise_open(&f->denoiser, &settings, f->format, 1, &error))
        fail_msg("%s", error.text);
    observe(f, &f->denoiser.luma.bound);
    observe(f, &f->denoiser.chroma.bound);
}

static void close_fixture(fixture *f)
{
    mona_stream_close(f->stream);
    denoise_close(&f->denoiser);
    free(f->stream_memory);
    free(f->frames_memory);
}

/* A ramp across and down, with noise of up to `noise` steps of 8 bits. */
static void fill(fixture *f, unsigned plane, int noise)
{
    const mona_size size = frame_plane_size(&f->format, plane);
    const unsigned more = f->format.bits - 8;
    uint32_t random = 1;
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            uint8_t *row = f->in.data[plane] + (ptrdiff_t)y * f->in.stride[plane];
            random = random * 1664525 + 1013904223;
            const int grain = noise ? (int)(random >> 16) % (2 * noise + 1) - noise : 0;
            const uint16_t sample = (uint16_t)((60 + (int)x + (int)y + grain) << more);
            memcpy(row + x * (more ? 2 : 1), &sample, more ? 2 : 1);
        }
}

static unsigned long runs_of(fixture *f)
{
    atomic_store(&f->events, 0);
    memset(f->out.data[0], 0, frame_bytes(&f->format));
    assert_int_equal(denoise_enqueue(&f->denoiser, f->stream, &f->in, &f->out, NULL, 0, 0),
                     MONA_OK);
    assert_int_equal(mona_stream_synchronize(f->stream), MONA_OK);
    return atomic_load(&f->events);
}

static bool is_unchanged(const fixture *f, unsigned plane)
{
    const mona_size size = frame_plane_size(&f->format, plane);
    for (uint32_t y = 0; y < size.height; y++)
        if (memcmp(f->in.data[plane] + (ptrdiff_t)y * f->in.stride[plane],
                   f->out.data[plane] + (ptrdiff_t)y * f->out.stride[plane],
                   size.width * frame_sample_bytes(&f->format)))
            return false;
    return true;
}

static void fill_all(fixture *f, int luma, int chroma)
{
    for (unsigned p = 0; p < 3; p++)
        fill(f, p, p ? chroma : luma);
}

static void clean_frames_need_no_network(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 10; bits += 2)
        for (unsigned shift = 0; shift < 2; shift++) {
            fixture f;
            open_fixture(&f, shift, bits, -1);
            fill_all(&f, 0, 0);
            assert_int_equal(runs_of(&f), 0);
            for (unsigned p = 0; p < 3; p++)
                assert_true(is_unchanged(&f, p));
            fill_all(&f, 40, 40);
            assert_true(runs_of(&f) > 0);
            assert_false(is_unchanged(&f, 0));
            close_fixture(&f);
        }
}

/* Of 4:4:4 each plane is judged by itself. */
static void clean_planes_need_no_network(void **unused)
{
    (void)unused;
    fixture f;
    open_fixture(&f, 0, 8, -1);
    fill_all(&f, 30, 30);
    const unsigned long three = runs_of(&f);
    close_fixture(&f);
    open_fixture(&f, 0, 8, -1);
    fill_all(&f, 30, 0);
    assert_int_equal(3 * runs_of(&f), three);
    assert_false(is_unchanged(&f, 0));
    assert_true(is_unchanged(&f, 1) && is_unchanged(&f, 2));
    close_fixture(&f);
}

static void a_strength_is_obeyed(void **unused)
{
    (void)unused;
    fixture f;
    open_fixture(&f, 1, 8, 0);
    fill_all(&f, 0, 0);
    assert_true(runs_of(&f) > 0);
    close_fixture(&f);
}

/* Twelve uniform numbers have a variance of 1. */
static void large_planes_are_sampled(void **unused)
{
    (void)unused;
    enum { COLUMNS = 1280, ROWS = 720 };
    uint8_t *plane = malloc(COLUMNS * ROWS);
    noise_work *work = malloc(sizeof *work);
    uint32_t random = 1;
    assert_true(plane && work);
    for (int sigma = 2; sigma <= 18; sigma += 8) {
        for (uint32_t i = 0; i < COLUMNS * ROWS; i++) {
            int64_t sum = -6 * 0xffff;
            for (int k = 0; k < 12; k++)
                sum += (random = random * 1664525 + 1013904223) >> 16;
            plane[i] = (uint8_t)(128.5 + (double)sum * sigma / 0xffff);
        }
        const float found = noise_sigma(work, plane, COLUMNS, COLUMNS, ROWS, 8, 1);
        uint32_t looked_at = 0;
        for (int i = 0; i < NOISE_BINS; i++)
            looked_at += work->all[i];
        assert_in_range(looked_at, 500, 2048);
        assert_true(fabsf(found - (float)sigma) < 0.05f * (float)sigma);
    }
    free(plane);
    free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_frames_need_no_network),
        cmocka_unit_test(clean_planes_need_no_network),
        cmocka_unit_test(large_planes_are_sampled),
        cmocka_unit_test(a_strength_is_obeyed),
    };
    return cmocka_run_group_tests_name("denoise", tests, NULL, NULL);
}
