// SPDX-License-Identifier: Apache-2.0
/* The stage deband: slow gradients come nearer to what they were, and nothing else changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/stages/sample.h"
#include "pipeline/stages/stage.h"
#include "tests/unit/held_frame.h"

enum { WIDTH = 203, HEIGHT = 119, BLOCK = 8, UNCHANGED = 3 };

/* What a sample was before it was rounded, in steps of 8 bits. */
static double ramp(uint32_t x, uint32_t y)
{
    return 60 + 0.06 * x + 0.02 * y;
}

static double constant(uint32_t x, uint32_t y)
{
    (void)x, (void)y;
    return 77;
}

/* Differences of more than the stage takes for bands. */
static double checks(uint32_t x, uint32_t y)
{
    return (x / 3 + y / 2) % 2 ? 90 : 90 + UNCHANGED + 1;
}

static held frame_of(double (*value)(uint32_t x, uint32_t y), unsigned bits, unsigned shift)
{
    const frame_format format = {WIDTH, HEIGHT, 3, shift, shift, bits, 1u << shift};
    const held h = open_frame(&format);
    for (unsigned p = 0; p < 3; p++) {
        const mona_size size = frame_shown_size(&format, p);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++)
                put_plane_sample(frame_row(&h.frame, p, y), x,
                                 (int)floor(value(x, y) + 0.5) << (bits - 8), bits > 8);
        frame_pad_plane(&h.frame, p);
    }
    return h;
}

/* The stage's result. */
static held debanded(const held *in)
{
    const held out = open_frame(&in->frame.format);
    const stage_settings settings = {0};
    const stage_work work = {.in = &in->frame, .out = &out.frame};
    pipeline_error error = {0};
    stage s;
    stage_kind kind;
    assert_true(stage_find("deband", &kind));
    assert_true(stage_open(&s, kind, 0, &settings, in->frame.format, 1, &error));
    assert_int_equal(s.row->enqueue(&s, &work), MONA_OK);
    assert_int_equal(mona_stream_synchronize(s.stream), MONA_OK);
    stage_close(&s);
    return out;
}

static double mean_at(const frame *f, unsigned plane, uint32_t left, uint32_t top)
{
    double sum = 0;
    for (uint32_t y = top; y < top + BLOCK; y++)
        for (uint32_t x = left; x < left + BLOCK; x++)
            sum += plane_sample(frame_row(f, plane, y), x, f->format.bits > 8);
    return sum / (BLOCK * BLOCK) / (1 << (f->format.bits - 8));
}

/* The squared error of the means of blocks, as an eye at some distance sees it. */
static double error_of(const frame *f, unsigned plane)
{
    const mona_size size = frame_shown_size(&f->format, plane);
    double sum = 0;
    for (uint32_t y = 0; y + BLOCK <= size.height; y += BLOCK)
        for (uint32_t x = 0; x + BLOCK <= size.width; x += BLOCK) {
            const double middle = ramp(x, y) + (ramp(1, 1) - ramp(0, 0)) * (BLOCK - 1) / 2;
            sum += pow(mean_at(f, plane, x, y) - middle, 2);
        }
    return sum;
}

static void bands_come_nearer_to_the_gradient(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 10; bits += 2)
        for (unsigned shift = 0; shift < 2; shift++) {
            held in = frame_of(ramp, bits, shift), out = debanded(&in);
            for (unsigned p = 0; p < 3; p++)
                assert_true(error_of(&out.frame, p) < error_of(&in.frame, p) / 3);
            free(in.memory), free(out.memory);
        }
}

static void what_is_no_band_stays(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 10; bits += 2)
        for (int flat = 0; flat < 2; flat++) {
            held in = frame_of(flat ? constant : checks, bits, 1), out = debanded(&in);
            for (unsigned p = 0; p < 3; p++)
                assert_memory_equal(in.frame.data[p], out.frame.data[p],
                                    frame_plane_size(&in.frame.format, p).height *
                                        (size_t)in.frame.stride[p]);
            free(in.memory), free(out.memory);
        }
}

/* Noise of every strength: no sample moves further than a band's step, and alpha stays. */
static void no_sample_moves_far(void **unused)
{
    (void)unused;
    const frame_format format = {WIDTH, HEIGHT, 4, 1, 1, 8, 2};
    held in = open_frame(&format);
    uint32_t random = 1;
    for (unsigned p = 0; p < 4; p++)
        for (size_t i = 0; i < frame_plane_size(&format, p).height * (size_t)in.frame.stride[p];
             i++) {
            random = random * 1664525 + 1013904223;
            in.frame.data[p][i] = (uint8_t)((random >> 24) % (1 + i % 40));
        }
    held out = debanded(&in);
    bool moved = false;
    for (unsigned p = 0; p < 4; p++) {
        const mona_size size = frame_shown_size(&format, p);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++) {
                const int by = frame_row(&out.frame, p, y)[x] - frame_row(&in.frame, p, y)[x];
                assert_true(abs(by) <= (p == 3 ? 0 : UNCHANGED));
                moved |= by;
            }
    }
    assert_true(moved);
    free(in.memory), free(out.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_come_nearer_to_the_gradient),
        cmocka_unit_test(what_is_no_band_stays),
        cmocka_unit_test(no_sample_moves_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
