/* The offline compiler: import, passes, the fp32 judge, lowering and quantisation. Compiled models
 * run on the engine and are compared with the judge; the judge's convolution is compared with a sum
 * written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/compiler/compiler.h"
#include "formats/half.h"
#include "onnx_builder.h"
#include "pipeline/bound.h"

/* ---- helpers ------------------------------------------------------------------------------ */

static uint32_t seed;

/* Uniform in [-1, 1). */
static float noise(void)
{
    seed = seed * 1664525 + 1013904223;
    return (float)(seed >> 8) / (1 << 23) - 1;
}

static float *noises(onnx_builder *b, size_t count, float scale)
{
    float *data = ob_alloc(b, count * sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = noise() * scale;
    return data;
}

/* A 3x3 convolution with random weights and bias, followed by nothing. */
static Onnx__NodeProto *add_conv(onnx_builder *b, const char *x, const char *y, int inputs,
                                 int outputs)
{
    char dims[64], names[128], w[32], bias[32];
    snprintf(w, sizeof w, "%s.w", y);
    snprintf(bias, sizeof bias, "%s.b", y);
    snprintf(names, sizeof names, "%s %s %s", x, w, bias);
    snprintf(dims, sizeof dims, "%d %d 3 3", outputs, inputs);
    ob_constant(b, w, dims, noises(b, (size_t)(9 * inputs * outputs), 1 / sqrtf(9.0f * inputs)));
    snprintf(dims, sizeof dims, "%d", outputs);
    ob_constant(b, bias, dims, noises(b, (size_t)outputs, 0.1f));
    Onnx__NodeProto *n = ob_node(b, "Conv", names, y);
    ob_ints(b, n, "pads", "1 1 1 1");
    return n;
}

static compiler *open_builder(onnx_builder *b, format_error *error)
{
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    compiler *c = compiler_open(bytes, size, error);
    free(bytes);
    ob_free(b);
    return c;
}

static compiler *open_good(onnx_builder *b)
{
    format_error error = {0};
    compiler *c = open_builder(b, &error);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

/* Samples of 8 bits, as real values. */
static reference_array image(uint32_t channels, uint32_t height, uint32_t width)
{
    reference_array a = {channels, height, width,
                         malloc((size_t)channels * height * width * sizeof(float))};
    for (size_t i = 0; i < (size_t)channels * height * width; i++)
        a.data[i] = (float)((int)(noise() * 128 + 128) & 255) / 255;
    return a;
}

static void make_inputs(const compiler *c, uint32_t height, uint32_t width, reference_array *inputs)
{
    for (unsigned i = 0; i < compiler_input_count(c); i++) {
        const compiler_tensor t = compiler_input(c, i);
        inputs[i] = image(t.channels, t.height ? t.height : height, t.width ? t.width : width);
    }
}

static void free_arrays(reference_array *arrays, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        free(arrays[i].data);
}

static double get(const mona_tensor_info *t, const void *data, size_t i)
{
    switch (t->type) {
    case MONA_U8: return (double)t->scale * ((const uint8_t *)data)[i];
    case MONA_S8: return (double)t->scale * ((const int8_t *)data)[i];
    case MONA_U16: return (double)t->scale * ((const uint16_t *)data)[i];
    case MONA_F16: return half_value(((const uint16_t *)data)[i]);
    case MONA_TYPE_COUNT: break;
    }
    return 0;
}

static void put(const mona_tensor_info *t, void *data, size_t i, double value)
{
    const double q = nearbyint(value / (double)t->scale);
    if (t->type == MONA_F16)
        ((uint16_t *)data)[i] = half_from_double(value);
    else if (t->type == MONA_U16)
        ((uint16_t *)data)[i] = (uint16_t)q;
    else
        ((uint8_t *)data)[i] = (uint8_t)(int)q;
}

static size_t count_of(const mona_tensor_info *t)
{
    return (size_t)t->channels * t->height * t->width;
}

static mona_buffer make_buffer(const mona_tensor_info *t)
{
    const size_t row = t->width * mona_type_size(t->type);
    return (mona_buffer){calloc(count_of(t), mona_type_size(t->type)), (ptrdiff_t)row,
                         (ptrdiff_t)(row * t->height)};
}

/* Runs a model; outputs get real values and the shapes found. */
static void run_engine(const uint8_t *bytes, size_t size, const reference_array *inputs,
                       reference_array *outputs)
{
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const unsigned in_count = mona_model_input_count(&model);
    const unsigned out_count = mona_model_output_count(&model);
    mona_config config = {.threads = 1};
    for (unsigned i = 0; i < in_count; i++)
        config.sizes[i] = (mona_size){inputs[i].width, inputs[i].height};
    bound_model bound;
    pipeline_error error = {{0}};
    if (!bound_open(&bound, &model, "test", &config, &error))
        fail_msg("%s", error.text);
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    for (unsigned i = 0; i < in_count; i++) {
        const mona_tensor_info t = mona_plan_input(bound.plan, i);
        in[i] = make_buffer(&t);
        for (size_t k = 0; k < count_of(&t); k++)
            put(&t, in[i].data, k, (double)inputs[i].data[k]);
    }
    for (unsigned i = 0; i < out_count; i++) {
        const mona_tensor_info t = mona_plan_output(bound.plan, i);
        out[i] = make_buffer(&t);
    }
    assert_int_equal(mona_session_run(bound.session, in, out), MONA_OK);
    for (unsigned i = 0; i < out_count; i++) {
        const mona_tensor_info t = mona_plan_output(bound.plan, i);
        outputs[i] =
            (reference_array){t.channels, t.height, t.width, malloc(count_of(&t) * sizeof(float))};
        for (size_t k = 0; k < count_of(&t); k++)
            outputs[i].data[k] = (float)get(&t, out[i].data, k);
        free(out[i].data);
    }
    for (unsigned i = 0; i < in_count; i++)
        free(in[i].data);
    bound_close(&bound);
}

static double largest_difference(const reference_array *a, const reference_array *b)
{
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    double most = 0;
    for (size_t i = 0; i < (size_t)a->channels * a->height * a->width; i++)
        most = fmax(most, fabs((double)a->data[i] - (double)b->data[i]));
    return most;
}

static void run_reference(const compiler *c, const reference_array *inputs,
                          reference_array *outputs)
{
    format_error error = {0};
    if (!compiler_reference(c, inputs, outputs, &error))
        fail_msg("%s", error.text);
}

static void emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size)
{
    format_error error = {0};
    if (!compiler_emit(c, options, bytes, size, &error))
        fail_msg("%s", error.text);
}

/* Compiles with the options and returns the largest difference between engine and judge over all
 * outputs. The judge also runs before and after the passes, which must not change the function. */
static double difference(compiler *c, const compiler_options *options, uint32_t height,
                         uint32_t width)
{
    reference_array inputs[MONA_MAX_IO], before[MONA_MAX_IO], after[MONA_MAX_IO],
        found[MONA_MAX_IO];
    const unsigned outputs = compiler_output_count(c);
    uint8_t *bytes;
    size_t size;
    make_inputs(c, height, width, inputs);
    run_reference(c, inputs, before);
    format_error error = {0};
    assert_true(!options->int8 || compiler_calibrate(c, inputs, &error));
    emit(c, options, &bytes, &size);
    run_reference(c, inputs, after);
    run_engine(bytes, size, inputs, found);
    double most = 0;
    for (unsigned i = 0; i < outputs; i++) {
        assert_true(largest_difference(&before[i], &after[i]) < 1e-5);
        most = fmax(most, largest_difference(&before[i], &found[i]));
    }
    free(bytes);
    free_arrays(inputs, compiler_input_count(c));
    free_arrays(before, outputs);
    free_arrays(after, outputs);
    free_arrays(found, outputs);
    return most;
}

static const compiler_options half_planes = {.has_input_type = true,
                                             .input_type = MONA_F16,
                                             .has_output_type = true,
                                             .output_type = MONA_F16};

/* Largest difference of the graph, as FP16 with planes of f16, at an odd size. */
static double half_difference(onnx_builder *b, uint32_t height, uint32_t width)
{
    compiler *c = open_good(b);
    const double d = difference(c, &half_planes, height, width);
    compiler_close(c);
    return d;
}

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

static void add_batch_norm(onnx_builder *b, const char *x, const char *y, int channels)
{
    char dims[16], names[128] = "", name[32];
    static const char *const parts[] = {"scale", "bias", "mean", "var"};
    snprintf(dims, sizeof dims, "%d", channels);
    snprintf(names, sizeof names, "%s", x);
    for (int i = 0; i < 4; i++) {
        float *data = noises(b, (size_t)channels, 0.5f);
        for (int c = 0; c < channels; c++)
            data[c] += i == 0 || i == 3 ? 1 : 0;
        snprintf(name, sizeof name, "%s.%s", y, parts[i]);
        ob_constant(b, name, dims, data);
        strcat(strcat(names, " "), name);
    }
    ob_float(b, ob_node(b, "BatchNormalization", names, y), "epsilon", 1e-3f);
}

static unsigned operators_of(compiler *c, const compiler_options *options)
{
    uint8_t *bytes;
    size_t size;
    mona_model model;
    emit(c, options, &bytes, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const unsigned count = model.header->op_count;
    free(bytes);
    return count;
}

/* Conv, BN, Relu; Conv, BN, + skip, Relu; Conv, PRelu: three fused convolutions, LOAD and STORE. */
static onnx_builder *residual_net(void)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "a", 3, 8);
    add_batch_norm(b, "a", "an", 8);
    ob_node(b, "Relu", "an", "ar");
    add_conv(b, "ar", "c", 8, 8);
    add_batch_norm(b, "c", "cn", 8);
    ob_node(b, "Add", "cn ar", "s");
    ob_node(b, "Relu", "s", "sr");
    add_conv(b, "sr", "d", 8, 5);
    ob_constant(b, "slope", "5 1 1", noises(b, 5, 0.4f));
    ob_node(b, "PRelu", "d slope", "y");
    ob_output(b, "y");
    return b;
}

static void everything_is_fused(void **state)
{
    (void)state;
    compiler *c = open_good(residual_net());
    assert_int_equal(operators_of(c, &half_planes), 5);
    assert_true(difference(c, &half_planes, 19, 23) < 0.01);
    compiler_close(c);
}

static void int8_follows_the_judge(void **state)
{
    (void)state;
    compiler *c = open_good(residual_net());
    const compiler_options options = {.int8 = true};
    assert_true(difference(c, &options, 31, 37) < 0.12);
    compiler_close(c);
}

static void activations_and_sums_keep_their_order(void **state)
{
    (void)state;
    /* Relu before the sum, Clip after it; LeakyRelu of a value that others read; x + x; 1 channel.
     */
    onnx_builder *b = ob_new(13);
    const float bounds[2] = {-0.25f, 0.75f};
    ob_input(b, "x", 1, 0, 0);
    ob_constant(b, "low", "", &bounds[0]);
    ob_constant(b, "high", "", &bounds[1]);
    add_conv(b, "x", "a", 1, 6);
    ob_node(b, "Relu", "a", "ar");
    add_conv(b, "ar", "c", 6, 6);
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
    const compiler_options options = {.int8 = true};
    assert_true(difference(c, &options, 20, 21) < 0.06);
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

/* y at full size and u, v at half size, packed, corrected and taken apart again. */
static onnx_builder *packed_net(void)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "y", 1, 0, 0);
    ob_input(b, "u", 1, 0, 0);
    ob_input(b, "noise", 1, 0, 0);
    ob_int(b, ob_node(b, "SpaceToDepth", "y", "quarters"), "blocksize", 2);
    ob_int(b, ob_node(b, "Concat", "quarters u noise", "packed"), "axis", 1);
    ob_numbers(b, "zero", "0");
    ob_numbers(b, "one", "1");
    ob_numbers(b, "four", "4");
    ob_numbers(b, "five", "5");
    ob_numbers(b, "end", "9223372036854775807");
    ob_node(b, "Slice", "packed zero five one", "planes");
    Onnx__NodeProto *n = add_conv(b, "packed", "a", 6, 5);
    (void)n;
    ob_node(b, "Add", "a planes", "sum");
    ob_node(b, "Slice", "sum zero four one", "ys");
    n = ob_node(b, "DepthToSpace", "ys", "y_out");
    ob_int(b, n, "blocksize", 2);
    ob_string(b, n, "mode", "CRD");
    ob_node(b, "Slice", "sum four end one", "u_out");
    ob_output(b, "y_out");
    ob_output(b, "u_out");
    return b;
}

static void make_packed(reference_array *inputs)
{
    inputs[0] = image(1, 12, 16);
    inputs[1] = image(1, 6, 8);
    inputs[2] = image(1, 6, 8);
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

/* ---- exactness ---------------------------------------------------------------------------- */

/* A network that corrects nothing returns the bytes it got, in INT8 and in FP16. */
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
    const compiler_options options = {.has_input_type = true,
                                      .input_type = MONA_U16,
                                      .has_output_type = true,
                                      .output_type = MONA_U16};
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

/* Weights, step by step: q * step is within half a step but where a plane's sum needed a move, sums
 * of planes are kept to half a step, and scale16 is what the step was derived from. */
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
    emit(c, &(compiler_options){.int8 = true}, &bytes, &size);
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const mona_file_op *op = &model.ops[1];
    assert_int_equal(op->kind, MONA_OP_CONV);
    const int8_t *q = (const int8_t *)(model.data + op->conv.weights);
    const uint16_t *scales = (const uint16_t *)(const void *)(model.data + op->conv.scales);
    const double in_step = (double)model.tensors[op->inputs[0]].scale;
    const double out_step = (double)model.tensors[op->output].scale;
    for (int o = 0; o < OUTPUTS; o++) {
        const double step = half_value(scales[o]) * out_step / in_step;
        for (int i = 0; i < INPUTS; i++) {
            double error_sum = 0;
            for (int k = 0; k < 9; k++) {
                const int at = (o * INPUTS + i) * 9 + k;
                const double e = (double)weights[at] / step - q[at];
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
    const compiler_options options = {.int8 = true};
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
    assert_false(compiler_emit(c, &(compiler_options){.int8 = true}, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "calibrate"));
    compiler_close(c);
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
                const compiler_options options = {.int8 = true};
                assert_true(difference(c, &options, 12, 20) < 1e-6);
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

/* ---- refusals ----------------------------------------------------------------------------- */

static void refused(onnx_builder *b, const char *expected)
{
    format_error error = {0};
    compiler *c = open_builder(b, &error);
    uint8_t *bytes = NULL;
    size_t size;
    const bool ok = c && compiler_emit(c, &half_planes, &bytes, &size, &error);
    compiler_close(c);
    free(bytes);
    if (ok)
        fail_msg("accepted, expected: %s", expected);
    if (!strstr(error.text, expected))
        fail_msg("'%s' does not say '%s'", error.text, expected);
}

/* A model of one node from x (4 channels, any size) to y. */
static onnx_builder *one_node(const char *op_type, const char *inputs, Onnx__NodeProto **node)
{
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 4, 0, 0);
    *node = ob_node(b, op_type, inputs, "y");
    ob_output(b, "y");
    return b;
}

static void unsupported_models_are_refused_by_name(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    const float ones[36] = {1}, infinite[36] = {INFINITY};
    refused(one_node("Softmax", "x", &n),
            "node 'y' (Softmax) is not supported; supported are Add,");
    refused(one_node("Relu", "z", &n), "reads 'z', which nothing before it makes");
    refused(one_node("Conv", "x x", &n), "has computed weights");
    onnx_builder *b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 3 3 3", ones);
    refused(b, "its input has 4 channels");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3 3", infinite);
    refused(b, "infinite or not a number");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3", ones);
    refused(b, "has weights with 3 sides");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3 3", ones);
    ob_ints(b, n, "strides", "64 1");
    refused(b, "has strides 64; supported are 1 to 63");
    b = one_node("Conv", "x w", &n);
    ob_constant(b, "w", "1 4 3 3", ones);
    ob_ints(b, n, "pads", "-1 0 0 0");
    refused(b, "pads by -1");
    b = one_node("DepthToSpace", "x", &n);
    ob_int(b, n, "blocksize", 3);
    refused(b, "cannot rearrange 4 channels");
    b = one_node("Concat", "x x", &n);
    ob_int(b, n, "axis", 2);
    refused(b, "along axis 2");
    refused(one_node("Transpose", "x", &n), "only after a Reshape");
    b = one_node("Relu", "x", &n);
    n->domain = ob_text(b, "com.example");
    refused(b, "operator set 'com.example'");
    b = one_node("Relu", "x", &n);
    b->graph.n_input = 0;
    refused(b, "no inputs");
    b = one_node("Relu", "x", &n);
    b->graph.n_output = 0;
    refused(b, "0 outputs");
    b = one_node("Relu", "x", &n);
    b->model.n_opset_import = 0;
    refused(b, "no ONNX operator set");
    b = one_node("Relu", "x", &n);
    ob_node(b, "Relu", "x", "y");
    refused(b, "'y' is made twice");
    b = one_node("Relu", "x", &n);
    b->inputs[0]->type->tensor_type->shape->n_dim = 2;
    refused(b, "input 'x' has not the shape");
    b = one_node("SpaceToDepth", "x", &n);
    ob_int(b, n, "blocksize", 2);
    refused(b, "rearranges several channels depth first");
    b = one_node("BatchNormalization", "x s s s", &n);
    ob_constant(b, "s", "4", ones);
    refused(b, "needs constants of 4 elements");
    b = one_node("Clip", "x high low", &n);
    ob_constant(b, "high", "", &(float){1});
    ob_constant(b, "low", "", &(float){0});
    refused(b, "the lower is above the upper");
}

static void fuzzed_models_never_crash_the_compiler(void **state)
{
    (void)state;
    onnx_builder *b = packed_net();
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    ob_free(b);
    seed = 1;
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (unsigned k = 0; k < 1 + round % 3; k++) {
            noise();
            const uint32_t at = seed >> 8;
            noise();
            copy[at % size] = (uint8_t)(seed >> 24);
        }
        format_error error = {0};
        compiler *c = compiler_open(copy, size, &error);
        uint8_t *model_bytes = NULL;
        size_t model_size;
        mona_model model;
        if (c && compiler_emit(c, &half_planes, &model_bytes, &model_size, &error))
            (void)mona_model_open(&model, model_bytes, model_size);
        else
            assert_true(error.text[0]);
        free(model_bytes);
        compiler_close(c);
        free(copy);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_judge_convolves),
        cmocka_unit_test(everything_is_fused),
        cmocka_unit_test(int8_follows_the_judge),
        cmocka_unit_test(activations_and_sums_keep_their_order),
        cmocka_unit_test(affine_folds_both_ways),
        cmocka_unit_test(depth_to_space_in_every_form),
        cmocka_unit_test(planes_are_packed_and_taken_apart),
        cmocka_unit_test(samples_pass_unchanged),
        cmocka_unit_test(wide_samples_pass_unchanged),
        cmocka_unit_test(weights_are_kept),
        cmocka_unit_test(a_dead_channel_keeps_its_bias),
        cmocka_unit_test(int8_without_calibration_is_refused),
        cmocka_unit_test(every_nearest_rule_is_exact),
        cmocka_unit_test(smooth_rules_follow_the_judge),
        cmocka_unit_test(sizes_and_old_forms_resize_too),
        cmocka_unit_test(unsupported_models_are_refused_by_name),
        cmocka_unit_test(fuzzed_models_never_crash_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
