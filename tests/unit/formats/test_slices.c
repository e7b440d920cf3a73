// SPDX-License-Identifier: Apache-2.0
/* Slices of rows and columns on maps, and those that a convolution takes up. */
#include "tests/unit/onnx_check.h"

static void add_slice(onnx_builder *b, const char *x, const char *starts, const char *ends,
                      const char *axes, const char *steps, const char *y)
{
    const char *const lists[] = {starts, ends, axes, steps};
    char inputs[128], name[32];
    snprintf(inputs, sizeof inputs, "%s", x);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s.%d", y, i);
        ob_numbers(b, name, lists[i]);
        strcat(strcat(inputs, " "), name);
    }
    ob_node(b, "Slice", inputs, y);
}

static void edges_are_cut_off(void **state)
{
    static const struct {
        const char *starts, *ends, *axes, *steps;
        bool arrays;
        int channels;
    } cases[] = {
        {"1 2", "5 9", "2 3", "1 1", false, 3},
        {"1 1", "-1 -2", "-2 -1", "1 1", false, 3},
        {"0 1", "2147483647 9223372036854775807", "2 3", "2 3", false, 3},
        {"-4", "-1", "2", "2", false, 3},
        {"0 0 1 0", "1 3 6 10", "0 1 2 3", "1 1 1 1", false, 3},
        {"1 1", "3 6", "1 2", "1 1", true, 2},
        {"5", "-7", "2", "-1", true, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[32];
        snprintf(what, sizeof what, "case %zu", i);
        onnx_builder *b = ob_new(13);
        seed = 61;
        ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
        add_slice(b, "x", cases[i].starts, cases[i].ends, cases[i].axes, cases[i].steps, "c");
        add_conv(b, "c", "y", cases[i].channels, 4);
        ob_output(b, "y");
        check(b, cases[i].arrays, what);
    }
}

/* Every second row and column from four corners on. apart: each slice is of one axis, as PyTorch
 * writes it. */
static onnx_builder *focus_net(bool apart)
{
    onnx_builder *b = ob_new(13);
    seed = 62;
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    for (int i = 0; i < 4; i++) {
        char starts[8], rows[8], name[8];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(rows, sizeof rows, "r%d", i);
        snprintf(starts, sizeof starts, apart ? "%d" : "%d %d", i % 2, i / 2);
        add_slice(b, "x", starts, apart ? "9223372036854775807" : "10 10", apart ? "2" : "2 3",
                  apart ? "2" : "2 2", apart ? rows : name);
        snprintf(starts, sizeof starts, "%d", i / 2);
        if (apart)
            add_slice(b, rows, starts, "9223372036854775807", "3", "2", name);
    }
    ob_int(b, ob_node(b, "Concat", "p0 p1 p2 p3", "joined"), "axis", 1);
    add_conv(b, "joined", "c", 12, 8);
    ob_node(b, "Relu", "c", "y");
    ob_output(b, "y");
    return b;
}

static void a_focus_is_part_of_its_convolution(void **state)
{
    (void)state;
    for (int apart = 0; apart < 2; apart++) {
        check(focus_net(apart), false, apart ? "focus apart" : "focus");
        compiler *c = open_good(focus_net(apart));
        assert_int_equal(operators_of(c, &half_planes), 3);
        compiler_close(c);
    }
}

/* Such as BGR of RGB, and a part. */
static void channels_are_chosen(void **state)
{
    static const struct {
        const char *indices;
        int channels;
    } cases[] = {{"2 1 0", 3}, {"-1 0 0 2 1", 5}, {"1 2", 2}, {"1", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_builder *b = ob_new(13);
        seed = 63;
        ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
        ob_numbers(b, "indices", cases[i].indices);
        ob_int(b, ob_node(b, "Gather", "x indices", "c"), "axis", 1);
        add_conv(b, "c", "y", cases[i].channels, 4);
        ob_output(b, "y");
        check(b, false, cases[i].indices);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_cut_off),
        cmocka_unit_test(channels_are_chosen),
        cmocka_unit_test(a_focus_is_part_of_its_convolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
