// SPDX-License-Identifier: Apache-2.0
/* The offline compiler: the fp32 judge compared with a sum computed here, and the passes. Compiled
 * models run on the engine and are compared with the judge. */
#include <time.h>

#include "tests/unit/compiler_check.h"

/* ---- the judge ---------------------------------------------------------------------------- */

/* One output of a convolution, straight from the definition. */
static double conv_at(const reference_array *x, const float *w, double bias, int outputs,
                      int groups, int stride, int dilation, int pad, int o, int y, int column)
{
    const int depth = (int)x->channels / groups, first = o / (outputs / groups) * depth;
    double sum = bias;
    for (int c = 0; c < depth; c++)
        for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++) {
                const int iy = y * stride + ky * dilation - pad;
                const int ix = column * stride + kx * dilation - pad;
                if (iy >= 0 && iy < (int)x->height && ix >= 0 && ix < (int)x->width)
                    sum +=
                        (double)w[((o * depth + c) * 3 + ky) * 3 + kx] *
                        (double)x->data[((first + c) * (int)x->height + iy) * (int)x->width + ix];
            }
    return sum;
}

static void the_judge_convolves(void **state)
{
    (void)state;
    static const struct {
        int inputs, outputs, groups, stride, dilation, pad;
    } cases[] = {{1, 4, 1, 1, 1, 1}, {3, 2, 1, 2, 1, 1}, {4, 8, 4, 1, 2, 2}, {6, 6, 2, 3, 2, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char dims[64], number[64];
        onnx_builder *b = ob_new(13);
        const int depth = cases[k].inputs / cases[k].groups;
        float weights[9 * 8 * 8], bias[8];
        for (int i = 0; i < 9 * depth * cases[k].outputs; i++)
            weights[i] = noise();
        for (int i = 0; i < cases[k].outputs; i++)
            bias[i] = noise();
        ob_input(b, "x", cases[k].inputs, 0, 0);
        snprintf(dims, sizeof dims, "%d %d 3 3", cases[k].outputs, depth);
        ob_constant(b, "w", dims, weights);
        snprintf(dims, sizeof dims, "%d", cases[k].outputs);
        ob_constant(b, "b", dims, bias);
        Onnx__NodeProto *n = ob_node(b, "Conv", "x w b", "y");
        ob_int(b, n, "group", cases[k].groups);
        snprintf(number, sizeof number, "%d %d", cases[k].stride, cases[k].stride);
        ob_ints(b, n, "strides", number);
        snprintf(number, sizeof number, "%d %d", cases[k].dilation, cases[k].dilation);
        ob_ints(b, n, "dilations", number);
        snprintf(number, sizeof number, "%d %d %d %d", cases[k].pad, cases[k].pad, cases[k].pad,
                 cases[k].pad);
        ob_ints(b, n, "pads", number);
        ob_output(b, "y");
        compiler *c = open_good(b);
        reference_array in, out;
        make_inputs(c, 13, 17, &in);
        run_reference(c, &in, &out);
        for (uint32_t o = 0; o < out.channels; o++)
            for (uint32_t y = 0; y < out.height; y++)
                for (uint32_t x = 0; x < out.width; x++)
                    assert_true(fabs(conv_at(&in, weights, (double)bias[o], cases[k].outputs,
                                             cases[k].groups, cases[k].stride, cases[k].dilation,
                                             cases[k].pad, (int)o, (int)y, (int)x) -
                                     (double)out.data[(o * out.height + y) * out.width + x]) <
                                1e-5);
        assert_true(difference(c, &half_planes, 13, 17) < 0.02);
        free(in.data);
        free(out.data);
        compiler_close(c);
    }
}

/* ---- passes ------------------------------------------------------------------------------- */

static void everything_is_fused(void **state)
{
    (void)state;
    compiler *c = open_good(residual_net());
    assert_int_equal(operators_of(c, &half_planes), 5);
    assert_true(difference(c, &half_planes, 19, 23) < 0.01);
    compiler_close(c);
}

/* Convolutions a and c, with ar, the Relu of a, between them; and limits for a Clip. */
static onnx_builder *two_layers(float low, float high)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    ob_constant(b, "low", "", &low);
    ob_constant(b, "high", "", &high);
    add_conv(b, "x", "a", 1, 6);
    ob_node(b, "Relu", "a", "ar");
    add_conv(b, "ar", "c", 6, 6);
    return b;
}

static void activations_and_sums_keep_their_order(void **state)
{
    (void)state;
    /* Relu before the sum, Clip after it; LeakyRelu of a value that others read; x + x; 1 channel.
     */
    onnx_builder *b = two_layers(-0.25f, 0.75f);
    ob_node(b, "Relu", "c", "cr");
    ob_node(b, "Add", "ar cr", "s");
    ob_node(b, "Clip", "s low high", "sc");
    ob_float(b, ob_node(b, "LeakyRelu", "sc", "l"), "alpha", 0.3f);
    ob_node(b, "Add", "l l", "d");
    ob_node(b, "Mul", "d x", "m");
    ob_node(b, "Add", "cr m", "n");
    ob_node(b, "Relu", "n", "y");
    ob_output(b, "y");
    ob_output(b, "sc");
    compiler *c = open_good(b);
    assert_true(difference(c, &half_planes, 20, 21) < 0.01);
    const compiler_options options = {.int8 = true, .output_type = MONA_S8};
    assert_true(difference(c, &options, 20, 21) < 0.06);
    compiler_close(c);
}

/* A function of a convolution's results leaves no room before it for what comes after. */
static void what_follows_a_function_stays_behind_it(void **state)
{
    (void)state;
    static const char *const functions[] = {"Sigmoid", "HardSwish", "Tanh"};
    for (int k = 0; k < 3; k++) {
        onnx_builder *b = ob_new(14);
        seed = 5;
        ob_input(b, "x", 3, 0, 0);
        add_conv(b, "x", "a", 3, 6);
        ob_node(b, functions[k], "a", "f");
        ob_float(b, ob_node(b, "LeakyRelu", "f", "l"), "alpha", 0.25f);
        const float low = 0.1f, high = 0.4f;
        ob_constant(b, "low", "", &low);
        ob_constant(b, "high", "", &high);
        ob_node(b, "Clip", "f low high", "c");
        ob_node(b, "Add", "l c", "y");
        ob_output(b, "y");
        compiler *c = open_good(b);
        assert_true(difference(c, &half_planes, 12, 13) < 0.01);
        compiler_close(c);
    }
    for (int k = 0; k < 2; k++) {
        onnx_builder *b = ob_new(14);
        seed = 6;
        ob_input(b, "x", 3, 0, 0);
        add_conv(b, "x", "a", 3, 6);
        ob_node(b, "HardSwish", "a", "f");
        ob_float(b, ob_node(b, k ? "Elu" : "LeakyRelu", "f", "y"), "alpha", 0.25f);
        ob_output(b, "y");
        compiler *c = open_good(b);
        assert_true(difference(c, &half_planes, 12, 13) < 0.01);
        compiler_close(c);
    }
}

/* Calibration may see nothing but zeros before a function. */
static void a_function_of_zeros_is_int8(void **state)
{
    (void)state;
    static const float zeros[6 * 3 * 9] = {0};
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 8, 8);
    ob_constant(b, "w", "6 3 3 3", zeros);
    ob_ints(b, ob_node(b, "Conv", "x w", "a"), "pads", "1 1 1 1");
    ob_node(b, "Tanh", "a", "f");
    add_conv(b, "f", "y1", 6, 2);
    add_conv(b, "a", "y2", 6, 2); /* so that the function is an operator of its own */
    ob_node(b, "Add", "y1 y2", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    const compiler_options options = {.int8 = true, .output_type = MONA_F16};
    assert_true(difference(c, &options, 8, 8) < 0.01);
    compiler_close(c);
}

/* The 8 bits of a result that is cut at its largest value saturate there: with a Clip, layers that
 * add would take longer. */
static void u8_saturates_without_a_clip(void **state)
{
    (void)state;
    onnx_builder *b = two_layers(0, 0.25f);
    ob_node(b, "Add", "c ar", "s");
    ob_node(b, "Clip", "s low high", "sc");
    add_conv(b, "sc", "y", 6, 2);
    ob_output(b, "y");
    compiler *c = open_good(b);
    const compiler_options options = {.int8 = true, .output_type = MONA_S8};
    uint8_t *bytes;
    size_t size;
    mona_model model;
    assert_true(difference(c, &options, 20, 21) < 0.06);
    emit(c, &options, &bytes, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    uint32_t sums = 0;
    for (uint32_t i = 0; i < model.header->op_count; i++)
        if (model.ops[i].kind == MONA_OP_CONV && model.ops[i].input_count == 2) {
            assert_int_equal(model.ops[i].epilogue.activation_after_add, MONA_ACT_RELU);
            sums++;
        }
    assert_int_equal(sums, 1);
    free(bytes);
    compiler_close(c);
}

static void affine_folds_both_ways(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    const float mean[3] = {0.4f, 0.5f, 0.6f}, deviation[3] = {0.2f, 0.25f, 0.5f}, two = 2;
    ob_input(b, "x", 3, 0, 0);
    ob_constant(b, "mean", "1 3 1 1", mean);
    ob_constant(b, "std", "3 1 1", deviation);
    ob_constant(b, "two", "", &two);
    ob_node(b, "Sub", "x mean", "x0");
    ob_node(b, "Div", "x0 std", "x1");
    Onnx__NodeProto *n = add_conv(b, "x1", "a", 3, 4); /* padding: the shift must stay before it */
    (void)n;
    ob_node(b, "Sub", "two a", "a1");
    ob_node(b, "Mul", "a1 two", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    assert_int_equal(operators_of(c, &half_planes), 4);
    assert_true(difference(c, &half_planes, 9, 9) < 0.05);
    compiler_close(c);
}

/* ---- rearrangement ------------------------------------------------------------------------ */

static void depth_to_space_in_every_form(void **state)
{
    (void)state;
    static const char *const permutations[2] = {"0 1 4 2 5 3", "0 3 4 1 5 2"};
    static const char *const shapes[2] = {"1 3 2 2 6 7", "-1 2 2 3 6 7"};
    for (int depth_first = 0; depth_first < 2; depth_first++) {
        uint8_t *models[2];
        size_t sizes[2];
        reference_array in = {0}, out[2];
        for (int form = 0; form < 2; form++) {
            onnx_builder *b = ob_new(13);
            seed = 5; /* the same weights in both forms */
            ob_input(b, "x", 2, 6, 7);
            add_conv(b, "x", "a", 2, 12);
            if (form) {
                ob_numbers(b, "s1", shapes[depth_first]);
                ob_numbers(b, "s2", "1 3 12 14");
                ob_node(b, "Reshape", "a s1", "r");
                ob_ints(b, ob_node(b, "Transpose", "r", "t"), "perm", permutations[depth_first]);
                ob_node(b, "Reshape", "t s2", "y");
            } else {
                Onnx__NodeProto *n = ob_node(b, "DepthToSpace", "a", "y");
                ob_int(b, n, "blocksize", 2);
                ob_string(b, n, "mode", depth_first ? "DCR" : "CRD");
            }
            ob_output(b, "y");
            compiler *c = open_good(b);
            if (!form)
                make_inputs(c, 6, 7, &in);
            assert_true(difference(c, &half_planes, 6, 7) < 0.01);
            assert_int_equal(operators_of(c, &half_planes), 3);
            emit(c, &half_planes, &models[form], &sizes[form]);
            run_engine(models[form], sizes[form], &in, &out[form]);
            compiler_close(c);
        }
        assert_true(largest_difference(&out[0], &out[1]) == 0);
        for (int form = 0; form < 2; form++)
            free(models[form]);
        free(in.data);
        free_arrays(out, 2);
    }
}

/* x rearranged to y, what is read by and reads it as given; "": x and y themselves. */
static onnx_builder *rearranging_net(const char *op_type, int channels, const char *before,
                                     const char *after, bool sized)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", channels, sized ? 6 : 0, sized ? 8 : 0);
    if (*before)
        ob_node(b, before, strcmp(before, "Add") ? "x" : "x x", "a");
    Onnx__NodeProto *n = ob_node(b, op_type, *before ? "a" : "x", *after ? "r" : "y");
    ob_int(b, n, "blocksize", 2);
    if (*after)
        ob_node(b, after, strcmp(after, "Add") ? "r" : "r r", "y");
    ob_output(b, "y");
    return b;
}

/* Only a convolution can take depth-first order at no cost; without one, channels are moved. */
static void depth_first_needs_no_convolution(void **state)
{
    (void)state;
    static const char *const around[] = {"", "Relu", "Add", "Sigmoid", "GlobalAveragePool"};
    for (int before = 0; before < 5; before++)
        for (int after = 0; after < 4; after++)
            for (int sized = 0; sized < 2; sized++) {
                onnx_builder *b =
                    rearranging_net("DepthToSpace", 12, around[before], around[after], sized);
                assert_true(half_difference(b, 6, 8) < 0.003);
            }
    for (int after = 0; after < 4; after++)
        for (int sized = 0; sized < 2; sized++)
            assert_true(
                half_difference(rearranging_net("SpaceToDepth", 3, "", around[after], sized), 6,
                                8) < 0.003);
    /* Computed pixels into channels: on arrays, at a fixed size. */
    assert_true(half_difference(rearranging_net("SpaceToDepth", 3, "Relu", "", true), 6, 8) <
                0.003);
}

/* Channels move without rounding, whatever their format. */
static void channels_move_exactly_in_8_bits(void **state)
{
    (void)state;
    const compiler_options bytes = {.int8 = true};
    compiler *c = open_good(rearranging_net("DepthToSpace", 12, "Relu", "", false));
    assert_true(difference(c, &bytes, 6, 8) < 1e-6);
    compiler_close(c);
    c = open_good(rearranging_net("SpaceToDepth", 3, "", "Relu", false));
    assert_true(difference(c, &bytes, 6, 8) < 1e-6);
    compiler_close(c);
}

static void planes_are_packed_and_taken_apart(void **state)
{
    (void)state;
    compiler *c = open_good(packed_net());
    reference_array inputs[3], expected[2], found[2];
    uint8_t *bytes;
    size_t size;
    make_packed(inputs);
    run_reference(c, inputs, expected);
    emit(c, &half_planes, &bytes, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    assert_int_equal(model.header->op_count, 4); /* LOAD, CONV, two STOREs */
    run_engine(bytes, size, inputs, found);
    for (int i = 0; i < 2; i++)
        assert_true(largest_difference(&expected[i], &found[i]) < 0.01);
    free(bytes);
    free_arrays(found, 2);
    format_error error = {0};
    assert_true(compiler_calibrate(c, inputs, &error));
    emit(c, &(compiler_options){.int8 = true}, &bytes, &size);
    run_engine(bytes, size, inputs, found);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < (size_t)expected[i].height * expected[i].width; k++) {
            const float e = fmaxf(0, fminf(expected[i].data[k], 1)); /* images: 0 to 255 steps */
            assert_true(fabsf(e - found[i].data[k]) < 3.0f / 255);
        }
    free(bytes);
    free_arrays(inputs, 3);
    free_arrays(expected, 2);
    free_arrays(found, 2);
    compiler_close(c);
}

/* x padded and then convolved, or convolved with all of the padding. */
static uint8_t *padded_net(bool apart, size_t *size)
{
    onnx_builder *b = ob_new(13);
    seed = 9;
    ob_input(b, "x", 3, 0, 0);
    if (apart) {
        ob_numbers(b, "pads", "0 0 2 0 0 0 1 3");
        ob_node(b, "Pad", "x pads", "p");
    }
    Onnx__NodeProto *n = add_conv(b, apart ? "p" : "x", "y", 3, 4);
    n->n_attribute = 0;
    ob_ints(b, n, "pads", apart ? "1 1 1 1" : "3 1 2 4");
    ob_output(b, "y");
    compiler *c = open_good(b);
    uint8_t *bytes;
    emit(c, &half_planes, &bytes, size);
    compiler_close(c);
    return bytes;
}

static void pads_go_into_the_convolution(void **state)
{
    (void)state;
    size_t size, same;
    uint8_t *apart = padded_net(true, &size), *together = padded_net(false, &same);
    assert_int_equal(size, same);
    assert_memory_equal(apart, together, size);
    free(apart);
    free(together);
}

/* A convolution and thousands of functions of it. A pass that is cubic in their number would take
 * minutes. */
static void thousands_of_operators_compile_in_seconds(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    char from[16] = "v0", to[16];
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    add_conv(b, "x", "v0", 1, 2);
    for (int i = 1; i <= COUNT; i++) {
        snprintf(to, sizeof to, "v%d", i);
        ob_node(b, i % 2 ? "Sigmoid" : "Neg", from, to);
        memcpy(from, to, sizeof from);
    }
    ob_output(b, from);
    const clock_t start = clock();
    assert_true(half_difference(b, 5, 7) < 0.01);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 20);
}

/* Its size follows from nothing, so it is that of the first input, not 0. */
static void an_input_may_have_no_reader(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    ob_input(b, "unread", 1, 0, 0);
    add_conv(b, "x", "y", 3, 4);
    ob_output(b, "y");
    compiler *c = open_good(b);
    reference_array inputs[2] = {image(3, 10, 12), image(1, 10, 12)}, found;
    uint8_t *bytes;
    size_t size;
    emit(c, &half_planes, &bytes, &size);
    inputs[1].height = inputs[1].width = 0; /* not said */
    run_engine_as(bytes, size, &(mona_config){.threads = 2}, inputs, &found);
    assert_int_equal(found.height, 10);
    free(found.data);
    free_arrays(inputs, 2);
    free(bytes);
    compiler_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_judge_convolves),
        cmocka_unit_test(thousands_of_operators_compile_in_seconds),
        cmocka_unit_test(pads_go_into_the_convolution),
        cmocka_unit_test(everything_is_fused),
        cmocka_unit_test(activations_and_sums_keep_their_order),
        cmocka_unit_test(u8_saturates_without_a_clip),
        cmocka_unit_test(affine_folds_both_ways),
        cmocka_unit_test(depth_to_space_in_every_form),
        cmocka_unit_test(depth_first_needs_no_convolution),
        cmocka_unit_test(channels_move_exactly_in_8_bits),
        cmocka_unit_test(planes_are_packed_and_taken_apart),
        cmocka_unit_test(an_input_may_have_no_reader),
        cmocka_unit_test(what_follows_a_function_stays_behind_it),
        cmocka_unit_test(a_function_of_zeros_is_int8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
