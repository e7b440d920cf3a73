// SPDX-License-Identifier: Apache-2.0
/* The rectangles contain everything that differs between two planes, and not much else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/stages/changes.h"
#include "pipeline/stages/session_binding.h"
#include "tests/unit/sr_net.h"

enum { WIDTH = 202, HEIGHT = 150 };

typedef struct pair {
    frame_format format;
    uint8_t *memory[2];
    plane_change change;
} pair;

static pair open_pair(unsigned bits)
{
    pair p = {.format = {.width = WIDTH,
                         .height = HEIGHT,
                         .planes = 3,
                         .shift_x = 1,
                         .shift_y = 1,
                         .bits = bits,
                         .multiple = 2}};
    frame *const frames[] = {&p.change.before, &p.change.in};
    for (int i = 0; i < 2; i++) {
        p.memory[i] = session_binding_allocate(frame_bytes(&p.format));
        assert_non_null(p.memory[i]);
        frame_place(frames[i], &p.format, p.memory[i]);
    }
    /* After the samples of each row there are bytes that nobody has written; they must not
     * count. */
    memset(p.memory[0], 0x11, frame_bytes(&p.format));
    memset(p.memory[1], 0x22, frame_bytes(&p.format));
    for (unsigned plane = 0; plane < 3; plane++)
        for (uint32_t y = 0; y < frame_plane_size(&p.format, plane).height; y++)
            for (int i = 0; i < 2; i++)
                frame_set_samples(frame_row(frames[i], plane, y), &p.format, 100,
                                  frame_plane_size(&p.format, plane).width);
    p.change.rects = malloc(changes_most(frame_plane_size(&p.format, 0)) * sizeof *p.change.rects);
    return p;
}

static void close_pair(pair *p)
{
    free(p->memory[0]), free(p->memory[1]), free(p->change.rects);
}

/* Changes one of the bytes of a sample with more than 8 bits. */
static void change_sample(pair *p, uint32_t x, uint32_t y, unsigned byte)
{
    const size_t sample = frame_sample_bytes(&p->format);
    const unsigned plane = p->change.plane;
    p->change.in
        .data[plane][(ptrdiff_t)y * p->change.in.stride[plane] + x * sample + byte % sample] ^= 1;
}

static bool is_held(const pair *p, uint32_t x, uint32_t y)
{
    const mona_change *c = &p->change.change;
    for (size_t i = 0; i < c->count; i++)
        if (x - c->rects[i].x < c->rects[i].width && y - c->rects[i].y < c->rects[i].height)
            return true;
    return false;
}

static uint64_t found_area(const pair *p)
{
    const mona_size size = frame_plane_size(&p->format, p->change.plane);
    uint64_t area = 0;
    for (size_t i = 0; i < p->change.change.count; i++) {
        const mona_rect *r = &p->change.change.rects[i];
        assert_true(r->width && r->x + r->width <= size.width);
        assert_true(r->height && r->y + r->height <= size.height);
        assert_int_equal(r->input, 0);
        area += (uint64_t)r->width * r->height;
    }
    return area;
}

static const unsigned depths[] = {8, 10};

static void nothing_where_nothing_differs(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        pair p = open_pair(depths[d]);
        for (p.change.plane = 0; p.change.plane < 3; p.change.plane++) {
            changes_find(&p.change);
            assert_int_equal(p.change.change.count, 0);
            assert_ptr_equal(p.change.change.previous, &p.change.previous);
        }
        close_pair(&p);
    }
}

static void a_sample_where_one_differs(void **state)
{
    (void)state;
    static const uint32_t places[][2] = {{0, 0}, {31, 15}, {32, 16}, {70, 70}, {100, 74}};
    for (int d = 0; d < 2; d++)
        for (unsigned i = 0; i < 10; i++) {
            pair p = open_pair(depths[d]);
            p.change.plane = i % 2;
            const uint32_t x = places[i / 2][0], y = places[i / 2][1];
            change_sample(&p, x, y, i);
            changes_find(&p.change);
            assert_int_equal(p.change.change.count, 1);
            assert_int_equal(found_area(&p), 1);
            assert_true(is_held(&p, x, y));
            close_pair(&p);
        }
}

/* Spots of random samples, from a few to so many that they cover nearly everything. */
static void all_that_differs(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (uint32_t n = 0; n < 60; n++) {
        pair p = open_pair(depths[n % 2]);
        p.change.plane = n % 3;
        const mona_size size = frame_plane_size(&p.format, p.change.plane);
        static bool differs[HEIGHT][WIDTH];
        memset(differs, 0, sizeof differs);
        for (uint32_t spot = 0; spot < n; spot++) {
            const uint32_t x = test_random(&seed) % size.width,
                           y = test_random(&seed) % size.height;
            for (uint32_t k = 0; k < 40; k++) {
                const uint32_t i = x + test_random(&seed) % 12, j = y + test_random(&seed) % 12;
                if (i < size.width && j < size.height && !differs[j][i]) {
                    differs[j][i] = true;
                    change_sample(&p, i, j, k);
                }
            }
        }
        changes_find(&p.change);
        assert_true(p.change.change.count <= changes_most(size));
        assert_true(found_area(&p) <= (uint64_t)n * 12 * 12 * 2 || p.change.change.count == 1);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++)
                assert_true(!differs[y][x] || is_held(&p, x, y));
        close_pair(&p);
    }
}

static void the_whole_plane_where_most_differs(void **state)
{
    (void)state;
    pair p = open_pair(8);
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = y % 3; x < WIDTH; x += 3)
            change_sample(&p, x, y, 0);
    changes_find(&p.change);
    assert_int_equal(p.change.change.count, 1);
    assert_int_equal(found_area(&p), WIDTH * HEIGHT);
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_where_nothing_differs),
        cmocka_unit_test(a_sample_where_one_differs),
        cmocka_unit_test(all_that_differs),
        cmocka_unit_test(the_whole_plane_where_most_differs),
    };
    return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
