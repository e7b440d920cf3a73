// SPDX-License-Identifier: Apache-2.0
/* Full range and RGB, as the stages' studio range and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/image/colour.h"
#include "pipeline/stages/range.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/session_binding.h"
#include "tests/cases.h"

typedef struct held {
    frame frame;
    uint8_t *memory;
} held;

static held open_frame(const frame_format *format)
{
    held h = {.memory = bound_allocate(frame_bytes(format))};
    assert_non_null(h.memory);
    frame_place(&h.frame, format, h.memory);
    return h;
}

static double in_studio_range(unsigned plane, unsigned sample, unsigned bits)
{
    const double full = (1u << bits) - 1, grey = 1u << (bits - 1);
    return plane == 0   ? 16 + 219 * sample / full
           : plane == 3 ? sample / (double)(1u << (bits - 8))
                        : 128 + 224 * (sample - grey) / full;
}

/* Every value of a plane, one row of it, with padding to the right and below. */
static void check_plane(unsigned plane, unsigned bits)
{
    enum { MOST = 1 << 10 };
    const unsigned count = (1u << bits) - 1, from = plane != 3; /* an odd number of columns */
    const frame_format format = {count, 1, 4, 0, 0, MONA_MAX_DEPTH, 2};
    const bool wide = bits > 8;
    uint8_t in[2 * MOST], out[2 * MOST] = {0};
    held h = open_frame(&format);
    for (unsigned x = 0; x < count; x++)
        put_plane_sample(in, x, (int)(x + from), wide);
    range_enter(&h.frame, plane, in, sizeof in, bits);
    for (unsigned x = 0; x < count + 1; x++) {
        const unsigned shown = x < count ? x : count - 1;
        const double wanted =
            in_studio_range(plane, shown + from, bits) * (1 << (MONA_MAX_DEPTH - 8));
        for (unsigned y = 0; y < 2; y++)
            assert_true(
                fabs(plane_sample(h.frame.data[plane] + y * h.frame.stride[plane], x, true) -
                     wanted) <= 0.5);
    }
    range_leave(out, sizeof out, &h.frame, plane, bits);
    assert_memory_equal(in, out, count * (wide ? 2 : 1));
    free(h.memory);
}

static void every_sample_of_full_range_comes_back(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 10; bits++)
        for (unsigned plane = 0; plane < 4; plane++)
            check_plane(plane, bits);
}

/* What networks make of studio range may lie beyond it. */
static void what_lies_beyond_is_clipped(void **unused)
{
    (void)unused;
    const frame_format format = {2, 1, 1, 0, 0, MONA_MAX_DEPTH, 1};
    held h = open_frame(&format);
    uint8_t out[2];
    put_plane_sample(h.frame.data[0], 0, 0, true);
    put_plane_sample(h.frame.data[0], 1, (1 << MONA_MAX_DEPTH) - 1, true);
    range_leave(out, sizeof out, &h.frame, 0, 8);
    assert_true(out[0] == 0 && out[1] == 255);
    free(h.memory);
}

/* Every green and blue of a red, with any alpha; of grey, every level. */
static void check_colours(unsigned channels, unsigned red)
{
    enum { SIDE = 256 };
    const frame_format format = {
        SIDE, SIDE, channels % 2 ? (channels == 1 ? 1 : 3) : 4, 0, 0, MONA_MAX_DEPTH, 1};
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
    } known[] = {{{0, 0, 0}, 16, 128, 128},
                 {{255, 255, 255}, 235, 128, 128},
                 {{255, 0, 0}, 81.481, 90.203, 240},
                 {{0, 255, 0}, 144.553, 53.797, 34.214},
                 {{0, 0, 255}, 40.966, 240, 109.786}};
    for (unsigned bits = 8; bits <= MONA_MAX_DEPTH; bits++)
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
                assert_true(fabs(plane_sample(h.frame.data[p], 0, bits > 8) -
                                 wanted[p] * (1 << (bits - 8))) < 0.51);
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
