// SPDX-License-Identifier: Apache-2.0
/* Activations that are functions: each becomes part of the convolution before it, however the
 * exporter wrote it, and no array is needed. */
#include "tests/unit/compiler_check.h"

#include "formats/compiler/quantize/quantize.h"
#include "tests/unit/recorded.h"

/* Writes the activation of "c" to "a". */
typedef void write_function(onnx_builder *b);

static void number(onnx_builder *b, const char *name, float value)
{
    ob_constant(b, name, "", &value);
}

static void write_sigmoid(onnx_builder *b)
{
    ob_node(b, "Sigmoid", "c", "a");
}

static void write_silu(onnx_builder *b)
{
    ob_node(b, "Sigmoid", "c", "gate");
    ob_node(b, "Mul", "gate c", "a");
}

static void write_hard_sigmoid(onnx_builder *b)
{
    ob_float(b, ob_node(b, "HardSigmoid", "c", "a"), "alpha", 1.0f / 6);
}

static void write_hard_swish(onnx_builder *b)
{
    ob_node(b, "HardSwish", "c", "a");
}

static void write_hard_swish_by_gate(onnx_builder *b)
{
    ob_float(b, ob_node(b, "HardSigmoid", "c", "gate"), "alpha", 1.0f / 6);
    ob_node(b, "Mul", "c gate", "a");
}

static void write_hard_swish_by_clip(onnx_builder *b)
{
    number(b, "three", 3), number(b, "zero", 0), number(b, "six", 6);
    ob_node(b, "Add", "c three", "shifted");
    ob_node(b, "Clip", "shifted zero six", "clipped");
    ob_node(b, "Mul", "c clipped", "product");
    ob_node(b, "Div", "product six", "a");
}

static void write_tanh(onnx_builder *b)
{
    ob_node(b, "Tanh", "c", "a");
}

static void write_gelu(onnx_builder *b)
{
    number(b, "root", sqrtf(2)), number(b, "one", 1), number(b, "half", 0.5f);
    ob_node(b, "Div", "c root", "scaled");
    ob_node(b, "Erf", "scaled", "erf");
    ob_node(b, "Add", "erf one", "sum");
    ob_node(b, "Mul", "c sum", "product");
    ob_node(b, "Mul", "product half", "a");
}

static void write_gelu_tanh(onnx_builder *b)
{
    number(b, "root", 0.7978845608f), number(b, "one", 1), number(b, "half", 0.5f);
    number(b, "cubic", 0.044715f), number(b, "exponent", 3);
    ob_node(b, "Pow", "c exponent", "cube");
    ob_node(b, "Mul", "cube cubic", "part");
    ob_node(b, "Add", "c part", "inner");
    ob_node(b, "Mul", "inner root", "scaled");
    ob_node(b, "Tanh", "scaled", "tanh");
    ob_node(b, "Add", "one tanh", "sum");
    ob_node(b, "Mul", "c half", "halved");
    ob_node(b, "Mul", "halved sum", "a");
}

static void write_mish(onnx_builder *b)
{
    ob_node(b, "Softplus", "c", "soft");
    ob_node(b, "Tanh", "soft", "gate");
    ob_node(b, "Mul", "c gate", "a");
}

static void write_elu(onnx_builder *b)
{
    ob_float(b, ob_node(b, "Elu", "c", "a"), "alpha", 0.5f);
}

static void write_softplus(onnx_builder *b)
{
    ob_node(b, "Softplus", "c", "a");
}

static const struct {
    const char *name;
    write_function *write;
} functions[] = {
    {"sigmoid", write_sigmoid},
    {"silu", write_silu},
    {"hard sigmoid", write_hard_sigmoid},
    {"hard swish", write_hard_swish},
    {"hard swish by its gate", write_hard_swish_by_gate},
    {"hard swish by a clip", write_hard_swish_by_clip},
    {"tanh", write_tanh},
    {"gelu", write_gelu},
    {"gelu by tanh", write_gelu_tanh},
    {"mish", write_mish},
    {"elu", write_elu},
    {"softplus", write_softplus},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* A convolution with results of about -6 to 6, the function, and another convolution. */
static onnx_builder *net_of(write_function *write, int channels)
{
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    char dims[32];
    snprintf(dims, sizeof dims, "%d 3 1 1", channels);
    ob_constant(b, "w", dims, noises(b, (size_t)channels * 3, 4));
    snprintf(dims, sizeof dims, "%d", channels);
    ob_constant(b, "bias", dims, noises(b, (size_t)channels, 2));
    ob_node(b, "Conv", "x w bias", "c");
    write(b);
    add_conv(b, "a", "y", channels, 4);
    ob_output(b, "y");
    return b;
}

/* LOAD, two convolutions and STORE; difference from the judge below `most`. */
static void check(size_t f, const compiler_options *o, int channels, double most)
{
    compiler *c = open_good(net_of(functions[f].write, channels));
    const double d = difference(c, o, 9, 13);
    assert_false(compiler_has_arrays(c));
    if (d > most || operators_of(c, o) != 4)
        fail_msg("%s: differs by %g, %u operators", functions[f].name, d, operators_of(c, o));
    compiler_close(c);
}

static void functions_join_fp16_convolutions(void **state)
{
    (void)state;
    seed = 5;
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (int channels = 7; channels <= 32; channels += 25)
            check(f, &half_planes, channels, 0.012);
}

static void functions_join_int8_convolutions(void **state)
{
    (void)state;
    seed = 6;
    const compiler_options int8 = {.int8 = true, .output_type = MONA_S8};
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (int channels = 7; channels <= 32; channels += 25)
            check(f, &int8, channels, 0.12);
}

/* Functions are part of AI Core programs, too. */
static void check_program(const uint8_t *bytes, size_t size, mona_size frame,
                          const reference_array *input, const reference_array *expected)
{
    const mona_config modelled = {.device = &mona_device_model310};
    mona_model model;
    size_t file_size;
    reference_array found;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    uint8_t *file = recorded_file(&model, frame, &file_size);
    run_engine_as(file, file_size, &modelled, input, &found);
    assert_true(largest_difference(expected, &found) == 0);
    free(found.data), free(file);
}

/* Other instruction sets, model310 and a program make the same bytes. */
static void check_targets(compiler *c, const compiler_options *o, uint32_t height, uint32_t width)
{
    reference_array input, found;
    uint8_t *bytes;
    size_t size;
    check_one_result(c, o, height, width);
    make_inputs(c, height, width, &input);
    emit(c, o, &bytes, &size);
    run_engine(bytes, size, &input, &found);
    check_program(bytes, size, (mona_size){width, height}, &input, &found);
    free(found.data);
    free(input.data);
    free(bytes);
}

static void targets_agree(void **state)
{
    (void)state;
    seed = 9;
    for (size_t f = 0; f < FUNCTIONS; f++)
        for (int int8 = 0; int8 < 2; int8++) {
            const compiler_options o = {.int8 = int8};
            compiler *c = open_good(net_of(functions[f].write, 20));
            check_targets(c, &o, 11, 14);
            compiler_close(c);
        }
}

/* A map of more rows than one call computes, whose last block has lanes that are no channel, times
 * a gate. */
static void gated_maps_of_many_rows(void **state)
{
    (void)state;
    seed = 10;
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "c", 3, 20);
    ob_node(b, "GlobalAveragePool", "c", "mean");
    add_conv(b, "mean", "g", 20, 20);
    ob_node(b, "Sigmoid", "g", "gate");
    ob_node(b, "Mul", "c gate", "m");
    add_conv(b, "m", "y", 20, 4);
    ob_output(b, "y");
    compiler *c = open_good(b);
    check_targets(c, &(compiler_options){0}, 28, 28);
    compiler_close(c);
}

/* A function of a sum or an input gets a convolution of its own, one for each channel. */
static void functions_stand_alone(void **state)
{
    (void)state;
    seed = 7;
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 5, 0, 0);
    ob_node(b, "Tanh", "x", "t");
    add_conv(b, "t", "u", 5, 5);
    ob_node(b, "Relu", "u", "r");
    ob_node(b, "Add", "r x", "s");
    ob_node(b, "Sigmoid", "s", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    assert_true(difference(c, &half_planes, 8, 10) < 0.004);
    assert_true(difference(c, &(compiler_options){.int8 = true}, 8, 10) < 0.03);
    assert_false(compiler_has_arrays(c));
    compiler_close(c);
}

/* A product and a sum after a function are one operator, which padding keeps from being part of the
 * convolution after it. */
static void products_and_sums_are_one(void **state)
{
    (void)state;
    seed = 17;
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "c", 3, 16);
    write_hard_swish(b);
    number(b, "times", 1.5f), number(b, "plus", -0.25f);
    ob_node(b, "Mul", "a times", "m");
    ob_node(b, "Add", "m plus", "s");
    add_conv(b, "s", "y", 16, 4);
    ob_output(b, "y");
    compiler *c = open_good(b);
    assert_true(difference(c, &half_planes, 8, 10) < 0.004);
    assert_int_equal(operators_of(c, &half_planes), 5);
    compiler_close(c);
}

/* A gate of another value is no Swish, and other numbers make no Gelu. */
static void other_products_stay(void **state)
{
    (void)state;
    seed = 8;
    onnx_builder *b = ob_new(14);
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "p", 3, 4);
    add_conv(b, "x", "q", 3, 4);
    ob_node(b, "Sigmoid", "q", "gate");
    ob_node(b, "Mul", "p gate", "m");
    number(b, "half", 0.75f);
    ob_node(b, "Sigmoid", "m", "gate2");
    ob_node(b, "Mul", "m gate2", "n");
    ob_node(b, "Mul", "n half", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    assert_true(difference(c, &half_planes, 8, 10) < 0.004);
    compiler_close(c);
}

/* A table's 256 sums do not go on where its results saturate. */
static void tables_end_where_results_do(void **state)
{
    (void)state;
    const graph_node node = {.after_add.kind = MONA_ACT_HARD_SWISH};
    graph_value sums = {.low = -40, .high = 1e20f};
    const graph g = {.values = &sums, .value_count = 1};
    const value_format six = {MONA_S8, 6.0f / 127, 0};
    const table_source source = table_find_source(&g, &node, &six);
    assert_float_equal(-source.scale * (float)source.zero, -3, 0.1);
    assert_float_equal(source.scale * (float)(255 - source.zero), 6, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_join_fp16_convolutions),
        cmocka_unit_test(functions_join_int8_convolutions),
        cmocka_unit_test(targets_agree),
        cmocka_unit_test(gated_maps_of_many_rows),
        cmocka_unit_test(functions_stand_alone),
        cmocka_unit_test(products_and_sums_are_one),
        cmocka_unit_test(other_products_stay),
        cmocka_unit_test(tables_end_where_results_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
