// SPDX-License-Identifier: Apache-2.0
/* Shared by the compiler's tests: small networks, runs on the engine and the judge, and their
 * difference. */
#ifndef MONA_TESTS_COMPILER_CHECK_H
#define MONA_TESTS_COMPILER_CHECK_H

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
#include "formats/compiler/graph/graph.h"
#include "formats/element.h"
#include "engine/model_format.h"
#include "tests/unit/onnx_builder.h"
#include "tests/unit/modelled_check.h"
#include "pipeline/stages/session_binding.h"

static uint32_t seed;

/* Uniform in [-1, 1). */
static inline float noise(void)
{
    seed = seed * 1664525 + 1013904223;
    return (float)(seed >> 8) / (1 << 23) - 1;
}

static inline float *noises(onnx_builder *b, size_t count, float scale)
{
    float *data = ob_alloc(b, count * sizeof *data);
    for (size_t i = 0; i < count; i++)
        data[i] = noise() * scale;
    return data;
}

/* A 3x3 convolution with random weights and bias, followed by nothing. */
static inline Onnx__NodeProto *add_conv(onnx_builder *b, const char *x, const char *y, int inputs,
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

/* A small network with every kind of operator except depth-to-space by itself. */
static inline onnx_builder *small_net(void)
{
    const float scales[4] = {1, 1, 2, 2};
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 1, 0, 0);
    add_conv(b, "x", "a", 1, 2);
    ob_float(b, ob_node(b, "LeakyRelu", "a", "l"), "alpha", 0.25f);
    add_conv(b, "l", "c", 2, 2);
    ob_node(b, "Add", "c l", "s");
    ob_node(b, "Mul", "s x", "m");
    ob_node(b, "Add", "m l", "n");
    Onnx__NodeProto *pool = ob_node(b, "MaxPool", "n", "p");
    ob_ints(b, pool, "kernel_shape", "2 3");
    ob_ints(b, pool, "pads", "1 1 0 1");
    ob_ints(b, ob_node(b, "AveragePool", "p", "q"), "kernel_shape", "2 1");
    ob_constant(b, "scales", "4", scales);
    ob_string(b, ob_node(b, "Resize", "q - scales", "y"), "mode", "linear");
    ob_output(b, "y");
    return b;
}

static inline compiler *open_builder(onnx_builder *b, format_error *error)
{
    size_t size;
    uint8_t *bytes = ob_pack(b, &size);
    compiler *c = compiler_open(bytes, size, NULL, error);
    free(bytes);
    ob_free(b);
    return c;
}

static inline compiler *open_good(onnx_builder *b)
{
    format_error error = {0};
    compiler *c = open_builder(b, &error);
    if (!c)
        fail_msg("%s", error.text);
    return c;
}

/* A model whose error has this text. */
static inline void refuses(onnx_builder *b, const char *text)
{
    format_error error = {0};
    compiler *c = open_builder(b, &error);
    assert_null(c);
    if (!strstr(error.text, text))
        fail_msg("'%s' does not contain '%s'", error.text, text);
}

/* Samples of 8 bits, as real values. */
static inline reference_array image(uint32_t channels, uint32_t height, uint32_t width)
{
    reference_array a = {channels, height, width,
                         malloc((size_t)channels * height * width * sizeof(float))};
    for (size_t i = 0; i < (size_t)channels * height * width; i++)
        a.data[i] = (float)((int)(noise() * 128 + 128) & 255) / 255;
    return a;
}

static inline void make_inputs(const compiler *c, uint32_t height, uint32_t width,
                               reference_array *inputs)
{
    for (unsigned i = 0; i < compiler_input_count(c); i++) {
        const compiler_tensor t = compiler_input(c, i);
        inputs[i] = image(t.channels, t.height ? t.height : height, t.width ? t.width : width);
    }
}

static inline void free_arrays(reference_array *arrays, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        free(arrays[i].data);
}

static inline double get(const mona_tensor_info *t, const void *data, size_t i)
{
    switch (t->type) {
    case MONA_U8:
        return (double)t->scale * ((const uint8_t *)data)[i];
    case MONA_S8:
        return (double)t->scale * ((const int8_t *)data)[i];
    case MONA_U16:
        return (double)t->scale * ((const uint16_t *)data)[i];
    case MONA_F16:
        return half_value(((const uint16_t *)data)[i]);
    case MONA_F32:
        return (double)((const float *)data)[i];
    default: /* of arrays alone */
        break;
    }
    return 0;
}

static inline void put(const mona_tensor_info *t, void *data, size_t i, double value)
{
    const double q = nearbyint(value / (double)t->scale);
    if (t->type == MONA_F16)
        ((uint16_t *)data)[i] = half_from_double(value);
    else if (t->type == MONA_U16)
        ((uint16_t *)data)[i] = (uint16_t)q;
    else
        ((uint8_t *)data)[i] = (uint8_t)(int)q;
}

static inline size_t count_of(const mona_tensor_info *t)
{
    return (size_t)t->channels * t->height * t->width;
}

static inline mona_buffer make_buffer(const mona_tensor_info *t)
{
    const size_t row = t->width * mona_type_size(t->type);
    return (mona_buffer){calloc(count_of(t), mona_type_size(t->type)), (ptrdiff_t)row,
                         (ptrdiff_t)(row * t->height)};
}

/* Runs a model; outputs get real values and the resulting shapes. how: everything except sizes. */
static inline void run_engine_as(const uint8_t *bytes, size_t size, const mona_config *how,
                                 const reference_array *inputs, reference_array *outputs)
{
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    const unsigned in_count = mona_model_input_count(&model);
    const unsigned out_count = mona_model_output_count(&model);
    mona_config config = *how;
    for (unsigned i = 0; i < in_count; i++)
        config.sizes[i] = (mona_size){inputs[i].width, inputs[i].height};
    session_binding bound;
    pipeline_error error = {0};
    if (!session_binding_open(&bound, &model, "test", &config, &error))
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
    assert_nothing_found(bound.session);
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
    session_binding_close(&bound);
}

static inline void run_engine(const uint8_t *bytes, size_t size, const reference_array *inputs,
                              reference_array *outputs)
{
    run_engine_as(bytes, size, &(mona_config){.threads = 1}, inputs, outputs);
}

static inline double largest_difference(const reference_array *a, const reference_array *b)
{
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    double most = 0;
    for (size_t i = 0; i < (size_t)a->channels * a->height * a->width; i++)
        most = fmax(most, fabs((double)a->data[i] - (double)b->data[i]));
    return most;
}

static inline void run_reference(const compiler *c, const reference_array *inputs,
                                 reference_array *outputs)
{
    format_error error = {0};
    if (!compiler_reference(c, inputs, outputs, &error))
        fail_msg("%s", error.text);
}

/* The passes have kept count of who reads what. */
static inline void check_uses(const graph *g)
{
    graph copy;
    assert_true(graph_copy(&copy, g));
    graph_count_uses(&copy);
    for (uint32_t i = 0; i < g->value_count; i++)
        assert_int_equal(g->values[i].uses, copy.values[i].uses);
    graph_free(&copy);
}

static inline void emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size)
{
    format_error error = {0};
    if (!compiler_emit(c, options, bytes, size, &error))
        fail_msg("%s", error.text);
    check_uses(compiler_graph(c, true));
}

/* Compiles with the options and returns the largest difference between engine and judge over all
 * outputs. */
static inline double difference_on(compiler *c, const compiler_options *options,
                                   const reference_array *inputs)
{
    reference_array expected[MONA_MAX_IO], found[MONA_MAX_IO];
    const unsigned outputs = compiler_output_count(c);
    uint8_t *bytes;
    size_t size;
    run_reference(c, inputs, expected);
    format_error error = {0};
    assert_true(!options->int8 || compiler_calibrate(c, inputs, &error));
    emit(c, options, &bytes, &size);
    run_engine(bytes, size, inputs, found);
    double most = 0;
    for (unsigned i = 0; i < outputs; i++)
        most = fmax(most, largest_difference(&expected[i], &found[i]));
    free(bytes);
    free_arrays(expected, outputs);
    free_arrays(found, outputs);
    return most;
}

static inline double difference(compiler *c, const compiler_options *options, uint32_t height,
                                uint32_t width)
{
    reference_array inputs[MONA_MAX_IO];
    make_inputs(c, height, width, inputs);
    const double most = difference_on(c, options, inputs);
    free_arrays(inputs, compiler_input_count(c));
    return most;
}

static const compiler_options half_planes = {COMPILER_FLOATS};

/* However many cores and rows, in portable C, and on the modelled chip. */
static inline void check_one_result(compiler *c, const compiler_options *options, uint32_t height,
                                    uint32_t width)
{
    const mona_config configs[] = {
        {.threads = 1, .strip_rows = 1},   {.threads = 2},
        {.threads = 1, .tile_columns = 7}, {.cpu = "c"},
        {.device = &mona_device_model310}, {.device = &mona_device_model310, .strip_rows = 12}};
    format_error error = {0};
    reference_array input, found[2];
    uint8_t *bytes;
    size_t size;
    make_inputs(c, height, width, &input);
    assert_true(compiler_calibrate(c, &input, &error));
    emit(c, options, &bytes, &size);
    run_engine(bytes, size, &input, &found[0]);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        run_engine_as(bytes, size, &configs[i], &input, &found[1]);
        if (largest_difference(&found[0], &found[1]) > 0)
            fail_msg("configuration %zu differs (INT8: %d)", i, options->int8);
        free(found[1].data);
    }
    free(found[0].data);
    free(input.data);
    free(bytes);
}

/* The largest difference for the graph in FP16 with f16 planes, at an odd size. */
static inline double half_difference(onnx_builder *b, uint32_t height, uint32_t width)
{
    compiler *c = open_good(b);
    const double d = difference(c, &half_planes, height, width);
    compiler_close(c);
    return d;
}

static inline void add_batch_norm(onnx_builder *b, const char *x, const char *y, int channels)
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

static inline unsigned operators_of(compiler *c, const compiler_options *options)
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
static inline onnx_builder *residual_net(void)
{
    seed = 3;
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

/* y at full size, u and v at half size: packed, corrected and separated again. */
static inline onnx_builder *packed_net(void)
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

static inline void make_packed(reference_array *inputs)
{
    inputs[0] = image(1, 12, 16);
    inputs[1] = image(1, 6, 8);
    inputs[2] = image(1, 6, 8);
}

#endif
