// SPDX-License-Identifier: Apache-2.0
/* Pools, flattening and matrix products in the compiler: every ONNX form of them gives the same
 * function in the judge and in the engine; also small networks like classifiers. */
#include "tests/unit/compiler_check.h"

static const compiler_options int8 = {.int8 = true, .output_type = MONA_S8};

/* The difference with INT8, in steps of a result whose largest number is about `most`. */
static double int8_steps(onnx_builder *b, uint32_t height, uint32_t width, double most)
{
    compiler *c = open_good(b);
    const double d = difference(c, &int8, height, width);
    compiler_close(c);
    return d / (most / 127);
}

/* ---- pools -------------------------------------------------------------------------------- */

static onnx_builder *pool_net(const char *op_type, const char *kernel, const char *strides,
                              const char *pads, int ceil)
{
    seed = 11;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "a", 3, 9);
    Onnx__NodeProto *n = ob_node(b, op_type, "a", "p");
    ob_ints(b, n, "kernel_shape", kernel);
    ob_ints(b, n, "strides", strides);
    ob_ints(b, n, "pads", pads);
    ob_int(b, n, "ceil_mode", ceil);
    add_conv(b, "p", "y", 9, 4);
    ob_output(b, "y");
    return b;
}

static void windows_of_every_form(void **state)
{
    (void)state;
    static const char *const types[] = {"MaxPool", "AveragePool"};
    static const struct {
        const char *kernel, *strides, *pads;
        int ceil;
    } forms[] = {{"2 2", "2 2", "0 0 0 0", 0},
                 {"3 3", "2 2", "1 1 1 1", 0},
                 {"3 3", "2 2", "0 0 0 0", 1},
                 {"3 2", "1 3", "2 1 0 1", 1}};
    for (int t = 0; t < 2; t++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            onnx_builder *b =
                pool_net(types[t], forms[k].kernel, forms[k].strides, forms[k].pads, forms[k].ceil);
            assert_true(half_difference(b, 18, 23) < 0.01);
            b = pool_net(types[t], forms[k].kernel, forms[k].strides, forms[k].pads, forms[k].ceil);
            assert_true(int8_steps(b, 18, 23, 1) < 4);
        }
}

/* A maximum keeps its input's scale, and padding does not win over negative numbers. */
static void maxima_keep_their_scale(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    const float minus[4] = {-1, -0.5f, -2, -0.25f}, none[4] = {-0.125f, -0.5f, -0.25f, -1};
    ob_input(b, "x", 4, 0, 0);
    ob_constant(b, "w", "4 1 1 1", minus);
    ob_constant(b, "b", "4", none);
    ob_int(b, ob_node(b, "Conv", "x w b", "a"), "group", 4);
    Onnx__NodeProto *n = ob_node(b, "MaxPool", "a", "y");
    ob_ints(b, n, "kernel_shape", "3 3");
    ob_ints(b, n, "pads", "1 1 1 1");
    ob_output(b, "y");
    compiler *c = open_good(b);
    assert_true(difference(c, &half_planes, 9, 10) < 0.002);
    assert_true(difference(c, &int8, 9, 10) < 0.02);
    uint8_t *bytes;
    size_t size;
    mona_model model;
    emit(c, &int8, &bytes, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const mona_file_op *pool = &model.ops[model.header->op_count - 2];
    assert_int_equal(pool->kind, MONA_OP_MAX_POOL);
    assert_true(model.tensors[pool->output].scale == model.tensors[pool->inputs[0]].scale);
    free(bytes);
    compiler_close(c);
}

/* Whole maps of any size, in every spelling; then a matrix product. */
static void whole_maps_of_any_size(void **state)
{
    (void)state;
    static const char *const forms[] = {"GlobalAveragePool", "GlobalMaxPool", "attribute", "input"};
    for (int k = 0; k < 4; k++)
        for (int size = 5; size < 20; size += 7) {
            seed = 21;
            const bool old = k == 2;
            onnx_builder *b = ob_new(k == 3 ? 18 : 13);
            ob_input(b, "x", 3, 0, 0);
            add_conv(b, "x", "a", 3, 20);
            if (k < 2) {
                ob_node(b, forms[k], "a", "p");
            } else {
                Onnx__NodeProto *n = ob_node(b, "ReduceMean", old ? "a" : "a axes", "p");
                if (old)
                    ob_ints(b, n, "axes", "3 2");
                else
                    ob_numbers(b, "axes", "-2 -1");
            }
            ob_node(b, "Flatten", "p", "f");
            ob_constant(b, "w", "7 20", noises(b, 140, 0.3f));
            ob_constant(b, "bias", "7", noises(b, 7, 0.3f));
            ob_int(b, ob_node(b, "Gemm", "f w bias", "y"), "transB", 1);
            ob_output(b, "y");
            compiler *c = open_good(b);
            const compiler_tensor y = compiler_output(c, 0);
            assert_int_equal(y.channels, 7);
            assert_int_equal(y.height, 1);
            assert_int_equal(y.width, 1);
            assert_true(difference(c, &half_planes, (uint32_t)size, 9) < 0.004);
            assert_true(difference(c, &int8, (uint32_t)size, 9) < 0.03);
            compiler_close(c);
        }
}

/* ---- flattening and products -------------------------------------------------------------- */

/* [1, 6, 4, 5] -> [1, 120], in one of several ways -> 10 numbers, by one of several products. */
static onnx_builder *product_net(int flattening, int product)
{
    seed = 5; /* the same numbers in every form */
    onnx_builder *b = ob_new(13);
    static const char *const shapes[] = {"1 -1", "0 -1", "-1 120", "1 120"};
    ob_input(b, "x", 2, 4, 5);
    add_conv(b, "x", "a", 2, 6);
    if (flattening < 4) {
        ob_numbers(b, "shape", shapes[flattening]);
        ob_node(b, "Reshape", "a shape", "f");
    } else {
        ob_int(b, ob_node(b, "Flatten", "a", "f"), "axis", flattening == 4 ? 1 : -3);
    }
    ob_node(b, "Relu", "f", "r");
    ob_node(b, "Dropout", "r", "d");
    float *w = noises(b, 1200, 0.1f), *turned = ob_alloc(b, 1200 * sizeof *turned);
    float *bias = noises(b, 10, 0.3f), *doubled = ob_alloc(b, 10 * sizeof *doubled);
    for (int o = 0; o < 10; o++) {
        doubled[o] = 2 * bias[o];
        for (int i = 0; i < 120; i++)
            turned[i * 10 + o] = w[o * 120 + i] * (product == 2 ? 0.5f : 1);
    }
    ob_constant(b, "w", product ? "120 10" : "10 120", product ? turned : w);
    ob_constant(b, "b", product == 3 ? "1 10" : "10", product == 2 ? doubled : bias);
    if (product == 3) {
        ob_node(b, "MatMul", "d w", "m");
        ob_node(b, "Add", "m b", "y");
    } else {
        Onnx__NodeProto *n = ob_node(b, "Gemm", "d w b", "y");
        ob_int(b, n, "transB", !product);
        ob_float(b, n, "alpha", product == 2 ? 2 : 1);
        ob_float(b, n, "beta", product == 2 ? 0.5f : 1);
    }
    ob_output(b, "y");
    return b;
}

static void products_of_every_form(void **state)
{
    (void)state;
    reference_array x = {0}, want = {0}, found;
    for (int flattening = 0; flattening < 6; flattening++)
        for (int product = 0; product < 4; product++) {
            compiler *c = open_good(product_net(flattening, product));
            if (!x.data) {
                make_inputs(c, 4, 5, &x);
                run_reference(c, &x, &want);
            }
            run_reference(c, &x, &found);
            assert_true(largest_difference(&want, &found) < 1e-5);
            assert_int_equal(operators_of(c, &half_planes), 4); /* LOAD, two CONVs, STORE */
            assert_true(difference(c, &half_planes, 4, 5) < 0.005);
            assert_string_equal(compiler_output(c, 0).name, "y");
            free(found.data);
            compiler_close(c);
        }
    free(x.data), free(want.data);
}

/* Compared with sums computed here. */
static void the_judge_multiplies(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    seed = 2;
    ob_input(b, "x", 3, 2, 4);
    ob_node(b, "Flatten", "x", "f");
    float *w = noises(b, 24 * 5, 1), *bias = noises(b, 5, 1);
    float kept[24 * 5], added[5];
    memcpy(kept, w, sizeof kept);
    memcpy(added, bias, sizeof added);
    ob_constant(b, "w", "24 5", w);
    ob_constant(b, "b", "5", bias);
    ob_float(b, ob_node(b, "Gemm", "f w b", "y"), "alpha", 3);
    ob_output(b, "y");
    compiler *c = open_good(b);
    reference_array x, y;
    make_inputs(c, 2, 4, &x);
    run_reference(c, &x, &y);
    for (int o = 0; o < 5; o++) {
        double sum = (double)added[o];
        for (int i = 0; i < 24; i++)
            sum += 3 * (double)x.data[i] * (double)kept[i * 5 + o];
        assert_true(fabs(sum - (double)y.data[o]) < 1e-4);
    }
    free(x.data), free(y.data);
    compiler_close(c);
}

/* Operators that only pass values on: the output keeps its name in the model. */
static void flat_outputs_keep_their_names(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(12);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "a", 3, 5);
    ob_node(b, "GlobalAveragePool", "a", "p");
    ob_ints(b, ob_node(b, "Squeeze", "p", "s"), "axes", "2 3");
    ob_node(b, "Identity", "s", "scores");
    ob_output(b, "scores");
    compiler *c = open_good(b);
    assert_string_equal(compiler_output(c, 0).name, "scores");
    assert_true(difference(c, &half_planes, 12, 8) < 0.002);
    compiler_close(c);
}

/* ---- a residual net ----------------------------------------------------------------------- */

static void add_point(onnx_builder *b, const char *x, const char *y, int inputs, int outputs,
                      const char *strides)
{
    char dims[32], names[96], w[32];
    snprintf(w, sizeof w, "%s.w", y);
    snprintf(dims, sizeof dims, "%d %d 1 1", outputs, inputs);
    snprintf(names, sizeof names, "%s %s", x, w);
    ob_constant(b, w, dims, noises(b, (size_t)(inputs * outputs), 1 / sqrtf((float)inputs)));
    ob_ints(b, ob_node(b, "Conv", names, y), "strides", strides);
}

/* Stem, maximum, a block with a projection and one without, mean, product. Every Add and every
 * activation is merged into a convolution. */
static onnx_builder *residual_classifier(void)
{
    seed = 31;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 33, 29);
    add_conv(b, "x", "stem", 3, 8);
    ob_node(b, "Relu", "stem", "r");
    Onnx__NodeProto *n = ob_node(b, "MaxPool", "r", "p");
    ob_ints(b, n, "kernel_shape", "3 3");
    ob_ints(b, n, "strides", "2 2");
    ob_ints(b, n, "pads", "1 1 1 1");
    add_point(b, "p", "a1", 8, 4, "1 1");
    ob_node(b, "Relu", "a1", "a2");
    ob_ints(b, add_conv(b, "a2", "a3", 4, 4), "strides", "2 2");
    ob_node(b, "Relu", "a3", "a4");
    add_point(b, "a4", "a5", 4, 16, "1 1");
    add_point(b, "p", "skip", 8, 16, "2 2");
    ob_node(b, "Add", "a5 skip", "a6");
    ob_node(b, "Relu", "a6", "a7");
    add_point(b, "a7", "b1", 16, 4, "1 1");
    ob_node(b, "Relu", "b1", "b2");
    add_point(b, "b2", "b3", 4, 16, "1 1");
    ob_node(b, "Add", "b3 a7", "b4");
    ob_node(b, "Relu", "b4", "b5");
    ob_node(b, "GlobalAveragePool", "b5", "g");
    ob_node(b, "Flatten", "g", "f");
    ob_constant(b, "w", "10 16", noises(b, 160, 0.5f));
    ob_int(b, ob_node(b, "Gemm", "f w", "y"), "transB", 1);
    ob_output(b, "y");
    return b;
}

static void residual_blocks_fuse_whole(void **state)
{
    (void)state;
    compiler *c = open_good(residual_classifier());
    /* LOAD, stem, maximum, 3 + 1 and 2 convolutions, mean, product, STORE. */
    assert_int_equal(operators_of(c, &half_planes), 12);
    uint8_t *bytes;
    size_t size;
    mona_model model;
    emit(c, &half_planes, &bytes, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    unsigned sums = 0;
    for (uint32_t i = 0; i < model.header->op_count; i++)
        if (model.ops[i].input_count == 2) {
            sums++;
            assert_int_equal(model.ops[i].kind, MONA_OP_CONV);
            assert_int_equal(model.ops[i].epilogue.activation_after_add, MONA_ACT_RELU);
        }
    assert_int_equal(sums, 2);
    free(bytes);
    assert_true(difference(c, &half_planes, 33, 29) < 0.01);
    assert_true(difference(c, &int8, 33, 29) < 0.05);
    compiler_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_of_every_form),
        cmocka_unit_test(maxima_keep_their_scale),
        cmocka_unit_test(whole_maps_of_any_size),
        cmocka_unit_test(products_of_every_form),
        cmocka_unit_test(the_judge_multiplies),
        cmocka_unit_test(flat_outputs_keep_their_names),
        cmocka_unit_test(residual_blocks_fuse_whole),
    };
    return cmocka_run_group_tests_name("classifier", tests, NULL, NULL);
}
