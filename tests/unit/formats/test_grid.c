// SPDX-License-Identifier: Apache-2.0
/* GridSample on arrays: places inside, at the edges and far outside, in every form. */
#include "tests/unit/onnx_check.h"

static onnx_builder *sampled_net(const char *mode, const char *padding, int corners)
{
    float places[2 * 4 * 5 * 2];
    onnx_builder *b = ob_new(16);
    seed = 72;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        places[i] = noise() * (i % 3 ? 1.2f : 4);
    places[0] = places[1] = -1, places[2] = places[3] = 1;
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    add_conv(b, "x", "c", 3, 6);
    ob_numbers(b, "two", "2 3 6 10");
    ob_node(b, "Reshape", "c two", "frames");
    ob_constant(b, "grid", "2 4 5 2", places);
    Onnx__NodeProto *n = ob_node(b, "GridSample", "frames grid", "y");
    ob_string(b, n, "mode", mode);
    ob_string(b, n, "padding_mode", padding);
    ob_int(b, n, "align_corners", corners);
    ob_output(b, "y");
    return b;
}

static void grids_are_sampled(void **state)
{
    (void)state;
    static const char *const modes[] = {"bilinear", "nearest"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    for (int i = 0; i < 12; i++) {
        char what[64];
        snprintf(what, sizeof what, "%s, %s, corners %d", modes[i / 6], paddings[i % 3], i / 3 % 2);
        check(sampled_net(modes[i / 6], paddings[i % 3], i / 3 % 2), true, what);
    }
}

/* A grid of the middles of all samples changes nothing; one sample to the right, all but an
 * edge. */
static void the_reference_knows_the_middles(void **state)
{
    (void)state;
    size_t size;
    float places[CHECK_HEIGHT * CHECK_WIDTH * 2];
    onnx_builder *b = ob_new(16);
    seed = 73;
    for (int y = 0; y < CHECK_HEIGHT; y++)
        for (int x = 0; x < CHECK_WIDTH; x++) {
            places[2 * (y * CHECK_WIDTH + x)] = (2.0f * (float)x + 3) / CHECK_WIDTH - 1;
            places[2 * (y * CHECK_WIDTH + x) + 1] = (2.0f * (float)y + 1) / CHECK_HEIGHT - 1;
        }
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    ob_constant(b, "grid", "1 6 10 2", places);
    ob_node(b, "GridSample", "x grid", "y");
    ob_output(b, "y");
    uint8_t *bytes = ob_pack(b, &size);
    ob_free(b);
    reference_array input = image(3, CHECK_HEIGHT, CHECK_WIDTH);
    reference_array found = defined(bytes, size, &input);
    for (uint32_t i = 0; i < found.width; i++) {
        const bool edge = i % CHECK_WIDTH == CHECK_WIDTH - 1;
        assert_true(fabsf(found.data[i] - (edge ? 0 : input.data[i + 1])) < 1e-5f);
    }
    free(bytes);
    free(input.data);
    free(found.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_sampled),
        cmocka_unit_test(the_reference_knows_the_middles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
