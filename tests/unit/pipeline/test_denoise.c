// SPDX-License-Identifier: Apache-2.0
/* The denoiser's network runs where there is noise, and clean planes come out unchanged. */
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
#include "pipeline/stages/noise_change.h"
#include "pipeline/stages/stage.h"

enum { WIDTH = 128, HEIGHT = 96 };

typedef struct fixture {
    named_model model;
    frame_format format;
    stage stage;
    void *frames_memory;
    frame in, out;
    atomic_ulong events; /* of operators that ran */
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

static void observe(fixture *f)
{
    const mona_op_observer observer = {no_time, count, &f->events};
    stage_model models[STAGE_MAX_MODELS];
    const unsigned models_bound = stage_row_of(STAGE_DENOISE)->models(f->stage.state, models);
    for (unsigned i = 0; i < models_bound; i++)
        if (models[i].bound->session)
            assert_int_equal(mona_session_observe_ops(models[i].bound->session, &observer),
                             MONA_OK);
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
    f->format.multiple = stage_row_of(STAGE_DENOISE)->multiple(&f->format);
    f->frames_memory = session_binding_allocate(2 * frame_bytes(&f->format));
    assert_non_null(f->frames_memory);
    frame_place(&f->in, &f->format, f->frames_memory);
    frame_place(&f->out, &f->format, (uint8_t *)f->frames_memory + frame_bytes(&f->format));
    if (!stage_open(&f->stage, STAGE_DENOISE, 0, &settings, f->format, 1, &error))
        fail_msg("%s", error.text);
    observe(f);
}

static void close_fixture(fixture *f)
{
    stage_close(&f->stage);
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
            uint8_t *row = frame_row(&f->in, plane, y);
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
    /* That the frame before was the same says nothing. */
    const stage_work work = {.in = &f->in, .out = &f->out, .beside = &f->in};
    assert_int_equal(stage_row_of(STAGE_DENOISE)->enqueue(&f->stage, &work), MONA_OK);
    assert_int_equal(mona_stream_synchronize(f->stage.stream), MONA_OK);
    return atomic_load(&f->events);
}

static bool is_unchanged(const fixture *f, unsigned plane)
{
    const mona_size size = frame_plane_size(&f->format, plane);
    for (uint32_t y = 0; y < size.height; y++)
        if (memcmp(frame_row(&f->in, plane, y), frame_row(&f->out, plane, y),
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

/* In 4:4:4, each plane is judged separately. */
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
    for (int strength = 0; strength <= 1; strength++) {
        open_fixture(&f, 1, 8, strength);
        fill_all(&f, 0, 0);
        assert_int_equal(runs_of(&f) > 0, strength);
        close_fixture(&f);
    }
}

/* ---- what noise is found --------------------------------------------------------------------- */

enum { COLUMNS = 640, ROWS = 360 };

typedef struct picture {
    float samples[ROWS][COLUMNS];
} picture;

/* The sum of twelve uniform numbers has a variance of 1. */
static float normal(uint32_t *random)
{
    int64_t sum = -6 * 0xffff;
    for (int k = 0; k < 12; k++)
        sum += (*random = *random * 1664525 + 1013904223) >> 16;
    return (float)sum / 0xffff;
}

static float below(uint32_t *random, float limit)
{
    *random = *random * 1664525 + 1013904223;
    return limit * (float)(*random >> 8) / (1 << 24);
}

static picture *new_picture(void)
{
    picture *p = calloc(1, sizeof *p);
    assert_non_null(p);
    return p;
}

static float bell(int x, float radius)
{
    return expf(-(float)(x * x) / (2 * radius * radius));
}

/* Noise made at 1/reduced of the size, then enlarged. */
static picture *enlarged_noise(int reduced)
{
    picture *p = new_picture();
    uint32_t random = 7;
    for (int y = 0; y < ROWS; y += reduced)
        for (int x = 0; x < COLUMNS; x += reduced) {
            const float one = normal(&random);
            for (int v = y - 2 * reduced; v <= y + 2 * reduced; v++)
                for (int h = x - 2 * reduced; h <= x + 2 * reduced; h++)
                    if (v >= 0 && h >= 0 && v < ROWS && h < COLUMNS)
                        p->samples[v][h] += one * bell(v - y, 0.5f * (float)reduced) *
                                            bell(h - x, 0.5f * (float)reduced);
        }
    return p;
}

static picture *blurred_noise(float radius)
{
    enum { REACH = 6 };
    picture *p = new_picture(), *sharp = new_picture();
    uint32_t random = 7;
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            sharp->samples[y][x] = normal(&random);
    for (int y = REACH; y < ROWS - REACH; y++)
        for (int x = REACH; x < COLUMNS - REACH; x++)
            for (int v = -REACH; v <= REACH; v++)
                for (int h = -REACH; h <= REACH; h++)
                    p->samples[y][x] +=
                        bell(v, radius) * bell(h, radius) * sharp->samples[y + v][x + h];
    free(sharp);
    return p;
}

static float rms(const picture *p)
{
    double squares = 0;
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            squares += (double)p->samples[y][x] * (double)p->samples[y][x];
    return sqrtf((float)(squares / (ROWS * COLUMNS)));
}

static float scene_at(uint32_t x, uint32_t y)
{
    const float disc = hypotf((float)x - 200, (float)y - 150) < 70 ? 25 : 0;
    return 100 + 0.06f * (float)x + 20 * sinf((float)y / 60) + disc;
}

/* The estimate for a scene with noise of this deviation; frees *made. */
static noise_level level_of_noise(picture *made, float sigma, unsigned bits, unsigned spacing)
{
    const unsigned more = bits - 8;
    uint8_t *plane = malloc((size_t)ROWS * COLUMNS * 2);
    noise_work *work = malloc(sizeof *work);
    const float unit = rms(made);
    assert_true(plane && work);
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++) {
            const float value = scene_at(x, y) + made->samples[y][x] / unit * sigma;
            const uint16_t sample = (uint16_t)(fmaxf(value, 0) * (float)(1 << more) + 0.5f);
            memcpy(plane + (y * COLUMNS + x) * (more ? 2 : 1), &sample, more ? 2 : 1);
        }
    const noise_level found =
        noise_measure(work, plane, COLUMNS * (more ? 2 : 1), COLUMNS, ROWS, bits, spacing, false);
    free(made);
    free(plane);
    free(work);
    return found;
}

static void assert_found(noise_level found, float sigma, float least, float most)
{
    if (fabsf(found.sigma - sigma) > 0.2f * sigma)
        fail_msg("expected noise of %.1f, found %.1f", (double)sigma, (double)found.sigma);
    if (found.strength < least || found.strength > most)
        fail_msg("expected a strength of %.1f to %.1f, found %.1f", (double)least, (double)most,
                 (double)found.strength);
}

static void coarse_noise_is_found(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 12; bits += 2) {
        assert_found(level_of_noise(blurred_noise(0.3f), 8, bits, 1), 8, 7.5f, 9);
        assert_found(level_of_noise(blurred_noise(0.6f), 8, bits, 1), 8, 7.5f, 10);
        assert_found(level_of_noise(blurred_noise(1), 10, bits, 1), 10, 8, 12);
        assert_found(level_of_noise(enlarged_noise(2), 10, bits, 1), 10, 8, 12);
        assert_found(level_of_noise(blurred_noise(1.7f), 20, bits, 1), 20, 16, 26);
    }
}

/* After a stage that doubles the size, fine noise is found in every second sample. */
static void enlarged_noise_is_what_it_was(void **unused)
{
    (void)unused;
    assert_found(level_of_noise(enlarged_noise(2), 8, 8, 2), 8, 6, 11);
}

/* Blocks through which a black border runs have less noise, but say nothing about the rest. */
static void borders_hide_no_noise(void **unused)
{
    (void)unused;
    picture *noise = blurred_noise(0.3f);
    const float unit = 8 / rms(noise);
    for (int i = 0; i < 8; i++) {
        const int border = i & 1 ? 30 : 44;
        picture *made = new_picture();
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) {
                const int at = i & 2 ? x : y, end = i & 2 ? COLUMNS : ROWS;
                const bool black = at < border || at >= end - border;
                made->samples[y][x] =
                    black ? 16 - scene_at((uint32_t)x, (uint32_t)y) : unit * noise->samples[y][x];
            }
        assert_found(level_of_noise(made, rms(made), i & 4 ? 10 : 8, 1), 8, 7, 9);
    }
    free(noise);
}

/* Strokes like grass, and pebbles. */
static picture *texture(bool grass)
{
    picture *p = new_picture();
    uint32_t random = 3;
    for (int i = 0; i < (grass ? 9000 : 6000); i++) {
        const float x = below(&random, COLUMNS), y = below(&random, ROWS);
        const float light = normal(&random), lean = normal(&random) / 3,
                    size = 2 + fabsf(normal(&random)) * 3;
        for (int v = grass ? -14 : -(int)size; v <= (grass ? 14 : (int)size); v++)
            for (int h = grass ? 0 : -(int)size; h <= (grass ? 1 : (int)size); h++) {
                const int at_x = (int)(x + (float)h + (grass ? lean * (float)v : 0)),
                          at_y = (int)y + v;
                if (at_x >= 0 && at_y >= 0 && at_x < COLUMNS && at_y < ROWS &&
                    (grass || h * h + v * v <= size * size))
                    p->samples[at_y][at_x] = light * (1 - (float)(h * h) / (size * size + 1));
            }
    }
    return p;
}

/* The same noise alone, and over pebbles in all but the left sixth: what they add to the estimate
 * is not to be removed. */
static void texture_raises_no_strength(void **unused)
{
    (void)unused;
    picture *noise = blurred_noise(1), *made = texture(false);
    const float unit = 10 / rms(noise);
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            made->samples[y][x] =
                unit * noise->samples[y][x] + (x < COLUMNS / 6 ? 0 : 30 * made->samples[y][x]);
    const float alone = level_of_noise(noise, 10, 8, 1).strength;
    const float over = level_of_noise(made, rms(made), 8, 1).strength;
    if (alone < 8 || over < 8 || over > 10.5f)
        fail_msg("a strength of %.1f, over texture %.1f", (double)alone, (double)over);
}

static picture *knit(void)
{
    picture *p = new_picture();
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) {
            const float row = (float)y / 3, lean = 2 * fabsf(sinf((float)x * 0.26f));
            p->samples[y][x] = sinf(row + lean) + 0.5f * cosf((float)x * 0.52f);
        }
    return p;
}

static void texture_is_no_noise(void **unused)
{
    (void)unused;
    picture *made[] = {texture(true), texture(false), knit()};
    for (int i = 0; i < 3; i++) {
        const noise_level found = level_of_noise(made[i], 20, 8, 1);
        if (found.strength > 0)
            fail_msg("texture %d is taken for noise of %.1f, strength %.1f", i, (double)found.sigma,
                     (double)found.strength);
    }
}

/* Room for a frame of grey, to be freed at data[0]. */
static frame new_grey(void)
{
    const frame_format format = {
        .width = COLUMNS, .height = ROWS, .planes = 1, .bits = 8, .multiple = 1};
    frame f = {.format = format, .stride = {COLUMNS}};
    f.data[0] = malloc((size_t)ROWS * COLUMNS);
    assert_non_null(f.data[0]);
    return f;
}

/* A frame of grey with this grain, whose standard deviation is sigma; right: how far to the
 * right. */
static frame grained(const picture *made, float sigma, uint32_t right)
{
    const float unit = rms(made) / sigma;
    const frame f = new_grey();
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            f.data[0][y * COLUMNS + x] =
                (uint8_t)(128.5f + made->samples[y][(x + COLUMNS - right) % COLUMNS] / unit);
    return f;
}

/* As if there had been a cut. */
static void draw_squares(const frame *f)
{
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            f->data[0][y * COLUMNS + x] -= (x / 8 + y / 8) % 2 * 60;
}

/* As light fades or flashes. */
static void darken(const frame *f)
{
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        f->data[0][i] -= 40;
}

/* What looks like coarse noise is texture if it was in the frame before, elsewhere. */
static void texture_that_moves_is_no_noise(void **unused)
{
    (void)unused;
    noise_work *work = malloc(sizeof *work);
    picture *made = blurred_noise(1.7f), *other = enlarged_noise(4);
    const frame now = grained(made, 20, 0), moved = grained(made, 20, 5),
                unlike = grained(other, 20, 0);
    assert_non_null(work);
    draw_squares(&unlike);
    const noise_level found = noise_measure(work, now.data[0], COLUMNS, COLUMNS, ROWS, 8, 1, false);
    assert_true(found.strength > 10);
    assert_true(noise_change(work, found, &now, &moved).strength == 0);
    darken(&moved);
    assert_true(noise_change(work, found, &now, &moved).strength == 0);
    assert_true(noise_change(work, found, &now, &unlike).strength == found.strength);
    /* A frame that is repeated says nothing. */
    assert_true(noise_change(work, found, &now, &now).strength == found.strength);
    free(now.data[0]);
    free(moved.data[0]);
    free(unlike.data[0]);
    free(made);
    free(other);
    free(work);
}

/* Without a frame before, coarse noise of film counts about as much as with one. */
static void first_frames_are_told_like_others(void **unused)
{
    (void)unused;
    noise_work *work = malloc(sizeof *work);
    assert_non_null(work);
    for (int i = 0; i < 2; i++) {
        picture *made = i ? enlarged_noise(2) : blurred_noise(0.6f);
        const frame now = grained(made, 5, 0), before = grained(made, 5, COLUMNS / 2);
        const noise_level found =
            noise_measure(work, now.data[0], COLUMNS, COLUMNS, ROWS, 8, 1, false);
        const float first = noise_change(work, found, &now, NULL).strength;
        const float other = noise_change(work, found, &now, &before).strength;
        if (first < 0.9f * other || first > 1.5f * other)
            fail_msg("a strength of %.1f, of the first frame %.1f", (double)other, (double)first);
        free(now.data[0]);
        free(before.data[0]);
        free(made);
    }
    free(work);
}

/* As a sensor has it: noise of 4 in the dark quarter at the top, of 8 in the rest. */
static frame uneven(uint32_t seed)
{
    const frame f = new_grey();
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            f.data[0][y * COLUMNS + x] =
                (uint8_t)(y < ROWS / 4 ? 60.5f + 4 * normal(&seed) : 160.5f + 8 * normal(&seed));
    return f;
}

static void noise_counts_where_it_is_strongest(void **unused)
{
    (void)unused;
    noise_work *work = malloc(sizeof *work);
    const frame now = uneven(1), before = uneven(2);
    assert_non_null(work);
    const noise_level found = noise_measure(work, now.data[0], COLUMNS, COLUMNS, ROWS, 8, 1, false);
    assert_true(found.strength < 5);
    const noise_level changed = noise_change(work, found, &now, &before);
    assert_true(changed.strength > 5.5f && changed.strength < 12);
    assert_true(changed.sigma > 6 && changed.sigma < 8);
    free(now.data[0]);
    free(before.data[0]);
    free(work);
}

/* As coding leaves noise of 3: not in a third of the blocks. */
static frame coded(uint32_t seed)
{
    const frame f = new_grey();
    for (uint32_t y = 0; y < ROWS; y++)
        for (uint32_t x = 0; x < COLUMNS; x++)
            f.data[0][y * COLUMNS + x] =
                (uint8_t)(128.5f + (x / NOISE_BLOCK % 3 ? 3 * normal(&seed) : 0));
    return f;
}

static void coded_noise_is_found_where_it_was_left(void **unused)
{
    (void)unused;
    noise_work *work = malloc(sizeof *work);
    const frame now = coded(1), before = coded(2), unlike = coded(3);
    assert_non_null(work);
    draw_squares(&unlike);
    const noise_level found = noise_measure(work, now.data[0], COLUMNS, COLUMNS, ROWS, 8, 1, false);
    assert_true(found.strength < 1);
    for (int dark = 0; dark < 2; dark++) {
        const float strength = noise_change(work, found, &now, &before).strength;
        assert_true(strength > 2 && strength < 4);
        darken(&before);
    }
    assert_true(noise_change(work, found, &now, &unlike).strength == found.strength); /* a cut */
    assert_true(noise_change(work, found, &now, &now).strength == found.strength);
    free(now.data[0]);
    free(before.data[0]);
    free(unlike.data[0]);
    free(work);
}

static void large_planes_are_sampled(void **unused)
{
    (void)unused;
    enum { WIDE = 1280, HIGH = 720 };
    uint8_t *plane = malloc(WIDE * HIGH);
    noise_work *work = malloc(sizeof *work);
    uint32_t random = 1;
    assert_true(plane && work);
    for (int sigma = 2; sigma <= 18; sigma += 8) {
        for (uint32_t i = 0; i < WIDE * HIGH; i++)
            plane[i] = (uint8_t)(128.5f + normal(&random) * (float)sigma);
        const noise_level found = noise_measure(work, plane, WIDE, WIDE, HIGH, 8, 1, false);
        assert_in_range(work->count, 500, 2048);
        assert_true(fabsf(found.sigma - (float)sigma) < 0.05f * (float)sigma);
        assert_true(found.strength == found.sigma);
    }
    free(plane);
    free(work);
}

/* Luma stays unchanged. */
static void chroma_alone_is_denoised(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 10; bits += 2) {
        fixture f;
        open_fixture(&f, 1, bits, -1);
        fill_all(&f, 0, 20);
        assert_true(runs_of(&f) > 0);
        assert_true(is_unchanged(&f, 0));
        assert_false(is_unchanged(&f, 1) || is_unchanged(&f, 2));
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clean_frames_need_no_network),
        cmocka_unit_test(clean_planes_need_no_network),
        cmocka_unit_test(chroma_alone_is_denoised),
        cmocka_unit_test(coded_noise_is_found_where_it_was_left),
        cmocka_unit_test(large_planes_are_sampled),
        cmocka_unit_test(coarse_noise_is_found),
        cmocka_unit_test(enlarged_noise_is_what_it_was),
        cmocka_unit_test(borders_hide_no_noise),
        cmocka_unit_test(texture_is_no_noise),
        cmocka_unit_test(texture_raises_no_strength),
        cmocka_unit_test(texture_that_moves_is_no_noise),
        cmocka_unit_test(first_frames_are_told_like_others),
        cmocka_unit_test(noise_counts_where_it_is_strongest),
        cmocka_unit_test(a_strength_is_obeyed),
    };
    return cmocka_run_group_tests_name("denoise", tests, NULL, NULL);
}
