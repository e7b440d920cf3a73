// SPDX-License-Identifier: Apache-2.0
/* RGB to planes, luma of full range to studio range, and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/image/picture_planes.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/sample.h"
#include "tests/cases.h"
#include "tests/unit/held_frame.h"

/* A row with every value of full range. */
static void check_luma(unsigned bits)
{
    const unsigned count = 1u << bits, one = 1u << (bits - 8);
    const frame_format full = {count, 1, 1, 0, 0, bits, 1};
    frame_format studio = full;
    studio.bits = RANGE_BITS;
    held in = open_frame(&full), seen = open_frame(&studio), out = open_frame(&full);
    for (unsigned x = 0; x < count; x++)
        put_plane_sample(in.frame.data[0], x, (int)x, bits > 8);
    range_to_studio(&seen.frame, &in.frame);
    for (unsigned x = 0; x < count; x++) {
        const double wanted = 16 + 219.0 / 255 * x / one;
        const double found = plane_sample(seen.frame.data[0], x, true);
        assert_true(fabs(found - wanted * (1 << (RANGE_BITS - 8))) <= 0.5);
    }
    range_to_full(&out.frame, &seen.frame);
    assert_memory_equal(in.frame.data[0], out.frame.data[0], count * frame_sample_bytes(&full));
    free(in.memory), free(seen.memory), free(out.memory);
}

static void every_sample_of_full_range_comes_back(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 10; bits++)
        check_luma(bits);
}

/* Results of networks may lie beyond studio range. */
static void what_lies_beyond_is_clipped(void **unused)
{
    (void)unused;
    const frame_format studio = {2, 1, 1, 0, 0, RANGE_BITS, 1}, full = {2, 1, 1, 0, 0, 8, 1};
    held in = open_frame(&studio), out = open_frame(&full);
    put_plane_sample(in.frame.data[0], 1, (1 << RANGE_BITS) - 1, true);
    range_to_full(&out.frame, &in.frame);
    assert_true(out.frame.data[0][0] == 0 && out.frame.data[0][1] == 255);
    free(in.memory), free(out.memory);
}

/* Every green and blue for a given red, with any alpha; for grey, every level. */
static void check_colours(unsigned channels, unsigned red)
{
    enum { SIDE = 256 };
    const frame_format format = {SIDE,       SIDE, channels % 2 ? (channels == 1 ? 1 : 3) : 4, 0, 0,
                                 RANGE_BITS, 1};
    held h = open_frame(&format);
    still image = {.width = SIDE, .height = SIDE, .channels = channels}, back = image;
    const size_t bytes = (size_t)SIDE * SIDE * channels;
    image.pixels = malloc(bytes);
    back.pixels = malloc(bytes);
    assert_true(image.pixels && back.pixels);
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        const uint8_t pixel[4] = {(uint8_t)(channels < 3 ? i : red), (uint8_t)(i / SIDE),
                                  (uint8_t)i, (uint8_t)(i * 7)};
        memcpy(image.pixels + (size_t)i * channels, pixel, channels);
    }
    colour_split(&h.frame, &image);
    colour_join(&back, &h.frame);
    assert_memory_equal(image.pixels, back.pixels, bytes);
    free(image.pixels), free(back.pixels), free(h.memory);
}

static void every_colour_comes_back(void **unused)
{
    (void)unused;
    const unsigned reds = CASES(256);
    for (unsigned i = 0; i < reds; i++)
        check_colours(3, 255 * i / (reds - 1));
    check_colours(1, 0);
    check_colours(2, 0);
    check_colours(4, 100);
}

static void colours_lie_where_bt601_puts_them(void **unused)
{
    (void)unused;
    static const struct {
        uint8_t rgb[3];
        double luma, cb, cr;
    } known[] = {{{0, 0, 0}, 0, 128, 128},
                 {{255, 255, 255}, 255, 128, 128},
                 {{255, 0, 0}, 76.245, 84.972, 255.5},
                 {{0, 255, 0}, 149.685, 43.528, 21.235},
                 {{0, 0, 255}, 29.07, 255.5, 107.265}};
    for (unsigned bits = 9; bits <= RANGE_BITS; bits++)
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            const frame_format format = {2, 2, 3, 1, 1, bits, 2};
            const double wanted[] = {known[i].luma, known[i].cb, known[i].cr};
            uint8_t pixels[12];
            for (unsigned p = 0; p < 4; p++)
                memcpy(pixels + 3 * p, known[i].rgb, 3);
            const still image = {.width = 2, .height = 2, .channels = 3, .pixels = pixels};
            held h = open_frame(&format);
            colour_split(&h.frame, &image);
            for (unsigned p = 0; p < 3; p++)
                assert_true(fabs(plane_sample(h.frame.data[p], 0, true) -
                                 fmin(wanted[p] * (1 << (bits - 8)), (1 << bits) - 1)) < 0.51);
            free(h.memory);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_of_full_range_comes_back),
        cmocka_unit_test(what_lies_beyond_is_clipped),
        cmocka_unit_test(every_colour_comes_back),
        cmocka_unit_test(colours_lie_where_bt601_puts_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
