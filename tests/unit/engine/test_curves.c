// SPDX-License-Identifier: Apache-2.0
/* Curves over luma: against the formula in double precision, and frames against their samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mona.h"

enum { WIDTH = 44, HEIGHT = 12 };

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

/* A curve of a function at nodes; `one` is 1 in its steps. */
static mona_curve curve_of(double (*value)(double), double one)
{
    mona_curve c;
    for (int i = 0; i < MONA_CURVE_SEGMENTS; i++) {
        const double low = rint(one * value(i / 16.0)), high = rint(one * value((i + 1) / 16.0));
        c.start[i] = (int16_t)low;
        c.rise[i] = (int16_t)(high - low);
    }
    return c;
}

static double line(double y)
{
    return y;
}

static double one(double y)
{
    (void)y;
    return 1;
}

static double nothing(double y)
{
    (void)y;
    return 0;
}

static double brighter(double y)
{
    return 0.03 + 0.94 * sqrt(y);
}

static double warmer(double y)
{
    return 1.4 - 0.9 * y;
}

static double tinted(double y)
{
    return 0.08 * sin(5 * y) - 0.02;
}

static mona_curves neutral(unsigned bits)
{
    return (mona_curves){.bits = bits,
                         .luma = curve_of(line, 32767.99),
                         .gain = {curve_of(one, 8192), curve_of(one, 8192)},
                         .offset = {curve_of(nothing, 1), curve_of(nothing, 1)}};
}

/* offsets are of the range of samples */
static mona_curves changed(unsigned bits)
{
    const double range = 8192 - 0.25;
    return (mona_curves){.bits = bits,
                         .luma = curve_of(brighter, 32767),
                         .gain = {curve_of(warmer, 8192), curve_of(brighter, 8192)},
                         .offset = {curve_of(tinted, range), curve_of(nothing, range)}};
}

/* Straight lines between sixteenths. */
static double between_nodes(double (*value)(double), double y)
{
    const double node = fmin(floor(y * 16), 15);
    const double low = value(node / 16), high = value((node + 1) / 16);
    return low + (high - low) * (y * 16 - node);
}

typedef struct planes {
    uint16_t samples[3][HEIGHT][WIDTH];
} planes;

static unsigned sample(const mona_buffer *b, unsigned bits, unsigned y, unsigned x)
{
    const uint8_t *row = (const uint8_t *)b->data + (ptrdiff_t)y * b->row_stride;
    uint16_t word = row[x];
    if (bits > 8)
        memcpy(&word, row + 2 * x, sizeof word);
    return word;
}

static void buffers_of(mona_buffer *b, planes *p)
{
    for (int i = 0; i < 3; i++)
        b[i] = (mona_buffer){p->samples[i], sizeof p->samples[i][0], 0};
}

static void fill(planes *p, unsigned bits)
{
    uint8_t *bytes = (uint8_t *)p;
    for (size_t i = 0; i < sizeof *p; i += 2) {
        uint16_t word = (uint16_t)(next() & ((1u << bits) - 1));
        if (bits == 8)
            word = (uint16_t)next();
        memcpy(bytes + i, &word, sizeof word);
    }
}

/* What a sample becomes, not rounded, by the curves of changed(). */
static double expected_chroma(unsigned plane, double d, double luma, unsigned bits)
{
    const double range = 1 << bits, y = luma / range;
    const double gain = between_nodes(plane == 1 ? warmer : brighter, y);
    const double offset = plane == 1 ? between_nodes(tinted, y) * range : 0;
    return fmin(fmax(range / 2 + (d - range / 2) * gain + offset, 0), range - 1);
}

static void check_chroma(const mona_buffer *in, const mona_buffer *out, unsigned bits, unsigned sx,
                         unsigned sy, double *worst)
{
    for (unsigned plane = 1; plane < 3; plane++)
        for (unsigned y = 0; y < (unsigned)HEIGHT >> sy; y++)
            for (unsigned x = 0; x < (unsigned)WIDTH >> sx; x++) {
                unsigned sum = 0;
                for (unsigned i = 0; i < 1u << (sx + sy); i++)
                    sum += sample(&in[0], bits, (y << sy) + (i >> sx),
                                  (x << sx) + (i & ((1 << sx) - 1)));
                const double mean = floor((double)sum / (1 << (sx + sy)) + 0.5);
                const double want =
                    expected_chroma(plane, sample(&in[plane], bits, y, x), mean, bits);
                *worst = fmax(*worst, fabs(want - sample(&out[plane], bits, y, x)));
            }
}

static void curves_are_the_formula(void **unused)
{
    (void)unused;
    static planes in, out;
    mona_buffer from[3], to[3];
    buffers_of(from, &in), buffers_of(to, &out);
    for (unsigned bits = 8; bits <= MONA_MAX_DEPTH; bits++)
        for (unsigned sx = 0; sx <= 2; sx++)
            for (unsigned sy = 0; sy <= 2; sy++) {
                const mona_curves curves = changed(bits);
                const double range = 1 << bits;
                double luma = 0, chroma = 0;
                fill(&in, bits);
                assert_int_equal(mona_curves_apply(&curves, NULL, NULL, from, to, 3,
                                                   (mona_size){WIDTH, HEIGHT}, sx, sy),
                                 MONA_OK);
                for (unsigned y = 0; y < HEIGHT; y++)
                    for (unsigned x = 0; x < WIDTH; x++) {
                        const double v =
                            between_nodes(brighter, sample(&from[0], bits, y, x) / range);
                        luma = fmax(luma,
                                    fabs(fmin(v * range, range - 1) - sample(&to[0], bits, y, x)));
                    }
                check_chroma(from, to, bits, sx, sy, &chroma);
                /* Half a step from rounding, and what 15 bits of a value leave: 2^(b - 15) a step.
                 */
                assert_true(luma < 0.5 + 2.0 / (1 << (15 - bits)));
                assert_true(chroma < 0.5 + 2.0 / (1 << (13 - bits)));
            }
}

static void neutral_changes_nothing(void **unused)
{
    (void)unused;
    static planes in, out;
    mona_buffer from[3], to[3];
    buffers_of(from, &in), buffers_of(to, &out);
    for (unsigned bits = 8; bits <= MONA_MAX_DEPTH; bits++)
        for (unsigned round = 0; round < 40; round++) {
            const mona_curves curves = neutral(bits);
            fill(&in, bits);
            out = in;
            assert_int_equal(mona_curves_apply(&curves, NULL, round % 2 ? "c" : NULL, from, to, 3,
                                               (mona_size){WIDTH, HEIGHT}, round % 3, round % 2),
                             MONA_OK);
            assert_memory_equal(&in, &out, sizeof in);
        }
}

/* In place as beside, whatever computes it, and nothing beyond the planes is touched. */
static void every_way_is_the_same(void **unused)
{
    (void)unused;
    static planes in, out, again;
    mona_buffer from[3], to[3], same[3];
    buffers_of(from, &in), buffers_of(to, &out), buffers_of(same, &again);
    for (unsigned bits = 8; bits <= MONA_MAX_DEPTH; bits++) {
        const mona_curves curves = changed(bits);
        const mona_size size = {WIDTH - 4, HEIGHT - 4};
        fill(&in, bits);
        again = out = in;
        mona_curves_apply(&curves, NULL, NULL, from, to, 3, size, 1, 1);
        mona_curves_apply(&curves, &mona_device_model310, NULL, same, same, 3, size, 1, 1);
        assert_memory_equal(&again, &out, sizeof out);
        assert_memory_not_equal(&in, &out, sizeof out);
        for (unsigned y = HEIGHT - 4; y < HEIGHT; y++)
            assert_memory_equal(out.samples[0][y], in.samples[0][y], sizeof in.samples[0][y]);
    }
}

static void nonsense_is_refused(void **unused)
{
    (void)unused;
    static planes p;
    mona_buffer b[3];
    buffers_of(b, &p);
    mona_curves c = neutral(8);
    const mona_size size = {WIDTH, HEIGHT}, odd = {WIDTH - 1, HEIGHT};
    assert_int_equal(mona_curves_apply(NULL, NULL, NULL, b, b, 3, size, 1, 1), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_curves_apply(&c, NULL, NULL, b, b, 2, size, 1, 1), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_curves_apply(&c, NULL, NULL, b, b, 3, odd, 1, 1), MONA_ERR_SHAPE);
    assert_int_equal(mona_curves_apply(&c, NULL, NULL, b, b, 3, size, 3, 1), MONA_ERR_SHAPE);
    assert_int_equal(mona_curves_apply(&c, NULL, "6502", b, b, 3, size, 1, 1), MONA_ERR_DEVICE);
    c.bits = MONA_MAX_DEPTH + 1;
    assert_int_equal(mona_curves_apply(&c, NULL, NULL, b, b, 3, size, 1, 1), MONA_ERR_ARGUMENT);
    b[2].data = NULL;
    c.bits = 8;
    assert_int_equal(mona_curves_apply(&c, NULL, NULL, b, b, 3, size, 1, 1), MONA_ERR_ARGUMENT);
    assert_int_equal(mona_curves_apply(&c, NULL, NULL, b, b, 1, odd, 0, 0), MONA_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_the_formula),
        cmocka_unit_test(neutral_changes_nothing),
        cmocka_unit_test(every_way_is_the_same),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
