// SPDX-License-Identifier: Apache-2.0
/* Grain that was taken out comes back: as strong at each brightness, as coarse, as much larger as
 * the picture, and the same whenever the frame is the same. */
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
#include "pipeline/stages/vector.h"
#include "tests/unit/held_frame.h"

enum { WIDTH = 512, HEIGHT = 384, BANDS = 4 };

static uint32_t state = 1;

static double uniform(void)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / (double)(1 << 24);
}

/* Of 1; coarse: blurred by 1 2 1 both ways. */
static void make_noise(double *to, uint32_t width, uint32_t height, bool coarse)
{
    static double white[WIDTH * HEIGHT];
    for (uint32_t i = 0; i < width * height; i++)
        white[i] = (uniform() + uniform() + uniform() + uniform() - 2) * sqrt(3);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            double sum = 0;
            for (int v = -1; v <= 1; v++)
                for (int u = -1; u <= 1; u++)
                    sum += (2 - abs(u)) * (2 - abs(v)) *
                           white[(y + height + (uint32_t)v) % height * width +
                                 (x + width + (uint32_t)u) % width];
            to[y * width + x] = coarse ? sum / 6 : white[y * width + x];
        }
}

/* From 40 to 210, in bands from left to right. */
static int light(uint32_t x, uint32_t width)
{
    return 40 + (int)(x * BANDS / width) * 50;
}

static double sigma_at(int level)
{
    return 3 + level / 40.0;
}

static held lit(const frame_format *format, bool noisy, bool coarse)
{
    static double noise[WIDTH * HEIGHT];
    const held h = open_frame(format);
    for (unsigned p = 0; p < format->planes; p++) {
        const mona_size size = frame_shown_size(format, p);
        if (noisy)
            make_noise(noise, size.width, size.height, coarse);
        for (uint32_t y = 0; y < size.height; y++)
            for (uint32_t x = 0; x < size.width; x++) {
                const int level = light(x, size.width);
                const double add = noisy ? sigma_at(level) * noise[y * size.width + x] : 0;
                put_plane_sample(frame_row(&h.frame, p, y), x,
                                 (int)lrint(((p ? 128 : level) + add) * (1 << (format->bits - 8))),
                                 format->bits > 8);
            }
    }
    return h;
}

/* The stage's result on a clean frame. */
static held put_back(const frame_format *format, const grain_model *model, double share)
{
    const held in = lit(format, false, false), out = open_frame(format);
    const stage_settings settings = {.grain = share};
    const stage_work work = {.in = &in.frame, .out = &out.frame, .removed = model};
    pipeline_error error = {0};
    stage s;
    assert_true(stage_open(&s, STAGE_GRAIN, 0, &settings, *format, 1, &error));
    assert_int_equal(s.row->enqueue(&s, &work), MONA_OK);
    assert_int_equal(mona_stream_synchronize(s.stream), MONA_OK);
    stage_close(&s);
    free(in.memory);
    return out;
}

static grain_model measured(const frame_format *format, bool coarse)
{
    static grain_meter meters[GRAIN_PLANES];
    const held noisy = lit(format, true, coarse), clean = lit(format, false, false);
    grain_model model = {.format = *format};
    memset(meters, 0, sizeof meters);
    for (unsigned p = 0; p < format->planes; p++)
        grain_measure(&meters[p], &noisy.frame, &clean.frame, p, &model);
    free(noisy.memory);
    free(clean.memory);
    return model;
}

/* Of a band of a plane: the standard deviation and, *beside, the correlation of samples that are
 * so far apart. */
static double deviation(const frame *f, unsigned plane, uint32_t band, uint32_t apart,
                        double *beside)
{
    const mona_size size = frame_shown_size(&f->format, plane);
    const uint32_t left = size.width * band / BANDS, right = size.width * (band + 1) / BANDS;
    const int one = 1 << (f->format.bits - 8), mean = plane ? 128 : light(left, size.width);
    double squares = 0, products = 0;
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = left; x + apart < right; x++) {
            const uint8_t *row = frame_row(f, plane, y);
            const double a = plane_sample(row, x, one > 1) / (double)one - mean;
            const double b = plane_sample(row, x + apart, one > 1) / (double)one - mean;
            squares += a * a;
            products += a * b;
        }
    *beside = products / squares;
    return sqrt(squares / size.height / (right - left - apart));
}

static void grain_comes_back(void **unused)
{
    static const struct {
        unsigned scale, shift, bits;
        bool coarse;
    } cases[] = {{1, 1, 8, false}, {2, 1, 8, true}, {3, 0, 8, true}, {2, 1, 10, true}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned shift = cases[i].shift, scale = cases[i].scale;
        const frame_format small = {WIDTH, HEIGHT, 3, shift, shift, cases[i].bits, 1u << shift};
        frame_format large = small;
        large.width *= scale;
        large.height *= scale;
        const grain_model model = measured(&small, cases[i].coarse);
        const held made = put_back(&large, &model, 1);
        for (unsigned p = 0; p < 3; p++)
            for (uint32_t band = 0; band < BANDS; band++) {
                double beside;
                const double wanted = sigma_at(light(WIDTH * band / BANDS, WIDTH));
                const double found = deviation(&made.frame, p, band, scale, &beside);
                if (fabs(found / wanted - 1) > 0.07)
                    fail_msg("case %zu, plane %u, band %u: expected %.2f, found %.2f", i, p, band,
                             wanted, found);
                if (fabs(beside - (cases[i].coarse ? 0.667 : 0)) > 0.06)
                    fail_msg("case %zu, plane %u, band %u: a correlation of %.2f", i, p, band,
                             beside);
            }
        free(made.memory);
    }
}

static bool alike(const held *a, const held *b)
{
    return !memcmp(a->memory, b->memory, frame_bytes(&a->frame.format));
}

static void a_share_comes_back(void **unused)
{
    const frame_format format = {WIDTH, HEIGHT, 3, 1, 1, 8, 2};
    const grain_model model = measured(&format, true), none = {.format = format};
    double beside;
    (void)unused;
    const held whole = put_back(&format, &model, 1), half = put_back(&format, &model, 0.5);
    const double more = deviation(&whole.frame, 0, 1, 1, &beside);
    const double less = deviation(&half.frame, 0, 1, 1, &beside);
    assert_true(fabs(less / more - 0.5) < 0.05);
    const held clean = lit(&format, false, false), left = put_back(&format, &none, 1);
    const held unmeasured = put_back(&format, NULL, 1);
    assert_true(alike(&clean, &left) && alike(&clean, &unmeasured));
    free(whole.memory);
    free(half.memory);
    free(clean.memory);
    free(left.memory);
    free(unmeasured.memory);
}

static void the_same_frame_gets_the_same_grain(void **unused)
{
    const frame_format format = {WIDTH, HEIGHT, 1, 0, 0, 8, 1};
    const uint32_t before = state;
    (void)unused;
    const grain_model one = measured(&format, true);
    const uint32_t after = state;
    state = before;
    const grain_model again = measured(&format, true);
    state = after;
    const grain_model other = measured(&format, true);
    const held a = put_back(&format, &one, 1), b = put_back(&format, &again, 1);
    const held c = put_back(&format, &other, 1);
    assert_true(alike(&a, &b) && !alike(&a, &c));
    vector_hold("c");
    const held plain = put_back(&format, &one, 1);
    vector_hold(NULL);
    assert_true(alike(&a, &plain));
    free(a.memory);
    free(b.memory);
    free(c.memory);
    free(plain.memory);
}

/* What is black or white, such as borders, has none, and small planes are too small. */
static void borders_stay(void **unused)
{
    const frame_format format = {WIDTH, HEIGHT, 1, 0, 0, 8, 1}, small = {8, 8, 1, 0, 0, 8, 1};
    const grain_model model = measured(&format, true), nothing = measured(&small, true);
    const held in = open_frame(&format), out = open_frame(&format);
    const stage_settings settings = {.grain = 1};
    const stage_work work = {.in = &in.frame, .out = &out.frame, .removed = &model};
    pipeline_error error = {0};
    stage s;
    (void)unused;
    for (uint32_t y = 0; y < HEIGHT; y++)
        memset(frame_row(&in.frame, 0, y), y < HEIGHT / 2 ? 16 : 235, WIDTH);
    assert_true(stage_open(&s, STAGE_GRAIN, 0, &settings, format, 1, &error));
    assert_int_equal(s.row->enqueue(&s, &work), MONA_OK);
    assert_int_equal(mona_stream_synchronize(s.stream), MONA_OK);
    stage_close(&s);
    assert_true(alike(&in, &out));
    for (int l = 0; l < GRAIN_LEVELS; l++)
        assert_int_equal(nothing.planes[0].sigma[l], 0);
    free(in.memory);
    free(out.memory);
}

/* Files hold samples above their format's range. */
static void samples_above_the_range_are_white(void **unused)
{
    const frame_format format = {WIDTH, HEIGHT, 3, 1, 1, 10, 2};
    const int lights[] = {1023, UINT16_MAX};
    static grain_meter meters[2];
    grain_model models[2] = {{.format = format}, {.format = format}};
    const stage_settings settings = {.grain = 1};
    pipeline_error error = {0};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        state = 1;
        const held noisy = lit(&format, true, false), clean = lit(&format, false, false);
        const held *const both[] = {&noisy, &clean};
        for (int f = 0; f < 2; f++)
            frame_set_samples(frame_row(&both[f]->frame, 0, 0), &format, (unsigned)lights[i],
                              (size_t)WIDTH * HEIGHT);
        grain_measure(&meters[i], &noisy.frame, &clean.frame, 1, &models[i]);
        models[i].planes[0].sigma[GRAIN_LEVELS - 1] = 1;
        const held out = open_frame(&format);
        const stage_work work = {.in = &clean.frame, .out = &out.frame, .removed = &models[i]};
        stage s;
        assert_true(stage_open(&s, STAGE_GRAIN, 0, &settings, format, 1, &error));
        assert_int_equal(s.row->enqueue(&s, &work), MONA_OK);
        assert_int_equal(mona_stream_synchronize(s.stream), MONA_OK);
        stage_close(&s);
        assert_memory_equal(frame_row(&out.frame, 1, 0), frame_row(&clean.frame, 1, 0), WIDTH);
        free(noisy.memory);
        free(clean.memory);
        free(out.memory);
    }
    assert_true(models[0].planes[1].sigma[GRAIN_LEVELS - 1] > 0);
    assert_memory_equal(&models[0], &models[1], sizeof models[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grain_comes_back), cmocka_unit_test(a_share_comes_back),
        cmocka_unit_test(the_same_frame_gets_the_same_grain), cmocka_unit_test(borders_stay),
        cmocka_unit_test(samples_above_the_range_are_white)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
