// SPDX-License-Identifier: Apache-2.0
/* Parts of modern networks that stay on maps, in FP16 and INT8: squeeze-and-excitation, channel
 * shuffles, and halves of a convolution's results. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/graph/fusion.h"

static void add_point(onnx_builder *b, const char *x, const char *y, int inputs, int outputs)
{
    char dims[64], names[128], w[32];
    snprintf(w, sizeof w, "%s.w", y);
    snprintf(names, sizeof names, "%s %s", x, w);
    snprintf(dims, sizeof dims, "%d %d 1 1", outputs, inputs);
    ob_constant(b, w, dims, noises(b, (size_t)inputs * (size_t)outputs, 1 / sqrtf((float)inputs)));
    ob_node(b, "Conv", names, y);
}

/* x * gate(x) with one number a channel, and the same added. */
static onnx_builder *squeeze_net(int height, int width)
{
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, height, width);
    add_conv(b, "x", "stem", 3, 24);
    ob_node(b, "GlobalAveragePool", "stem", "mean");
    add_point(b, "mean", "narrow", 24, 6);
    ob_node(b, "Relu", "narrow", "r");
    add_point(b, "r", "wide", 6, 24);
    ob_node(b, "Sigmoid", "wide", "gate");
    ob_node(b, "Mul", "gate stem", "gated");
    add_point(b, "mean", "shift", 24, 24);
    ob_node(b, "Add", "gated shift", "sum");
    add_conv(b, "sum", "y", 24, 4);
    ob_output(b, "y");
    return b;
}

static void squeezes_stay_on_maps(void **state)
{
    (void)state;
    seed = 21;
    for (int open = 0; open < 2; open++) {
        compiler *c = open_good(squeeze_net(open ? 0 : 19, open ? 0 : 23));
        assert_true(difference(c, &half_planes, 19, 23) < 0.01);
        assert_true(
            difference(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, 19, 23) < 0.1);
        assert_false(compiler_has_arrays(c));
        compiler_close(c);
    }
}

static void squeezes_have_one_result(void **state)
{
    (void)state;
    seed = 22;
    compiler *c = open_good(squeeze_net(17, 40));
    check_one_result(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, 17, 40);
    compiler_close(c);
}

/* The unit of ShuffleNetV2: halves of 9 channels, one of them through three convolutions,
 * shuffled. */
static onnx_builder *shuffle_net(void)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 10, 14);
    add_conv(b, "x", "stem", 3, 18);
    ob_node(b, "Relu", "stem", "s");
    ob_numbers(b, "sizes", "9 9");
    ob_int(b, ob_node(b, "Split", "s sizes", "left right"), "axis", 1);
    add_point(b, "right", "p", 9, 9);
    ob_int(b, ob_node(b, "Concat", "left p", "joined"), "axis", 1);
    ob_numbers(b, "five", "1 2 9 10 14");
    ob_numbers(b, "four", "1 18 10 14");
    ob_node(b, "Reshape", "joined five", "parts");
    ob_ints(b, ob_node(b, "Transpose", "parts", "turned"), "perm", "0 2 1 3 4");
    ob_node(b, "Reshape", "turned four", "shuffled");
    ob_int(b, ob_node(b, "Split", "shuffled sizes", "left2 right2"), "axis", 1);
    add_point(b, "right2", "q", 9, 9);
    ob_int(b, ob_node(b, "Concat", "left2 q", "y"), "axis", 1);
    ob_output(b, "y");
    return b;
}

static void shuffles_stay_on_maps(void **state)
{
    (void)state;
    seed = 23;
    compiler *c = open_good(shuffle_net());
    assert_true(difference(c, &half_planes, 10, 14) < 0.01);
    const fusion_count n = fusion_log_count(compiler_log(c), FUSION_SPLIT);
    assert_int_equal(n.matched, 2); /* the stem, and the shuffle itself */
    assert_int_equal(n.applied, 2);
    assert_true(difference(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, 10, 14) <
                0.05);
    assert_false(compiler_has_arrays(c));
    compiler_options off = half_planes;
    off.fusion.off[FUSION_SPLIT] = true;
    assert_true(difference(c, &off, 10, 14) < 0.01);
    assert_true(operators_of(c, &off) > operators_of(c, &half_planes));
    compiler_close(c);
}

/* Halves of whole blocks are read in place: nothing is split. */
static void whole_blocks_are_not_split(void **state)
{
    (void)state;
    seed = 24;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "stem", 3, 32);
    ob_numbers(b, "sizes", "16 16");
    ob_int(b, ob_node(b, "Split", "stem sizes", "left right"), "axis", 1);
    add_conv(b, "right", "p", 16, 16);
    ob_int(b, ob_node(b, "Concat", "left p", "y"), "axis", 1);
    ob_output(b, "y");
    compiler *c = open_good(b);
    assert_true(difference(c, &half_planes, 10, 14) < 0.01);
    assert_int_equal(fusion_log_count(compiler_log(c), FUSION_SPLIT).matched, 0);
    compiler_close(c);
}

/* Depthwise with strides, dilations and sizes of every kind, and a channel multiplier. */
static void depthwise_convolutions_agree(void **state)
{
    (void)state;
    static const struct {
        int channels, outputs, kernel;
        const char *strides, *dilations, *pads;
    } cases[] = {
        {20, 20, 3, "1 1", "1 1", "1 1 1 1"}, {33, 33, 5, "2 2", "1 1", "2 2 2 2"},
        {16, 16, 7, "1 1", "1 1", "3 3 3 3"}, {40, 40, 3, "1 1", "2 2", "2 2 2 2"},
        {17, 17, 3, "2 1", "1 3", "1 3 1 3"}, {12, 24, 3, "1 1", "1 1", "1 1 1 1"},
        {16, 16, 1, "2 2", "1 1", "0 0 0 0"},
    };
    seed = 25;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int n = cases[i].channels, k = cases[i].kernel, outputs = cases[i].outputs;
        char dims[64];
        onnx_builder *b = ob_new(13);
        ob_input(b, "x", 3, 0, 0);
        add_point(b, "x", "wide", 3, n);
        snprintf(dims, sizeof dims, "%d 1 %d %d", outputs, k, k);
        ob_constant(b, "w", dims, noises(b, (size_t)(outputs * k * k), 1.0f / (float)k));
        Onnx__NodeProto *conv = ob_node(b, "Conv", "wide w", "d");
        ob_int(b, conv, "group", n);
        ob_ints(b, conv, "strides", cases[i].strides);
        ob_ints(b, conv, "dilations", cases[i].dilations);
        ob_ints(b, conv, "pads", cases[i].pads);
        ob_node(b, "Relu", "d", "r");
        add_point(b, "r", "y", outputs, 5);
        ob_output(b, "y");
        compiler *c = open_good(b);
        const double half = difference(c, &half_planes, 21, 37);
        const double int8 =
            difference(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, 21, 37);
        if (half > 0.01 || int8 > 0.1)
            fail_msg("case %zu: differs by %g, INT8 %g", i, half, int8);
        compiler_close(c);
    }
}

/* auto_pad says VALID: the pads beside it have no effect, on maps as little as elsewhere. */
static void valid_windows_have_no_pads(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        onnx_builder *b = ob_new(14);
        ob_input(b, "x", 3, 8, 9);
        Onnx__NodeProto *n = k ? ob_node(b, "MaxPool", "x", "y") : add_conv(b, "x", "y", 3, 4);
        n->n_attribute = 0;
        ob_ints(b, n, "kernel_shape", "3 3");
        ob_ints(b, n, "pads", "1 1 1 1");
        ob_string(b, n, "auto_pad", "VALID");
        ob_output(b, "y");
        compiler *c = open_good(b);
        assert_int_equal(compiler_output(c, 0).height, 6);
        assert_true(difference(c, &half_planes, 8, 9) < 0.01);
        assert_false(compiler_has_arrays(c));
        compiler_close(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeezes_stay_on_maps),
        cmocka_unit_test(squeezes_have_one_result),
        cmocka_unit_test(shuffles_stay_on_maps),
        cmocka_unit_test(whole_blocks_are_not_split),
        cmocka_unit_test(depthwise_convolutions_agree),
        cmocka_unit_test(valid_windows_have_no_pads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
