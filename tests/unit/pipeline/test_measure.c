// SPDX-License-Identifier: Apache-2.0
/* The measures used in published tables. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pipeline/quality/measure.h"

static real_plane open_plane(uint32_t width, uint32_t height)
{
    real_plane p;
    assert_true(real_plane_open(&p, width, height));
    return p;
}

static real_plane ramp(uint32_t width, uint32_t height)
{
    real_plane p = open_plane(width, height);
    for (uint32_t i = 0; i < width * height; i++)
        p.values[i] = 3.0 * (i % width) + 2.0 * (double)(i / width);
    return p;
}

static void close_planes(real_plane *a, real_plane *b)
{
    real_plane_close(a);
    real_plane_close(b);
}

/* imresize(x, 0.5) of an impulse: MATLAB's eight weights of the stretched kernel. */
static void halving_is_antialiased(void **state)
{
    (void)state;
    static const double weights[] = {-0.01171875, -0.03515625, 0.11328125,  0.43359375,
                                     0.43359375,  0.11328125,  -0.03515625, -0.01171875};
    for (uint32_t at = 5; at < 13; at++) {
        real_plane from = open_plane(18, 1), to = open_plane(9, 1);
        from.values[at] = 1;
        assert_true(measure_resize(&to, &from));
        assert_float_equal(to.values[4], weights[at - 5], 1e-12);
        close_planes(&from, &to);
    }
}

/* The kernel preserves straight lines, so an enlarged ramp is the same ramp, shifted by half a
 * pixel. */
static void enlarging_keeps_a_ramp(void **state)
{
    (void)state;
    for (uint32_t scale = 2; scale <= 4; scale++) {
        real_plane from = ramp(12, 9), to = open_plane(12 * scale, 9 * scale);
        assert_true(measure_resize(&to, &from));
        for (uint32_t y = 2 * scale; y < 7 * scale; y++)
            for (uint32_t x = 2 * scale; x < 10 * scale; x++) {
                const double want = 3 * ((x + 0.5) / scale - 0.5) + 2 * ((y + 0.5) / scale - 0.5);
                assert_float_equal(to.values[y * to.width + x], want, 1e-9);
            }
        close_planes(&from, &to);
    }
}

static void borders_are_mirrored(void **state)
{
    (void)state;
    real_plane from = open_plane(5, 3), to = open_plane(2, 9);
    for (int i = 0; i < 15; i++)
        from.values[i] = 77;
    assert_true(measure_resize(&to, &from));
    for (int i = 0; i < 18; i++)
        assert_float_equal(to.values[i], 77, 1e-9);
    close_planes(&from, &to);
}

static void colours_become_luma_and_grey(void **state)
{
    (void)state;
    uint8_t pixels[] = {255, 255, 255, 0, 0, 0, 255, 0, 0, 9, 9, 9};
    const still colour = {.width = 2, .height = 2, .channels = 3, .pixels = pixels};
    const still grey = {.width = 2, .height = 2, .channels = 1, .pixels = pixels};
    real_plane p = open_plane(2, 2), column = open_plane(1, 2);
    measure_luma(&p, &colour);
    assert_float_equal(p.values[0], 235, 0);
    assert_float_equal(p.values[1], 16, 0);
    assert_float_equal(p.values[2], 81, 0); /* 16 + 65.481 */
    measure_luma(&column, &colour);         /* the first column only */
    assert_float_equal(column.values[1], 81, 0);
    measure_grey(&p, &colour);
    assert_float_equal(p.values[2], 76, 0); /* 0.2989 * 255 */
    measure_luma(&p, &grey);
    assert_float_equal(p.values[3], 0, 0); /* unchanged */
    close_planes(&p, &column);
}

static void psnr_leaves_the_border_out(void **state)
{
    (void)state;
    real_plane a = ramp(20, 16), b = ramp(20, 16);
    b.values[0] += 100;
    assert_true(isinf(measure_psnr(&a, &b, 1)));
    for (int i = 0; i < 20 * 16; i++)
        b.values[i] = a.values[i] + 5;
    assert_float_equal(measure_psnr(&a, &b, 2), 10 * log10(255.0 * 255 / 25), 1e-9);
    close_planes(&a, &b);
}

/* A single window, compared with the formula written out. */
static void ssim_is_the_formula(void **state)
{
    (void)state;
    real_plane a = ramp(13, 13), b = ramp(13, 13);
    double ssim, sum[5] = {0}, weights = 0;
    uint64_t random = 1;
    assert_true(measure_ssim(&a, &b, 0, &ssim));
    assert_float_equal(ssim, 1, 1e-12);
    measure_add_noise(&b, 10, &random);
    for (int y = 0; y < 11; y++)
        for (int x = 0; x < 11; x++) {
            const double w = exp(-((x - 5) * (x - 5) + (y - 5) * (y - 5)) / 4.5);
            const double p = a.values[(y + 1) * 13 + x + 1], q = b.values[(y + 1) * 13 + x + 1];
            const double terms[] = {p, q, p * p, q * q, p * q};
            weights += w;
            for (int i = 0; i < 5; i++)
                sum[i] += w * terms[i];
        }
    for (int i = 0; i < 5; i++)
        sum[i] /= weights;
    const double c1 = 6.5025, c2 = 58.5225, product = sum[0] * sum[1];
    const double want = (2 * product + c1) * (2 * (sum[4] - product) + c2) /
                        ((sum[0] * sum[0] + sum[1] * sum[1] + c1) *
                         (sum[2] - sum[0] * sum[0] + sum[3] - sum[1] * sum[1] + c2));
    assert_true(measure_ssim(&a, &b, 1, &ssim));
    assert_float_equal(ssim, want, 1e-9);
    assert_true(want < 0.99);
    close_planes(&a, &b);
}

static void noise_is_gaussian_and_clipped(void **state)
{
    (void)state;
    const uint32_t n = 200;
    real_plane p = open_plane(n, n), again = open_plane(n, n);
    double sum = 0, squares = 0, fourth = 0;
    uint64_t random = 25, same = 25;
    for (uint32_t i = 0; i < n * n; i++)
        p.values[i] = again.values[i] = 128;
    measure_add_noise(&p, 20, &random);
    measure_add_noise(&again, 20, &same);
    assert_memory_equal(p.values, again.values, n * n * sizeof(double));
    for (uint32_t i = 0; i < n * n; i++) {
        const double d = p.values[i] - 128;
        sum += d, squares += d * d, fourth += d * d * d * d;
    }
    const double variance = squares / (n * n);
    assert_float_equal(sum / (n * n), 0, 0.5);
    assert_float_equal(sqrt(variance), 20, 0.3);
    assert_float_equal(fourth / (n * n) / (variance * variance), 3, 0.15);
    measure_add_noise(&p, 200, &random);
    for (uint32_t i = 0; i < n * n; i++)
        assert_true(p.values[i] >= 0 && p.values[i] <= 255 && p.values[i] == rint(p.values[i]));
    close_planes(&p, &again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halving_is_antialiased),
        cmocka_unit_test(enlarging_keeps_a_ramp),
        cmocka_unit_test(borders_are_mirrored),
        cmocka_unit_test(colours_become_luma_and_grey),
        cmocka_unit_test(psnr_leaves_the_border_out),
        cmocka_unit_test(ssim_is_the_formula),
        cmocka_unit_test(noise_is_gaussian_and_clipped),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
