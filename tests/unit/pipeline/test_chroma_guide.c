// SPDX-License-Identifier: Apache-2.0
/* Chroma that luma guides: sharper where it follows luma, and never a colour that was not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/stages/chroma_guide.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/vector.h"
#include "tests/unit/held_frame.h"

enum { WIDTH = 88, HEIGHT = 40 };

/* A frame before and after it is enlarged, with its guide. */
typedef struct scene {
    held in, out;
    chroma_guide guide;
    unsigned scale, bits;
} scene;

static uint8_t *at(const frame *f, unsigned plane, uint32_t y)
{
    return frame_row(f, plane, y);
}

static int get(const frame *f, unsigned plane, uint32_t x, uint32_t y)
{
    return plane_sample(at(f, plane, y), x, f->format.bits > 8);
}

static void put(const frame *f, unsigned plane, uint32_t x, uint32_t y, int value)
{
    put_plane_sample(at(f, plane, y), x, value, f->format.bits > 8);
}

/* Left of a slanted edge, and right of it. luma, chroma: the two values of each. */
static void draw(const frame *f, unsigned scale, const int luma[2], const int chroma[2])
{
    const unsigned more = f->format.bits - 8;
    for (unsigned p = 0; p < 3; p++) {
        const mona_size size = frame_plane_size(&f->format, p);
        const unsigned across = p ? 2 : 1, down = p ? 1u << f->format.shift_y : 1;
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++) {
                const bool right = across * x > scale * (WIDTH / 3) + down * y / 2;
                put(f, p, x, y, (p ? chroma : luma)[right] << more);
            }
    }
}

/* Interpolation that repeats samples; the smoother one of the pipeline is not needed here. */
static void enlarge(const frame *to, unsigned to_plane, const frame *from, unsigned plane,
                    unsigned scale)
{
    const mona_size size = frame_plane_size(&to->format, to_plane);
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++)
            put(to, to_plane, x, y, get(from, plane, x / scale, y / scale));
}

static scene open_scene(unsigned scale, unsigned shift_y, unsigned bits, const int luma[2],
                        const int chroma[2])
{
    pipeline_error error = {0};
    const chroma_location location = {CHROMA_FIRST, CHROMA_MIDDLE};
    const frame_format in = {WIDTH, HEIGHT, 3, 1, shift_y, bits, 2};
    const frame_format out = {scale * WIDTH, scale * HEIGHT, 3, 1, shift_y, bits, 2};
    scene s = {.in = open_frame(&in), .out = open_frame(&out), .scale = scale, .bits = bits};
    assert_true(chroma_guide_helps(&in, scale));
    assert_true(chroma_guide_open(&s.guide, &in, scale, location, &error));
    draw(&s.in.frame, 1, luma, chroma);
    draw(&s.out.frame, scale, luma, chroma);
    chroma_guide_take(&s.guide, &s.in.frame);
    enlarge(&s.guide.high, 0, &s.guide.low, 0, scale);
    for (unsigned p = 1; p < 3; p++)
        enlarge(&s.guide.high, p, &s.in.frame, p, scale);
    return s;
}

static void close_scene(scene *s)
{
    chroma_guide_close(&s->guide);
    free(s->in.memory), free(s->out.memory);
}

/* The sum of squared differences of a frame's chroma from that of the scene as it is drawn. */
static double error_of(const scene *s, const frame *f, const int luma[2], const int chroma[2])
{
    held wanted = open_frame(&s->out.frame.format);
    double sum = 0;
    draw(&wanted.frame, s->scale, luma, chroma);
    for (unsigned p = 1; p < 3; p++) {
        const mona_size size = frame_plane_size(&wanted.frame.format, p);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++) {
                const int found = get(f, p, x, y);
                const double off = found - get(&wanted.frame, p, x, y);
                const int low = (chroma[0] < chroma[1] ? chroma[0] : chroma[1]) << (s->bits - 8);
                const int high = (chroma[0] > chroma[1] ? chroma[0] : chroma[1]) << (s->bits - 8);
                assert_in_range(found, low, high);
                sum += off * off;
            }
    }
    free(wanted.memory);
    return sum;
}

static void check_edge(unsigned scale, unsigned shift_y, unsigned bits)
{
    static const int luma[2] = {60, 180}, chroma[2] = {200, 90};
    scene s = open_scene(scale, shift_y, bits, luma, chroma);
    const double before = error_of(&s, &s.guide.high, luma, chroma);
    chroma_guide_apply(&s.guide, &s.in.frame, &s.out.frame);
    const double after = error_of(&s, &s.out.frame, luma, chroma);
    assert_true(before > 0 && after < 0.5 * before);
    close_scene(&s);
}

static void an_edge_that_luma_shows_is_sharper(void **unused)
{
    (void)unused;
    for (unsigned scale = 2; scale <= 4; scale++)
        for (unsigned shift_y = 0; shift_y < 2; shift_y++)
            for (unsigned bits = 8; bits <= 10; bits += 2)
                check_edge(scale, shift_y, bits);
}

/* Chroma is as it was interpolated: luma has an edge and chroma none, or the reverse. */
static void check_plain(const int luma[2], const int chroma[2])
{
    scene s = open_scene(2, 1, 8, luma, chroma);
    chroma_guide_apply(&s.guide, &s.in.frame, &s.out.frame);
    for (unsigned p = 1; p < 3; p++) {
        const mona_size size = frame_plane_size(&s.out.frame.format, p);
        for (uint32_t y = 0; y < size.height; y++)
            assert_memory_equal(at(&s.out.frame, p, y), at(&s.guide.high, p, y), size.width);
    }
    close_scene(&s);
}

static void chroma_that_does_not_follow_stays(void **unused)
{
    (void)unused;
    check_plain((const int[]){60, 180}, (const int[]){128, 128});
    check_plain((const int[]){100, 100}, (const int[]){200, 90});
}

static void every_cpu_has_the_same_bytes(void **unused)
{
    (void)unused;
    static const int luma[2] = {60, 180}, chroma[2] = {200, 90};
    for (unsigned scale = 2; scale <= 3; scale++)
        for (unsigned bits = 8; bits <= 10; bits += 2) {
            scene s = open_scene(scale, 1, bits, luma, chroma);
            srand(1);
            for (size_t i = 0; i < frame_bytes(&s.in.frame.format) && bits == 8; i++)
                s.in.frame.data[0][i] = (uint8_t)rand();
            chroma_guide_take(&s.guide, &s.in.frame);
            chroma_guide_apply(&s.guide, &s.in.frame, &s.out.frame);
            const size_t bytes = frame_bytes(&s.out.frame.format);
            uint8_t *kept = malloc(bytes);
            assert_non_null(kept);
            memcpy(kept, s.out.frame.data[0], bytes);
            vector_hold("c");
            chroma_guide_apply(&s.guide, &s.in.frame, &s.out.frame);
            vector_hold(NULL);
            assert_memory_equal(kept, s.out.frame.data[0], bytes);
            free(kept);
            close_scene(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edge_that_luma_shows_is_sharper),
        cmocka_unit_test(chroma_that_does_not_follow_stays),
        cmocka_unit_test(every_cpu_has_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
