// SPDX-License-Identifier: Apache-2.0
/* Results are mixed with the frame before where the picture stands still, and nowhere else, by the
 * formulas of temporal.h and motion_mask.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/temporal.h"

enum { WIDTH = 150, HEIGHT = 98, SIGMA = 20 };

typedef struct pictures {
    frame now, previous, made;
    uint8_t *memory[3];
    temporal_work work;
    uint32_t random;
} pictures;

static void place(frame *f, uint8_t **memory, const frame_format *format)
{
    *memory = session_binding_allocate(frame_bytes(format));
    assert_non_null(*memory);
    frame_place(f, format, *memory);
}

static pictures open_pictures(unsigned bits)
{
    const frame_format format = {.width = WIDTH,
                                 .height = HEIGHT,
                                 .planes = 3,
                                 .shift_x = 1,
                                 .shift_y = 1,
                                 .bits = bits,
                                 .multiple = 2};
    pictures p = {.random = 1};
    place(&p.now, &p.memory[0], &format);
    place(&p.previous, &p.memory[1], &format);
    place(&p.made, &p.memory[2], &format);
    p.work.blocks = malloc(motion_mask_blocks(&format) * sizeof *p.work.blocks);
    p.work.light = malloc(temporal_lights(&format) * sizeof *p.work.light);
    assert_non_null(p.work.light);
    p.work.vectors = calloc(motion_mask_blocks(&format), sizeof *p.work.vectors);
    assert_non_null(p.work.blocks);
    assert_non_null(p.work.vectors);
    return p;
}

static void close_pictures(pictures *p)
{
    for (int i = 0; i < 3; i++)
        free(p->memory[i]);
    free(p->work.blocks);
    free(p->work.light);
    free(p->work.vectors);
}

static uint32_t next_random(pictures *p)
{
    return (p->random = p->random * 1664525 + 1013904223) >> 8;
}

/* Approximately normal, with this standard deviation: the sum of twelve uniform numbers has a
 * variance of 1. */
static int noise(pictures *p, int sigma)
{
    int64_t sum = 0;
    for (int i = 0; i < 12; i++)
        sum += next_random(p) & 0xffff;
    return (int)((sum - 6 * 0xffff) * sigma / 0xffff);
}

static void set(const frame *f, unsigned plane, uint32_t x, uint32_t y, int value)
{
    frame_set_samples(frame_row(f, plane, y) + x * frame_sample_bytes(&f->format), &f->format,
                      (unsigned)value, 1);
}

/* Fills all planes with the same values; chroma gets those at the same columns and rows. */
static void fill(pictures *p, const frame *f, int (*value)(uint32_t x, uint32_t y), int sigma)
{
    const int step = 1 << (f->format.bits - 8);
    for (unsigned plane = 0; plane < 3; plane++) {
        const mona_size size = frame_plane_size(&f->format, plane);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++)
                set(f, plane, x, y, step * value(x, y) + noise(p, step * sigma));
    }
}

/* Every sample of the frame before is BEFORE. Every second new one is MADE, and the others are as
 * much above it, so that light does not change. */
enum { MADE = 100, BEFORE = 104 };

static int made_at(uint32_t x, uint32_t y)
{
    return (x + y) % 2 ? 2 * BEFORE - MADE : MADE;
}

/* The result for MADE: temporal.h, rounded to the nearest. */
static int steadied(unsigned bits)
{
    const double step = 1 << (bits - 8), d = (BEFORE - MADE) * step, limit = (SIGMA + 4) * step;
    const double g = 0.8 * (1 - 1.0 / SIGMA);
    return (int)(MADE * step + g * d * (1 - d * d / (limit * limit)) + 0.5);
}

static int sample(const frame *f, unsigned plane, uint32_t x, uint32_t y)
{
    const uint8_t *row = frame_row(f, plane, y);
    return f->format.bits > 8 ? row[2 * x] | row[2 * x + 1] << 8 : row[x];
}

/* Checks that columns [from, to) of a plane of the result have become `value` where MADE was, and
 * as much above BEFORE elsewhere. */
static void check_columns(const pictures *p, unsigned plane, uint32_t from, uint32_t to, int value)
{
    for (uint32_t y = 0; y < frame_plane_size(&p->made.format, plane).height; y++)
        for (uint32_t x = from; x < to; x++)
            assert_int_equal(
                sample(&p->made, plane, x, y),
                made_at(x, y) == MADE ? value : (2 * BEFORE << (p->made.format.bits - 8)) - value);
}

static int before_at(uint32_t x, uint32_t y)
{
    (void)x, (void)y;
    return BEFORE;
}

/* The noise is in the luma of `now`; the planes to be steadied are flat, so that they can be
 * compared exactly. */
static void run(pictures *p, int (*now)(uint32_t x, uint32_t y), unsigned planes)
{
    fill(p, &p->now, now, SIGMA);
    fill(p, &p->previous, before_at, 0);
    fill(p, &p->made, made_at, 0);
    temporal_filter(&p->made, &p->now, &p->previous, planes,
                    (unsigned)SIGMA << (p->now.format.bits - 8), 1, TEMPORAL_CODING, &p->work);
}

static void steady_in_noise(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 10; bits += 2) {
        pictures p = open_pictures(bits);
        const int value = steadied(bits), untouched = MADE << (bits - 8);
        assert_true(value > untouched);
        run(&p, before_at, 3);
        for (unsigned plane = 0; plane < 3; plane++)
            check_columns(&p, plane, 0, plane ? WIDTH / 2 : WIDTH, value);
        run(&p, before_at, 1);
        check_columns(&p, 0, 0, WIDTH, value);
        check_columns(&p, 2, 0, WIDTH / 2, untouched);
        close_pictures(&p);
    }
}

/* Neighbours are as much above BEFORE as below it, each pair by a step more. */
static int pairs_apart(uint32_t x, uint32_t y)
{
    (void)y;
    return BEFORE + (x % 2 ? 1 : -1) * (int)(x / 2);
}

/* The formula of temporal.h in whole numbers. */
static int64_t step_of(int64_t d, int64_t sigma, int64_t one)
{
    const int64_t limit = sigma + 4 * one, square = limit * limit, whole = 10 * sigma * square;
    return d >= limit ? 0 : (2 * 8 * (sigma - one) * d * (square - d * d) + whole) / (2 * whole);
}

static void steps_are_rounded_exactly(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 12; bits += 2) {
        pictures p = open_pictures(bits);
        const int one = 1 << (bits - 8);
        fill(&p, &p.now, before_at, 0);
        fill(&p, &p.previous, before_at, 0);
        for (int sigma = one + 1; sigma <= 50 * one; sigma += bits == 12 ? 7 : 1) {
            fill(&p, &p.made, pairs_apart, 0);
            temporal_filter(&p.made, &p.now, &p.previous, 1, (unsigned)sigma, 1, TEMPORAL_CODING,
                            &p.work);
            for (uint32_t x = 0; x < WIDTH; x++) {
                const int64_t step = step_of((int64_t)(x / 2) * one, sigma, one);
                assert_int_equal(sample(&p.made, 0, x, 50),
                                 pairs_apart(x, 50) * one + (x % 2 ? -step : step));
            }
        }
        close_pictures(&p);
    }
}

/* On the right there are squares of 8x8 samples that were not there before. */
static int squares_on_the_right(uint32_t x, uint32_t y)
{
    return x < 80 ? BEFORE : (x / 8 + y / 8) % 2 ? BEFORE + 25 : BEFORE - 25;
}

/* 5x5 blocks reach 16 samples to either side of the middle one. */
static void not_where_it_moves(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 10; bits += 2) {
        pictures p = open_pictures(bits);
        run(&p, squares_on_the_right, 3);
        check_columns(&p, 0, 0, 64, steadied(bits));
        check_columns(&p, 0, 80, WIDTH, MADE << (bits - 8));
        check_columns(&p, 1, 0, 32, steadied(bits));
        check_columns(&p, 2, 40, WIDTH / 2, MADE << (bits - 8));
        close_pictures(&p);
    }
}

static int far_in_one_sample(uint32_t x, uint32_t y)
{
    return x == 40 && y == 40 ? MADE + SIGMA + 4 : BEFORE;
}

/* A sample that differs by L or more stays as it was made, among others that do not. */
static void not_what_differs_by_much(void **state)
{
    (void)state;
    pictures p = open_pictures(8);
    fill(&p, &p.now, before_at, SIGMA);
    fill(&p, &p.previous, far_in_one_sample, 0);
    fill(&p, &p.made, made_at, 0);
    temporal_filter(&p.made, &p.now, &p.previous, 3, SIGMA, 1, TEMPORAL_CODING, &p.work);
    assert_int_equal(sample(&p.made, 0, 40, 40), MADE);
    assert_int_equal(sample(&p.made, 0, 42, 40), steadied(8));
    close_pictures(&p);
}

enum { LIGHTER = 6 };

static int lighter_at(uint32_t x, uint32_t y)
{
    return made_at(x, y) + LIGHTER;
}

static int even_at(uint32_t x, uint32_t y)
{
    (void)x, (void)y;
    return BEFORE + LIGHTER;
}

/* The mean follows the light, by what is beyond chance, while samples are steadied around it. */
static void light_that_changes(void **state)
{
    (void)state;
    pictures p = open_pictures(8);
    fill(&p, &p.now, before_at, SIGMA);
    fill(&p, &p.previous, before_at, 0);
    fill(&p, &p.made, lighter_at, 0);
    temporal_filter(&p.made, &p.now, &p.previous, 3, SIGMA, 1, TEMPORAL_CODING, &p.work);
    double sum = 0;
    for (uint32_t y = 40; y < 48; y++)
        for (uint32_t x = 40; x < 48; x++) {
            sum += sample(&p.made, 0, x, y);
            assert_in_range(abs(sample(&p.made, 0, x, y) - BEFORE - LIGHTER), 0, 2);
        }
    assert_true(fabs(sum / 64 - BEFORE - LIGHTER) < 0.5);
    close_pictures(&p);
}

static int a_step_apart(uint32_t x, uint32_t y)
{
    return BEFORE + ((x + y) % 2 ? 1 : -1);
}

static int a_step_lighter(uint32_t x, uint32_t y)
{
    return BEFORE + ((x + y) % 2 ? 1 : 0);
}

/* Two thirds of it one way. */
static int mostly_lighter(uint32_t x, uint32_t y)
{
    return BEFORE + ((x + y) % 6 ? 1 : -1);
}

/* Of coded film, slow change alone is not delayed; what goes both ways, or comes beside a sample
 * that flickers, is steadied, as all is in noise. */
static void light_goes_one_way(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 10; bits += 2) {
        pictures p = open_pictures(bits);
        const int one = 1 << (bits - 8);
        const unsigned sigma = (unsigned)(SIGMA * one);
        fill(&p, &p.now, before_at, SIGMA);
        fill(&p, &p.previous, before_at, 0);
        fill(&p, &p.made, a_step_lighter, 0);
        set(&p.made, 0, 88, 40, (BEFORE + 5) * one);
        temporal_filter(&p.made, &p.now, &p.previous, 3, sigma, 1, TEMPORAL_CODING, &p.work);
        assert_int_equal(sample(&p.made, 0, 21, 40), (BEFORE + 1) * one);
        assert_in_range(sample(&p.made, 0, 81, 40), BEFORE * one, (BEFORE + 1) * one - 1);
        fill(&p, &p.made, even_at, 0);
        temporal_filter(&p.made, &p.now, &p.previous, 3, sigma, 1, TEMPORAL_CODING, &p.work);
        assert_int_equal(sample(&p.made, 0, 21, 40), (BEFORE + LIGHTER) * one);
        fill(&p, &p.made, mostly_lighter, 0);
        temporal_filter(&p.made, &p.now, &p.previous, 3, sigma, 1, TEMPORAL_CODING, &p.work);
        assert_int_equal(sample(&p.made, 0, 20, 40), (BEFORE - 1) * one);
        fill(&p, &p.made, a_step_apart, 0);
        temporal_filter(&p.made, &p.now, &p.previous, 3, sigma, 1, TEMPORAL_CODING, &p.work);
        assert_in_range(sample(&p.made, 0, 20, 40), (BEFORE - 1) * one + 1, BEFORE * one);
        fill(&p, &p.made, a_step_lighter, 0);
        temporal_filter(&p.made, &p.now, &p.previous, 3, sigma, 1, TEMPORAL_NOISE, &p.work);
        assert_in_range(sample(&p.made, 0, 21, 40), BEFORE * one, (BEFORE + 1) * one - 1);
        close_pictures(&p);
    }
}

static void clean_frames_stay(void **state)
{
    (void)state;
    pictures p = open_pictures(8);
    fill(&p, &p.now, before_at, 0);
    fill(&p, &p.previous, before_at, 0);
    fill(&p, &p.made, made_at, 0);
    temporal_filter(&p.made, &p.now, &p.previous, 3, 0, 1, TEMPORAL_NOISE, &p.work);
    check_columns(&p, 0, 0, WIDTH, MADE);
    close_pictures(&p);
}

/* A pattern of waves at (x, y), in eighths of a sample; smooth enough to be interpolated. */
static double waves(double x, double y)
{
    x /= 8, y /= 8;
    return 128 + 35 * sin(x / 5.3 + sin(y / 9)) + 25 * cos(y / 6.1 + sin(x / 11)) +
           20 * sin((x + 2 * y) / 17);
}

enum { MOVED_X = 8 * 5 + 2, MOVED_Y = -8 * 3 - 4 }; /* eighths; quarters in all, halves in luma */

static int where_it_was(uint32_t x, uint32_t y)
{
    return (int)lrint(waves(8.0 * x, 8.0 * y));
}

static int where_it_is(uint32_t x, uint32_t y)
{
    return (int)lrint(waves(8.0 * x + MOVED_X, 8.0 * y + MOVED_Y));
}

static double squared_error(const pictures *p, const frame *f, unsigned plane)
{
    double sum = 0;
    const int one = 1 << (f->format.bits - 8);
    for (uint32_t y = 16; y + 16 < HEIGHT; y++)
        for (uint32_t x = 16; x + 16 < WIDTH; x++) {
            const double d = (double)sample(f, plane, x, y) / one - where_it_is(x, y);
            sum += d * d / ((WIDTH - 32) * (HEIGHT - 32));
        }
    (void)p;
    return sum;
}

/* The frame before is exact and everything has moved: noise that a result still has is averaged
 * with what has none. g = 0.6 (1 - 1 / 20) leaves at least 0.43^2 of its variance. */
static void steady_where_it_moves(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 10; bits += 2) {
        pictures p = open_pictures(bits);
        fill(&p, &p.now, where_it_is, SIGMA);
        fill(&p, &p.previous, where_it_was, 0);
        fill(&p, &p.made, where_it_is, SIGMA / 4);
        const double before = squared_error(&p, &p.made, 0);
        const unsigned sigma = (unsigned)SIGMA << (bits - 8);
        temporal_filter(&p.made, &p.now, &p.previous, 1, sigma, 1, TEMPORAL_CODING, &p.work);
        assert_true(squared_error(&p, &p.made, 0) > 0.95 * before);
        temporal_filter(&p.made, &p.now, &p.previous, 1, sigma, 1, TEMPORAL_NOISE, &p.work);
        assert_true(squared_error(&p, &p.made, 0) < 0.35 * before);
        close_pictures(&p);
    }
}

/* What is fetched for a vector of quarters is the cubic by its formula, rounded. */
static double cubic(double t)
{
    t = fabs(t);
    return t <= 1   ? 1.5 * t * t * t - 2.5 * t * t + 1
           : t <= 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2
                    : 0;
}

static void motion_is_found(void **state)
{
    (void)state;
    for (unsigned bits = 8; bits <= 10; bits += 2) {
        pictures p = open_pictures(bits);
        fill(&p, &p.now, where_it_is, 0);
        fill(&p, &p.previous, where_it_was, 0);
        motion_window window;
        motion_difference difference;
        const uint32_t across = (WIDTH + 7) / 8;
        assert_true(motion_search(p.work.vectors, across, 8, 6, &p.now, &p.previous, &difference));
        const motion_vector found = p.work.vectors[6 * across + 8];
        assert_true(difference.moved * 8 < difference.unmoved);
        motion_fetch_luma(&p.previous, 8, 6, found, &window);
        assert_int_equal(found.x, MOVED_X / 2);
        assert_int_equal(found.y, MOVED_Y / 2);
        for (int y = 0; y < MOTION_WINDOW; y++)
            for (int x = 0; x < MOTION_WINDOW; x++) {
                const double from_x = 60 + x + found.x / 4.0, from_y = 44 + y + found.y / 4.0;
                double sum = 0;
                for (int v = (int)floor(from_y) - 1; v <= floor(from_y) + 2; v++)
                    for (int u = (int)floor(from_x) - 1; u <= floor(from_x) + 2; u++)
                        sum += cubic(from_x - u) * cubic(from_y - v) *
                               sample(&p.previous, 0, (uint32_t)u, (uint32_t)v);
                assert_true(fabs(window.luma[y][x] - sum) <= 0.5 + (1 << (bits - 8)));
            }
        close_pictures(&p);
    }
}

/* Without noise, light may change by 2 steps; noise that was enlarged twice has 4 times the
 * variance of sums. */
static void limits_are_those_of_the_formula(void **state)
{
    (void)state;
    pictures p = open_pictures(8);
    fill(&p, &p.now, even_at, 0);
    fill(&p, &p.previous, before_at, 0);
    const mona_size count = motion_mask_measure(p.work.blocks, &p.now, &p.previous);
    const frame_format *format = &p.now.format;
    assert_int_equal(count.width * count.height, motion_mask_blocks(format));
    assert_int_equal(motion_mask_limit(format, 0, 1), 1024);
    assert_int_equal(motion_mask_limit(format, 10, 1), 4000 + 1024);
    assert_int_equal(motion_mask_limit(format, 10, 2), 16000 + 1024);
    assert_int_equal(motion_mask_limit(format, 10, 8), 64000 + 1024);
    const uint64_t square = 16 * LIGHTER * 16 * LIGHTER; /* of all sums */
    assert_true(motion_mask_is_still(p.work.blocks, count, 3, 3, square));
    assert_false(motion_mask_is_still(p.work.blocks, count, 3, 3, square - 1));
    assert_true(
        motion_mask_is_still(p.work.blocks, count, count.width - 1, count.height - 1, square));
    close_pictures(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_in_noise),    cmocka_unit_test(steps_are_rounded_exactly),
        cmocka_unit_test(not_where_it_moves), cmocka_unit_test(not_what_differs_by_much),
        cmocka_unit_test(light_that_changes), cmocka_unit_test(light_goes_one_way),
        cmocka_unit_test(clean_frames_stay),  cmocka_unit_test(steady_where_it_moves),
        cmocka_unit_test(motion_is_found),    cmocka_unit_test(limits_are_those_of_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
