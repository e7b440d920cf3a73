// SPDX-License-Identifier: Apache-2.0
/* The numbers in compiled models: what must be exact, INT8 weights, resampling. */
#include "tests/unit/compiler_check.h"

/* ---- exactness ---------------------------------------------------------------------------- */

/* A network that corrects nothing returns its input bytes, in INT8 and in FP16. */
static void samples_pass_unchanged(void **state)
{
    (void)state;
    for (int int8 = 0; int8 < 2; int8++) {
        const float zeros[4 * 9] = {0};
        onnx_builder *b = ob_new(13);
        ob_input(b, "luma", 1, 0, 0);
        ob_constant(b, "w", "4 1 3 3", zeros);
        ob_ints(b, ob_node(b, "Conv", "luma w", "c"), "pads", "1 1 1 1");
        ob_node(b, "Add", "luma c", "s");
        Onnx__NodeProto *n = ob_node(b, "DepthToSpace", "s", "luma_x2");
        ob_int(b, n, "blocksize", 2);
        ob_string(b, n, "mode", "CRD");
        ob_output(b, "luma_x2");
        compiler *c = open_good(b);
        reference_array in = image(1, 16, 16), out;
        for (int i = 0; i < 256; i++)
            in.data[i] = (float)i / 255;
        uint8_t *bytes;
        size_t size;
        format_error error = {0};
        assert_true(compiler_calibrate(c, &in, &error));
        emit(c, &(compiler_options){.int8 = int8}, &bytes, &size);
        mona_model model;
        assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
        assert_int_equal(mona_model_output(&model, 0).type, MONA_U8);
        run_engine(bytes, size, &in, &out);
        for (uint32_t y = 0; y < 32; y++)
            for (uint32_t x = 0; x < 32; x++)
                assert_int_equal(lrintf(out.data[y * 32 + x] * 255),
                                 lrintf(in.data[y / 2 * 16 + x / 2] * 255));
        free(bytes);
        free(in.data);
        free(out.data);
        compiler_close(c);
    }
}

/* Numbers that become 0 in any case do not cost the others a bit. */
static void tiny_negatives_need_no_sign(void **state)
{
    (void)state;
    for (int small = 0; small < 2; small++) {
        const float four = 4, bias = small ? -1e-3f : -0.1f;
        onnx_builder *b = ob_new(13);
        ob_input(b, "x", 1, 0, 0);
        ob_constant(b, "w", "1 1 1 1", &four);
        ob_constant(b, "b", "1", &bias);
        ob_node(b, "Conv", "x w b", "inside");
        ob_node(b, "Conv", "inside w b", "y");
        ob_output(b, "y");
        compiler *c = open_good(b);
        reference_array in = image(1, 16, 16);
        for (int i = 0; i < 256; i++)
            in.data[i] = (float)i / 255;
        uint8_t *bytes;
        size_t size;
        format_error error = {0};
        assert_true(compiler_calibrate(c, &in, &error));
        emit(c, &(compiler_options){.int8 = true}, &bytes, &size);
        mona_model model;
        assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
        uint32_t first = 0;
        while (model.ops[first].kind != MONA_OP_CONV)
            first++;
        const mona_file_tensor *inside = &model.tensors[model.ops[first].output];
        assert_int_equal(inside->type, MONA_U8); /* with a zero where negatives count */
        assert_int_equal(inside->zero != 0, !small);
        free(bytes);
        free(in.data);
        compiler_close(c);
    }
}

/* U16 planes of 10 bits in an FP16 model. */
static void wide_samples_pass_unchanged(void **state)
{
    (void)state;
    const float one = 1;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    ob_constant(b, "w", "1 1 1 1", &one);
    ob_node(b, "Conv", "x w", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    const compiler_options options = {.input_type = MONA_U16, .output_type = MONA_U16};
    reference_array in = image(1, 32, 32), out;
    for (int i = 0; i < 1024; i++)
        in.data[i] = (float)i / 1023;
    uint8_t *bytes;
    size_t size;
    emit(c, &options, &bytes, &size);
    run_engine(bytes, size, &in, &out);
    assert_true(largest_difference(&in, &out) < 0.1 / 1023);
    free(bytes);
    free(in.data);
    free(out.data);
    compiler_close(c);
}

/* ---- numbers of INT8 ---------------------------------------------------------------------- */

/* Weights: q * scale is within half a step, except where a plane's sum required a change; sums of
 * planes are within half a step; and scale16 is the number from which the scale was derived. */
static void weights_are_kept(void **state)
{
    (void)state;
    enum { INPUTS = 5, OUTPUTS = 7 };
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", INPUTS, 0, 0);
    add_conv(b, "x", "y", INPUTS, OUTPUTS);
    float weights[OUTPUTS * INPUTS * 9];
    memcpy(weights, b->constants[0]->float_data, sizeof weights);
    ob_output(b, "y");
    compiler *c = open_good(b);
    reference_array in;
    make_inputs(c, 12, 12, &in);
    format_error error = {0};
    assert_true(compiler_calibrate(c, &in, &error));
    uint8_t *bytes;
    size_t size;
    emit(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, &bytes, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const mona_file_op *op = &model.ops[1];
    assert_int_equal(op->kind, MONA_OP_CONV);
    const int8_t *q = (const int8_t *)(model.data + op->conv.weights);
    const uint16_t *scales = (const uint16_t *)(const void *)(model.data + op->conv.scales);
    const double in_scale = (double)model.tensors[op->inputs[0]].scale;
    const double out_scale = (double)model.tensors[op->output].scale;
    for (int o = 0; o < OUTPUTS; o++) {
        const double scale = half_value(scales[o]) * out_scale / in_scale;
        for (int i = 0; i < INPUTS; i++) {
            double error_sum = 0;
            for (int k = 0; k < 9; k++) {
                const int at = (o * INPUTS + i) * 9 + k;
                const double e = (double)weights[at] / scale - q[at];
                assert_true(fabs(e) < 1);
                error_sum += e;
            }
            assert_true(fabs(error_sum) <= 0.51);
        }
    }
    free(in.data);
    free(bytes);
    compiler_close(c);
}

static void a_dead_channel_keeps_its_bias(void **state)
{
    (void)state;
    float weights[2 * 9] = {0}, bias[2] = {0.5f, 0.25f};
    weights[0] = 1;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    ob_constant(b, "w", "2 1 3 3", weights);
    ob_constant(b, "b", "2", bias);
    ob_node(b, "Conv", "x w b", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    const compiler_options options = {.int8 = true, .output_type = MONA_S8};
    assert_true(difference(c, &options, 8, 8) < 0.01);
    compiler_close(c);
}

static void int8_without_calibration_is_refused(void **state)
{
    (void)state;
    compiler *c = open_good(residual_net());
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    assert_false(compiler_emit(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, &bytes,
                               &size, &error));
    assert_non_null(strstr(error.text, "calibrate"));
    compiler_close(c);
}

/* With black pictures for calibration, a large weight has no effect, so the scale of its result is
 * small. */
static void weights_beyond_scales_of_fp16_are_refused(void **state)
{
    (void)state;
    const float weight = 1e8f;
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    ob_constant(b, "w", "1 1 1 1", &weight);
    ob_node(b, "Conv", "x w", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    reference_array black = image(1, 8, 8);
    memset(black.data, 0, 64 * sizeof *black.data);
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    assert_true(compiler_calibrate(c, &black, &error));
    assert_false(compiler_emit(c, &(compiler_options){.int8 = true, .output_type = MONA_S8}, &bytes,
                               &size, &error));
    assert_non_null(strstr(error.text, "weights up to 1e+08, too large for INT8"));
    free(black.data);
    compiler_close(c);
}

/* Three INT8 layers: typical errors are below a hundredth of the largest value. */
static void int8_follows_the_judge(void **state)
{
    (void)state;
    compiler *c = open_good(residual_net());
    reference_array in, expected, found;
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    make_inputs(c, 31, 37, &in);
    run_reference(c, &in, &expected);
    assert_true(compiler_calibrate(c, &in, &error));
    const compiler_options options = {.int8 = true, .output_type = MONA_S8};
    emit(c, &options, &bytes, &size);
    run_engine(bytes, size, &in, &found);
    double squares = 0, peak = 0;
    const size_t count = (size_t)expected.channels * expected.height * expected.width;
    for (size_t i = 0; i < count; i++) {
        const double d = (double)(found.data[i] - expected.data[i]);
        squares += d * d;
        peak = fmax(peak, fabs((double)expected.data[i]));
    }
    assert_true(sqrt(squares / (double)count) < 0.01 * peak);
    assert_true(largest_difference(&expected, &found) < 0.04 * peak);
    free(bytes);
    free(in.data);
    free(expected.data);
    free(found.data);
    compiler_close(c);
}

/* INT8 inside, planes of fp16 or 10 bits outside: the first and the last layer convert. */
static void precisions_mix(void **state)
{
    (void)state;
    static const mona_type types[] = {MONA_U8, MONA_F16, MONA_U16};
    for (int in = 0; in < 3; in++)
        for (int out = 0; out < 2; out++) {
            compiler *c = open_good(residual_net());
            const compiler_options options = {
                .int8 = true,
                .input_type = types[in],
                .output_type = out ? MONA_F16 : MONA_S8,
            };
            assert_true(difference(c, &options, 15, 21) < 0.04);
            compiler_close(c);
        }
}

/* ---- resampling --------------------------------------------------------------------------- */

static onnx_builder *resize_net(const char *mode, const char *coordinates, const char *nearest,
                                float scale)
{
    const float scales[4] = {1, 1, scale, scale};
    onnx_builder *b = ob_new(13);
    ob_input(b, "plane", 1, 0, 0);
    ob_constant(b, "scales", "4", scales);
    Onnx__NodeProto *n = ob_node(b, "Resize", "plane - scales", "y");
    ob_string(b, n, "mode", mode);
    ob_string(b, n, "coordinate_transformation_mode", coordinates);
    if (nearest)
        ob_string(b, n, "nearest_mode", nearest);
    ob_output(b, "y");
    return b;
}

static void every_nearest_rule_is_exact(void **state)
{
    (void)state;
    static const char *const rules[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    static const char *const coordinates[] = {"half_pixel", "asymmetric"};
    static const float scales[] = {2, 3, 4, 0.5f, 1.5f, 0.75f};
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 2; k++)
            for (int s = 0; s < 6; s++) {
                compiler *c = open_good(resize_net("nearest", coordinates[k], rules[r], scales[s]));
                assert_true(difference(c, &(compiler_options){.int8 = true}, 12, 20) < 1e-6);
                compiler_close(c);
            }
}

/* Planes of every type become planes of every other where samples are only moved; only what is FP16
 * cannot be stored as S8. */
static void planes_of_all_types(void **state)
{
    (void)state;
    for (int k = 0; k < 32; k++) {
        const compiler_options options = {
            .int8 = k % 2, .input_type = (mona_type)(k / 2 % 4), .output_type = (mona_type)(k / 8)};
        compiler *c = open_good(resize_net("nearest", "asymmetric", NULL, 2));
        const bool bytes = options.int8 && options.input_type == MONA_S8;
        reference_array in = image(1, 14, 22);
        format_error error = {0};
        uint8_t *made;
        size_t size;
        if (options.output_type == MONA_S8 && !bytes) {
            assert_true(compiler_calibrate(c, &in, &error));
            assert_false(compiler_emit(c, &options, &made, &size, &error));
            assert_non_null(strstr(error.text, "cannot be stored as s8"));
        } else {
            assert_true(difference_on(c, &options, &in) < 0.005);
        }
        free(in.data);
        compiler_close(c);
    }
}

static void smooth_rules_follow_the_judge(void **state)
{
    (void)state;
    static const char *const modes[] = {"linear", "cubic"};
    static const char *const coordinates[] = {"half_pixel", "asymmetric", "align_corners",
                                              "pytorch_half_pixel"};
    static const float scales[] = {2, 3, 0.5f, 1.5f};
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 4; k++)
            for (int s = 0; s < 4; s++)
                assert_true(half_difference(resize_net(modes[m], coordinates[k], NULL, scales[s]),
                                            12, 20) < 1e-3);
}

static void sizes_and_old_forms_resize_too(void **state)
{
    (void)state;
    const float scales[4] = {1, 1, 2, 3};
    onnx_builder *b = ob_new(13);
    ob_input(b, "plane", 1, 10, 14);
    ob_numbers(b, "sizes", "1 1 15 7");
    ob_string(b, ob_node(b, "Resize", "plane - - sizes", "y"), "mode", "linear");
    ob_output(b, "y");
    assert_true(half_difference(b, 10, 14) < 1e-3);
    b = ob_new(9);
    ob_input(b, "plane", 1, 0, 0);
    ob_constant(b, "scales", "4", scales);
    ob_node(b, "Upsample", "plane scales", "y");
    ob_output(b, "y");
    assert_true(half_difference(b, 5, 6) < 1e-3);
    b = ob_new(10);
    ob_input(b, "plane", 1, 0, 0);
    ob_constant(b, "scales", "4", scales);
    ob_string(b, ob_node(b, "Resize", "plane scales", "y"), "mode", "linear");
    ob_output(b, "y");
    assert_true(half_difference(b, 5, 6) < 1e-3);
}

/* 17x23 for 34x40: by 40/23, to 30x40, although 40/23 of 17 rows are 29.6. */
static void a_kept_aspect_ratio_is_one_scale(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(18);
    ob_input(b, "plane", 1, 17, 23);
    ob_numbers(b, "sizes", "34 40");
    Onnx__NodeProto *n = ob_node(b, "Resize", "plane - - sizes", "y");
    ob_ints(b, n, "axes", "2 3");
    ob_string(b, n, "mode", "linear");
    ob_string(b, n, "keep_aspect_ratio_policy", "not_larger");
    ob_output(b, "y");
    assert_true(half_difference(b, 17, 23) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_pass_unchanged),
        cmocka_unit_test(tiny_negatives_need_no_sign),
        cmocka_unit_test(wide_samples_pass_unchanged),
        cmocka_unit_test(weights_are_kept),
        cmocka_unit_test(a_dead_channel_keeps_its_bias),
        cmocka_unit_test(int8_without_calibration_is_refused),
        cmocka_unit_test(weights_beyond_scales_of_fp16_are_refused),
        cmocka_unit_test(int8_follows_the_judge),
        cmocka_unit_test(precisions_mix),
        cmocka_unit_test(planes_of_all_types),
        cmocka_unit_test(every_nearest_rule_is_exact),
        cmocka_unit_test(smooth_rules_follow_the_judge),
        cmocka_unit_test(sizes_and_old_forms_resize_too),
        cmocka_unit_test(a_kept_aspect_ratio_is_one_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
