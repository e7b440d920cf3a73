// SPDX-License-Identifier: Apache-2.0
/* Everything around the colour network: thumbnails, curves from answers, shots. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/held_frame.h"

#include "pipeline/stages/colour_grading.h"

enum { SIDE = THUMBNAIL_SIDE, ANSWERS = COLOUR_GRADING_CURVES * COLOUR_GRADING_NODES };

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

/* Random samples; with more than 8 bits, multiples of those with 8. */
static held random_frame(uint32_t width, uint32_t height, unsigned shift, unsigned bits)
{
    const frame_format format = {width, height, 3, shift, shift, bits, 1u << shift};
    const held h = open_frame(&format);
    state = 1;
    for (unsigned p = 0; p < 3; p++) {
        const mona_size size = frame_plane_size(&format, p);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++) {
                const uint16_t sample = (uint16_t)((next() & 255) << (bits - 8));
                uint8_t *row = frame_row(&h.frame, p, y);
                if (bits == 8)
                    row[x] = (uint8_t)sample;
                else
                    memcpy(row + 2 * x, &sample, sizeof sample);
            }
    }
    return h;
}

static double expected_cell(const frame *f, unsigned plane, uint32_t i, uint32_t j)
{
    const mona_size size = frame_shown_size(&f->format, plane);
    const uint32_t top = i * size.height / SIDE, left = j * size.width / SIDE;
    uint32_t bottom = (i + 1) * size.height / SIDE, right = (j + 1) * size.width / SIDE;
    double sum = 0, count = 0;
    bottom = bottom > top ? bottom : top + 1;
    right = right > left ? right : left + 1;
    for (uint32_t y = top; y < bottom; y++)
        for (uint32_t x = left; x < right; x++, count++)
            sum += f->data[plane][(ptrdiff_t)y * f->stride[plane] + x];
    return floor(sum / count + 0.5);
}

static void thumbnails_are_means(void **unused)
{
    (void)unused;
    static const uint32_t sizes[][2] = {{1, 1}, {37, 53}, {64, 64}, {131, 67}, {320, 181}};
    static thumbnail t, deep;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (unsigned shift = 0; shift < 2; shift++) {
            held h = random_frame(sizes[s][0], sizes[s][1], shift, 8);
            held wide = random_frame(sizes[s][0], sizes[s][1], shift, 10);
            thumbnail_make(&t, &h.frame, true);
            thumbnail_make(&deep, &wide.frame, true);
            for (unsigned p = 0; p < 3; p++)
                for (uint32_t i = 0; i < SIDE * SIDE; i++)
                    assert_int_equal(t.planes[p][i],
                                     (int)expected_cell(&h.frame, p, i / SIDE, i % SIDE));
            assert_memory_equal(&t, &deep, sizeof t);
            free(h.memory);
            free(wide.memory);
        }
}

static void studio_range_is_widened(void **unused)
{
    (void)unused;
    static thumbnail t;
    held h = random_frame(256, 64, 0, 8);
    for (unsigned p = 0; p < 3; p++)
        for (uint32_t i = 0; i < 256 * 64; i++)
            h.frame.data[p][(ptrdiff_t)(i / 256) * h.frame.stride[p] + i % 256] =
                (uint8_t)(i / 256 * 4 + i % 256 / 4 / 16);
    thumbnail_make(&t, &h.frame, false);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const double v = i / SIDE * 4 + i % SIDE / 16;
        assert_true(fabs(t.planes[0][i] - fmin(fmax((v - 16) * 255 / 219, 0), 255)) <= 0.5);
        assert_true(fabs(t.planes[1][i] - fmin(fmax(128 + (v - 128) * 255 / 224, 0), 255)) <= 0.5);
    }
    free(h.memory);
}

static void random_answer(uint16_t *answer)
{
    for (unsigned i = 0; i < ANSWERS; i++) /* up to 2, or anything */
        answer[i] = (uint16_t)(next() % 8 ? next() % 0x4000 | next() % 2 << 15 : next());
}

static void apply(const mona_curves *curves, const held *in, held *out)
{
    mona_buffer from[3], to[3];
    for (unsigned p = 0; p < 3; p++) {
        from[p] = frame_buffer(&in->frame, p);
        to[p] = frame_buffer(&out->frame, p);
    }
    assert_int_equal(mona_curves_apply(curves, NULL, NULL, from, to, 3,
                                       frame_plane_size(&in->frame.format, 0),
                                       in->frame.format.shift_x, in->frame.format.shift_y),
                     MONA_OK);
}

static void no_strength_changes_nothing(void **unused)
{
    (void)unused;
    uint16_t answer[ANSWERS];
    colour_grading_curves curves;
    mona_curves settled;
    for (unsigned round = 0; round < 200; round++) {
        const unsigned bits = 8 + round % 3;
        held in = random_frame(75, 40, round % 2, bits),
             out = random_frame(75, 40, round % 2, bits);
        memset(out.memory, 0, frame_bytes(&out.frame.format));
        state = round;
        random_answer(answer);
        colour_grading_read(&curves, answer);
        colour_grading_settle(&settled, &curves, 0, bits, round % 4 < 2);
        apply(&settled, &in, &out);
        for (unsigned p = 0; p < 3; p++) {
            const mona_size size = frame_plane_size(&in.frame.format, p);
            for (uint32_t y = 0; y < size.height; y++)
                assert_memory_equal(frame_row(&in.frame, p, y), frame_row(&out.frame, p, y),
                                    size.width * frame_sample_bytes(&in.frame.format));
        }
        free(in.memory);
        free(out.memory);
    }
}

static void answers_become_curves_that_hold(void **unused)
{
    (void)unused;
    uint16_t answer[ANSWERS];
    colour_grading_curves curves;
    mona_curves settled;
    for (unsigned round = 0; round < 500; round++) {
        random_answer(answer);
        colour_grading_read(&curves, answer);
        for (unsigned k = 1; k < COLOUR_GRADING_NODES; k++)
            assert_true(curves.values[COLOUR_GRADING_LUMA][k] >=
                        curves.values[COLOUR_GRADING_LUMA][k - 1]);
        colour_grading_settle(&settled, &curves, 1, 8, round % 2);
        for (unsigned k = 0; k < MONA_CURVE_SEGMENTS; k++) {
            assert_true(settled.luma.rise[k] >= 0 && settled.luma.start[k] >= 0);
            for (unsigned c = 0; c < 2; c++) {
                const int end = settled.offset[c].start[k] + settled.offset[c].rise[k];
                assert_true(settled.gain[c].start[k] >= 0 && abs(end) <= 8192);
            }
        }
    }
}

/* Samples of 10 bits that 8 bits can hold give the same result as with 8 bits, except for
 * rounding. */
static void ten_bits_agree_with_eight(void **unused)
{
    (void)unused;
    uint16_t answer[ANSWERS];
    for (unsigned i = 0; i < ANSWERS; i++)
        answer[i] = (uint16_t)(next() % 0x3000 | next() % 2 << 15); /* up to 1/8 */
    for (unsigned full = 0; full < 2; full++) {
        held in = random_frame(96, 64, 1, 8), deep_in = random_frame(96, 64, 1, 10);
        held out = random_frame(96, 64, 1, 8), deep_out = random_frame(96, 64, 1, 10);
        colour_grading_curves curves;
        mona_curves settled, deep;
        unsigned changed = 0;
        colour_grading_read(&curves, answer);
        colour_grading_settle(&settled, &curves, 1, 8, full);
        colour_grading_settle(&deep, &curves, 1, 10, full);
        apply(&settled, &in, &out);
        apply(&deep, &deep_in, &deep_out);
        for (unsigned p = 0; p < 3; p++) {
            const mona_size size = frame_plane_size(&in.frame.format, p);
            for (uint32_t i = 0; i < size.width * size.height; i++) {
                const uint32_t y = i / size.width, x = i % size.width;
                const uint8_t *a = frame_row(&out.frame, p, y) + x;
                uint16_t b;
                memcpy(&b, frame_row(&deep_out.frame, p, y) + 2 * x, sizeof b);
                /* the mean luma of chroma is rounded later with 10 bits, which the slope
                 * multiplies */
                assert_true(abs(b - 4 * *a) <= (p ? 8 : 3));
                changed += *a != in.frame.data[p][(ptrdiff_t)y * in.frame.stride[p] + x];
            }
        }
        assert_true(changed > 1000);
        free(in.memory), free(deep_in.memory), free(out.memory), free(deep_out.memory);
    }
}

static void constant_curves(colour_grading_curves *c, float value)
{
    for (unsigned i = 0; i < COLOUR_GRADING_CURVES; i++)
        for (unsigned k = 0; k < COLOUR_GRADING_NODES; k++)
            c->values[i][k] = value;
}

static void shots_are_followed_and_cuts_begin_anew(void **unused)
{
    (void)unused;
    static thumbnail one, moved, other;
    colour_grading_curves low, high;
    colour_grading_state s = {0};
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            one.planes[0][y * SIDE + x] = (uint8_t)(128 + 90 * sin(0.11 * x) * cos(0.13 * y));
            moved.planes[0][y * SIDE + x] =
                (uint8_t)(128 + 90 * sin(0.11 * (x + 3)) * cos(0.13 * y));
            other.planes[0][y * SIDE + x] =
                (uint8_t)(90 - 60 * sin(0.09 * x + 2) * cos(0.2 * y + 1));
        }
    constant_curves(&low, 0.25f), constant_curves(&high, 0.75f);
    colour_grading_follow(&s, &one, &low);
    assert_true(s.curves.values[0][0] == 0.25f && s.frames == 1);
    float before = 0.25f;
    for (int i = 0; i < 60; i++) { /* at most a twentieth of the distance in a shot */
        colour_grading_follow(&s, i % 2 ? &one : &moved, &high);
        const float step = s.curves.values[0][0] - before;
        assert_true(step > 0 && step <= 0.0501f * (0.75f - before));
        before = s.curves.values[0][0];
    }
    assert_true(before > 0.7f && s.frames == 61);
    colour_grading_follow(&s, &other, &low);
    assert_true(s.curves.values[0][0] == 0.25f && s.frames == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thumbnails_are_means),
        cmocka_unit_test(studio_range_is_widened),
        cmocka_unit_test(no_strength_changes_nothing),
        cmocka_unit_test(answers_become_curves_that_hold),
        cmocka_unit_test(ten_bits_agree_with_eight),
        cmocka_unit_test(shots_are_followed_and_cuts_begin_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
