// SPDX-License-Identifier: Apache-2.0
/* Resize by ratios that floats do not hold, against whole numbers: the judge and the engine. */
#include "tests/unit/compiler_check.h"

enum { HEIGHT = 24, WIDTH = 30 };

static const int ratios[][2] = {{1, 3}, {2, 3}, {3, 5}, {7, 10}, {7, 5}, {5, 3}, {1, 2},
                                {3, 2}, {2, 1}, {4, 5}, {5, 4},  {7, 3}, {9, 10}};
enum { RATIOS = sizeof ratios / sizeof *ratios };

static onnx_builder *resizing_net(const int rows[2], const int columns[2], const char *mode,
                                  const char *coordinates)
{
    const float scales[4] = {1, 1, (float)rows[0] / (float)rows[1],
                             (float)columns[0] / (float)columns[1]};
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, HEIGHT, WIDTH);
    ob_constant(b, "scales", "4", scales);
    Onnx__NodeProto *n = ob_node(b, "Resize", "x - scales", "y");
    ob_string(b, n, "mode", mode);
    ob_string(b, n, "coordinate_transformation_mode", coordinates);
    ob_string(b, n, "nearest_mode", "floor");
    ob_output(b, "y");
    return b;
}

/* Both give expected(y, x) everywhere, and have the size of the ratios. */
static void check_both(compiler *c, const reference_array *input, const int rows[2],
                       const int columns[2],
                       float (*expected)(const reference_array *, const int rows[2],
                                         const int columns[2], int channel, int y, int x))
{
    reference_array found[2];
    uint8_t *bytes;
    size_t size;
    emit(c, &half_planes, &bytes, &size);
    run_reference(c, input, &found[0]);
    run_engine(bytes, size, input, &found[1]);
    for (int k = 0; k < 2; k++) {
        const char *who = k ? "engine" : "reference";
        if ((int)found[k].height != HEIGHT * rows[0] / rows[1] ||
            (int)found[k].width != WIDTH * columns[0] / columns[1])
            fail_msg("%s: %d/%d of %d rows are %u, %d/%d of %d columns %u", who, rows[0], rows[1],
                     HEIGHT, found[k].height, columns[0], columns[1], WIDTH, found[k].width);
        const float *at = found[k].data;
        for (int i = 0; i < 3; i++)
            for (int y = 0; y < (int)found[k].height; y++)
                for (int x = 0; x < (int)found[k].width; x++, at++) {
                    const float want = expected(input, rows, columns, i, y, x);
                    if (!(fabsf(*at - want) < 2e-3f))
                        fail_msg("%s: by %d/%d and %d/%d, row %d, column %d: %g, expected %g", who,
                                 rows[0], rows[1], columns[0], columns[1], y, x, (double)*at,
                                 (double)want);
                }
        free(found[k].data);
    }
    free(bytes);
}

static float sample(const reference_array *a, int channel, int y, int x)
{
    return a->data[(channel * HEIGHT + y) * WIDTH + x];
}

static float nearest(const reference_array *a, const int rows[2], const int columns[2], int channel,
                     int y, int x)
{
    return sample(a, channel, y * rows[1] / rows[0], x * columns[1] / columns[0]);
}

static void nearest_pixels_are_those_of_the_ratio(void **state)
{
    (void)state;
    seed = 3;
    reference_array input = image(3, HEIGHT, WIDTH);
    for (int i = 0; i < RATIOS; i++)
        for (int k = 0; k < RATIOS; k++) {
            compiler *c = open_good(resizing_net(ratios[i], ratios[k], "nearest", "asymmetric"));
            check_both(c, &input, ratios[i], ratios[k], nearest);
            compiler_close(c);
        }
    free(input.data);
}

/* ---- aligned corners ------------------------------------------------------------------------ */

/* What the last of `in` samples lies on: of the rounded result, or shortened, of the exact
 * length. */
static double corner(const int ratio[2], int in)
{
    const int out = in * ratio[0] / ratio[1];
    return ratio[0] < ratio[1] ? (double)in * ratio[0] / ratio[1] - 1 : out - 1;
}

static float aligned(const reference_array *a, const int rows[2], const int columns[2], int channel,
                     int y, int x)
{
    const double u = y * (HEIGHT - 1) / corner(rows, HEIGHT);
    const double v = x * (WIDTH - 1) / corner(columns, WIDTH);
    const int top = (int)fmin(u, HEIGHT - 2), left = (int)fmin(v, WIDTH - 2);
    const double dy = u - top, dx = v - left;
    return (float)((1 - dy) * (1 - dx) * (double)sample(a, channel, top, left) +
                   (1 - dy) * dx * (double)sample(a, channel, top, left + 1) +
                   dy * (1 - dx) * (double)sample(a, channel, top + 1, left) +
                   dy * dx * (double)sample(a, channel, top + 1, left + 1));
}

static bool is_rounded_short(const int ratio[2], int in)
{
    return ratio[0] < ratio[1] && in * ratio[0] % ratio[1];
}

/* ONNX Runtime and PyTorch agree with both as long as no axis is shortened to a length that is
 * rounded; mona says so where one is. */
static void corners_are_aligned_as_elsewhere_or_that_is_told(void **state)
{
    (void)state;
    seed = 4;
    reference_array input = image(3, HEIGHT, WIDTH);
    unsigned told = 0;
    for (int i = 0; i < RATIOS; i++)
        for (int k = 0; k < RATIOS; k++) {
            unsigned more;
            compiler *c = open_good(resizing_net(ratios[i], ratios[k], "linear", "align_corners"));
            const char *warning = compiler_warning(c, 0, &more);
            const bool differs =
                is_rounded_short(ratios[i], HEIGHT) || is_rounded_short(ratios[k], WIDTH);
            check_both(c, &input, ratios[i], ratios[k], aligned);
            assert_int_equal(warning != NULL, differs);
            assert_true(!warning || strstr(warning, "PyTorch"));
            told += differs;
            compiler_close(c);
        }
    assert_true(told > 0);
    free(input.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_pixels_are_those_of_the_ratio),
        cmocka_unit_test(corners_are_aligned_as_elsewhere_or_that_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
