// SPDX-License-Identifier: Apache-2.0
/* Tensors whose channels come last, as in transformers: products with constants and normalisations
 * of channels stay on maps, and agree with what ONNX defines for the model. */
#include "tests/unit/onnx_check.h"

enum { C = 24, HEIGHT = CHECK_HEIGHT, WIDTH = CHECK_WIDTH };

static void add_matmul(onnx_builder *b, const char *x, const char *y, int inputs, int outputs)
{
    char dims[64], names[64];
    snprintf(dims, sizeof dims, "%d %d", inputs, outputs);
    snprintf(names, sizeof names, "%s.w", y);
    ob_constant(b, names, dims, noises(b, (size_t)(inputs * outputs), 1 / sqrtf((float)inputs)));
    snprintf(names, sizeof names, "%s %s.w", x, y);
    ob_node(b, "MatMul", names, y);
}

static void add_number(onnx_builder *b, const char *name, float number)
{
    ob_constant(b, name, "", &number);
}

/* As exporters write it for operator sets before 17. dims: of the scale and the bias. */
static void add_norm(onnx_builder *b, const char *x, const char *axis, const char *dims,
                     const char *y)
{
    char pair[64];
    snprintf(pair, sizeof pair, "%s mean", x);
    ob_ints(b, ob_node(b, "ReduceMean", x, "mean"), "axes", axis);
    ob_node(b, "Sub", pair, "centred");
    add_number(b, "two", 2);
    ob_node(b, "Pow", "centred two", "square");
    ob_ints(b, ob_node(b, "ReduceMean", "square", "variance"), "axes", axis);
    add_number(b, "epsilon", 1e-3f);
    ob_node(b, "Add", "variance epsilon", "more");
    ob_node(b, "Sqrt", "more", "deviation");
    ob_node(b, "Div", "centred deviation", "normal");
    ob_constant(b, "gain", dims, noises(b, C, 1));
    ob_constant(b, "shift", dims, noises(b, C, 0.5f));
    ob_node(b, "Mul", "normal gain", "scaled");
    ob_node(b, "Add", "scaled shift", y);
}

static void channels_are_normalised(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        onnx_builder *b = ob_new(14);
        seed = 41;
        ob_input(b, "x", 3, open ? 0 : HEIGHT, open ? 0 : WIDTH);
        add_conv(b, "x", "stem", 3, C);
        add_norm(b, "stem", "1", "1 24 1 1", "n");
        add_conv(b, "n", "y", C, 4);
        ob_output(b, "y");
        check(b, false, open ? "open" : "fixed");
    }
}

/* A part of a block of channels, whole ones, and more than one block of 8 bits has; rows of fewer
 * and of more pixels than an AI Core takes at a time. */
static void targets_normalise_alike(void **state)
{
    (void)state;
    static const int channels[] = {5, 16, 40, 72}, widths[] = {9, 20, 70, 300};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        for (int int8 = 0; int8 < 2; int8++) {
            char dims[32];
            const int c = channels[i];
            onnx_builder *b = ob_new(20);
            ob_input(b, "x", 3, 0, 0);
            add_conv(b, "x", "stem", 3, c);
            ob_ints(b, ob_node(b, "Transpose", "stem", "last"), "perm", "0 2 3 1");
            snprintf(dims, sizeof dims, "%d", c);
            ob_constant(b, "gain", dims, noises(b, (size_t)c, 1));
            ob_constant(b, "shift", dims, noises(b, (size_t)c, 0.5f));
            ob_node(b, "LayerNormalization", "last gain shift", "n");
            ob_ints(b, ob_node(b, "Transpose", "n", "first"), "perm", "0 3 1 2");
            add_conv(b, "first", "y", c, 4);
            ob_output(b, "y");
            compiler *made = open_good(b);
            check_one_result(made, &(compiler_options){.int8 = int8}, 4, (uint32_t)widths[i]);
            compiler_close(made);
        }
}

/* A block of ConvNeXt. */
static onnx_builder *next_net(bool open)
{
    onnx_builder *b = ob_new(20);
    seed = 42;
    ob_input(b, "x", 3, open ? 0 : HEIGHT, open ? 0 : WIDTH);
    add_conv(b, "x", "stem", 3, C);
    ob_ints(b, ob_node(b, "Transpose", "stem", "last"), "perm", "0 2 3 1");
    ob_constant(b, "gain", "24", noises(b, C, 1));
    ob_constant(b, "shift", "24", noises(b, C, 0.5f));
    ob_node(b, "LayerNormalization", "last gain shift", "n");
    add_matmul(b, "n", "wide", C, 40);
    ob_constant(b, "b", "40", noises(b, 40, 0.3f));
    ob_node(b, "Add", "b wide", "biased");
    ob_node(b, "Gelu", "biased", "g");
    add_matmul(b, "g", "narrow", 40, C);
    ob_constant(b, "gamma", "24", noises(b, C, 1));
    ob_node(b, "Mul", "narrow gamma", "scaled");
    ob_ints(b, ob_node(b, "Transpose", "scaled", "first"), "perm", "0 3 1 2");
    ob_node(b, "Add", "stem first", "y");
    ob_output(b, "y");
    return b;
}

static void channels_move_to_the_end_and_back(void **state)
{
    (void)state;
    check(next_net(false), false, "ConvNeXt");
    check(next_net(true), false, "ConvNeXt of any size");
}

/* Pixels as tokens: the first half of their channels times the other. rows: an output of tokens, in
 * ONNX's order, which is an array. */
static onnx_builder *token_net(bool rows)
{
    onnx_builder *b = ob_new(14);
    seed = 43;
    ob_input(b, "x", 3, HEIGHT, WIDTH);
    add_conv(b, "x", "stem", 3, C);
    ob_numbers(b, "flat", "1 24 60");
    ob_node(b, "Reshape", "stem flat", "f");
    ob_ints(b, ob_node(b, "Transpose", "f", "tokens"), "perm", "0 2 1");
    add_norm(b, "tokens", "-1", "24", "n");
    add_matmul(b, "n", "wide", C, 32);
    ob_numbers(b, "halves", "16 16");
    ob_int(b, ob_node(b, "Split", "wide halves", "p q"), "axis", -1);
    ob_node(b, "Mul", "p q", "gated");
    add_matmul(b, "gated", "narrow", 16, C);
    ob_node(b, "Add", "tokens narrow", "sum");
    if (!rows) {
        ob_ints(b, ob_node(b, "Transpose", "sum", "t"), "perm", "0 2 1");
        ob_numbers(b, "shape", "1 24 6 10");
        ob_node(b, "Reshape", "t shape", "map");
        add_conv(b, "map", "y", C, 4);
    }
    ob_output(b, rows ? "sum" : "y");
    return b;
}

static void tokens_are_pixels(void **state)
{
    (void)state;
    check(token_net(false), false, "tokens");
    check(token_net(true), true, "tokens as output");
}

static void add_shaped(onnx_builder *b, const char *op, const char *x, const char *numbers,
                       const char *y)
{
    char names[64];
    if (!strcmp(op, "Transpose")) {
        ob_ints(b, ob_node(b, op, x, y), "perm", numbers);
        return;
    }
    snprintf(names, sizeof names, "%s.shape", y);
    ob_numbers(b, names, numbers);
    snprintf(names, sizeof names, "%s %s.shape", x, y);
    ob_node(b, op, names, y);
}

/* Queries, keys and values as thirds of one product, of two heads. */
static void add_thirds(onnx_builder *b, int tokens, int size)
{
    static const char *const names[] = {"q4", "k4", "v4"};
    char shape[32];
    snprintf(shape, sizeof shape, "1 %d 3 2 %d", tokens, size);
    add_matmul(b, "tokens", "qkv", C, 6 * size);
    add_shaped(b, "Reshape", "qkv", shape, "five");
    add_shaped(b, "Transpose", "five", "2 0 3 1 4", "t");
    for (int32_t i = 0; i < 3; i++) {
        char index[16], inputs[32];
        snprintf(index, sizeof index, "i%d", i);
        snprintf(inputs, sizeof inputs, "t %s", index);
        ob_int_tensor(b, index, ONNX__TENSOR_PROTO__DATA_TYPE__INT32, "", &i);
        ob_int(b, ob_node(b, "Gather", inputs, names[i]), "axis", 0);
    }
    add_number(b, "factor", 0.25f);
    ob_node(b, "Mul", "q4 factor", "q4s");
    add_shaped(b, "Transpose", "k4", "0 1 3 2", "k4t");
    ob_node(b, "MatMul", "q4s k4t", "scores");
    ob_int(b, ob_node(b, "Softmax", "scores", "weights"), "axis", -1);
}

/* Each of them a product of its own. */
static void add_three(onnx_builder *b, int tokens)
{
    static const char *const parts[] = {"q", "k", "v"};
    for (int i = 0; i < 3; i++) {
        char shaped[16], made[16], shape[32];
        snprintf(shape, sizeof shape, "1 %d 2 16", tokens);
        snprintf(shaped, sizeof shaped, "%s.4", parts[i]);
        snprintf(made, sizeof made, i == 1 ? "%s4t" : "%s4", parts[i]);
        add_matmul(b, "tokens", parts[i], C, 32);
        add_shaped(b, "Reshape", parts[i], shape, shaped);
        add_shaped(b, "Transpose", shaped, i == 1 ? "0 2 3 1" : "0 2 1 3", made);
    }
    ob_node(b, "MatMul", "q4 k4t", "products");
    add_number(b, "root", 4);
    ob_node(b, "Div", "products root", "scores");
    ob_int(b, ob_node(b, "Softmax", "scores", "weights"), "axis", 3);
}

static onnx_builder *attention_of(bool thirds, int size, int height, int width)
{
    onnx_builder *b = ob_new(14);
    const int tokens = height * width;
    char shape[32], flat[32], map[32];
    snprintf(shape, sizeof shape, "1 %d %d", tokens, 2 * size);
    snprintf(flat, sizeof flat, "1 24 %d", tokens);
    snprintf(map, sizeof map, "1 24 %d %d", height, width);
    seed = 44;
    ob_input(b, "x", 3, height, width);
    add_conv(b, "x", "stem", 3, C);
    add_shaped(b, "Reshape", "stem", flat, "f");
    add_shaped(b, "Transpose", "f", "0 2 1", "raw");
    add_norm(b, "raw", "-1", "24", "tokens");
    if (thirds)
        add_thirds(b, tokens, size);
    else
        add_three(b, tokens);
    ob_node(b, "MatMul", "weights v4", "o4");
    add_shaped(b, "Transpose", "o4", "0 2 1 3", "o3");
    add_shaped(b, "Reshape", "o3", shape, "o");
    add_matmul(b, "o", "narrow", 2 * size, C);
    ob_node(b, "Add", "raw narrow", "sum");
    add_shaped(b, "Transpose", "sum", "0 2 1", "back");
    add_shaped(b, "Reshape", "back", map, "map");
    add_conv(b, "map", "y", C, 4);
    ob_output(b, "y");
    return b;
}

static onnx_builder *attention_net(bool thirds, int size)
{
    return attention_of(thirds, size, HEIGHT, WIDTH);
}

/* Rows of fewer and of more queries than an AI Core takes at a time, and more keys than it spreads
 * at a time; a single key. */
static void targets_attend_alike(void **state)
{
    (void)state;
    static const int frames[][2] = {{6, 10}, {1, 197}, {13, 11}, {2, 70}, {1, 1}};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        for (int size = 16; size <= 64; size += 48) {
            const int height = frames[i][0], width = frames[i][1];
            compiler *c = open_good(attention_of(true, size, height, width));
            check_one_result(c, &half_planes, (uint32_t)height, (uint32_t)width);
            check_one_result(c, &(compiler_options){.int8 = true}, (uint32_t)height,
                             (uint32_t)width);
            compiler_close(c);
        }
}

static void attention_is_one_operator(void **state)
{
    (void)state;
    check(attention_net(true, 16), false, "thirds");
    check(attention_net(true, 12), false, "thirds that begin within a block of channels");
    check(attention_net(false, 16), false, "three products");
}

/* What a pattern is made of stays where it is an output. */
static void parts_of_patterns_may_be_outputs(void **state)
{
    static const char *const inside[] = {"o4", "o3", "weights", "q4", "normal", "scaled"};
    (void)state;
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        onnx_builder *b = attention_net(true, 16);
        ob_output(b, inside[i]);
        compiler_close(open_good(b));
    }
    for (size_t i = 4; i < sizeof inside / sizeof *inside; i++) {
        onnx_builder *b = ob_new(14);
        ob_input(b, "x", 3, HEIGHT, WIDTH);
        add_conv(b, "x", "stem", 3, C);
        add_norm(b, "stem", "1", "1 24 1 1", "y");
        ob_output(b, "y");
        ob_output(b, inside[i]);
        compiler_close(open_good(b));
    }
}

static void they_have_one_result(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        compiler *c = open_good(attention_net(true, 16));
        compiler_options o = half_planes;
        o.int8 = k;
        check_one_result(c, &o, HEIGHT, WIDTH);
        compiler_close(c);
    }
}

/* ONNX's own operator, on arrays: two heads of queries share the keys and values of one. */
static void attention_has_an_operator(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(23);
    seed = 45;
    ob_input(b, "x", 3, HEIGHT, WIDTH);
    add_conv(b, "x", "stem", 3, 32);
    add_shaped(b, "Reshape", "stem", "2 8 4 30", "q");
    add_conv(b, "x", "other", 3, 16);
    add_shaped(b, "Reshape", "other", "2 4 4 30", "k");
    ob_node(b, "Attention", "q k k", "a");
    add_shaped(b, "Reshape", "a", "1 32 6 10", "map");
    add_conv(b, "map", "y", 32, 4);
    ob_output(b, "y");
    check(b, true, "Attention");
}

/* Two maps are combined in shapes of which ONNX aligns the last axes: [10, 6, 10] and [10] not in
 * their channels, and [10, 1, 1] and [1, 1, 10] to more numbers than either has. */
static void shapes_broadcast_not_maps(void **state)
{
    static const struct {
        const char *op, *from, *first, *second; /* from: the map of `first` */
    } rows[] = {
        {"Add", "stem", "10 6 10", "10"},          {"Mul", "stem", "1 5 2 6 10", "10"},
        {"Add", "mean", "10 1 1", "1 1 10"},       {"Max", "mean", "10 1 1", "1 1 10"},
        {"Sub", "mean", "1 1 10 1", "1 1 1 10"},   {"Add", "last", "1 10 1 10", "1 1 10 10"},
        {"Max", "last", "1 10 1 10", "1 1 10 10"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_builder *b = ob_new(14);
        seed = 46;
        ob_input(b, "x", 3, HEIGHT, WIDTH);
        add_conv(b, "x", "stem", 3, 10);
        ob_node(b, "GlobalAveragePool", "stem", "mean");
        ob_ints(b, ob_node(b, "AveragePool", "stem", "row"), "kernel_shape", "6 1");
        add_shaped(b, "Transpose", "row", "0 2 3 1", "last");
        add_shaped(b, "Reshape", rows[i].from, rows[i].first, "p");
        add_shaped(b, "Reshape", strcmp(rows[i].from, "last") ? "mean" : "last", rows[i].second,
                   "q");
        ob_node(b, rows[i].op, "p q", "y");
        ob_output(b, "y");
        check(b, true, rows[i].first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_normalised),
        cmocka_unit_test(targets_normalise_alike),
        cmocka_unit_test(channels_move_to_the_end_and_back),
        cmocka_unit_test(tokens_are_pixels),
        cmocka_unit_test(targets_attend_alike),
        cmocka_unit_test(attention_is_one_operator),
        cmocka_unit_test(parts_of_patterns_may_be_outputs),
        cmocka_unit_test(attention_has_an_operator),
        cmocka_unit_test(they_have_one_result),
        cmocka_unit_test(shapes_broadcast_not_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
