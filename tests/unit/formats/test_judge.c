// SPDX-License-Identifier: Apache-2.0
/* The judge is independent of what it judges: bugs planted in import, patterns, fusion and
 * equalisation make a compiled model differ from it. */
#include "tests/unit/compiler_check.h"

static const compiler_options int8 = {.int8 = true, .output_type = MONA_S8};

/* The largest difference between the compiled model and the judge. */
static double judged(compiler *c, const compiler_options *o, const reference_array *input)
{
    reference_array expected, found;
    uint8_t *bytes;
    size_t size;
    emit(c, o, &bytes, &size);
    run_reference(c, input, &expected);
    run_engine(bytes, size, input, &found);
    const double d = largest_difference(&expected, &found);
    free(bytes);
    free(expected.data);
    free(found.data);
    return d;
}

static graph_node *first_conv(graph *g)
{
    uint32_t i = 0;
    while (g->nodes[i].kind != GRAPH_CONV)
        i++;
    return &g->nodes[i];
}

/* A rule that merges a batch normalisation and forgets its offset. */
static void a_dropped_bias_is_found(void **state)
{
    (void)state;
    compiler *c = open_good(residual_net());
    reference_array input = image(3, 15, 18);
    const double good = judged(c, &half_planes, &input);
    graph *g = compiler_graph(c, true);
    graph_node *conv = first_conv(g);
    conv->conv.bias = graph_alloc(g, g->values[conv->output].channels, sizeof(float));
    const double bad = judged(c, &half_planes, &input);
    if (!(good < 0.01 && bad > 5 * good))
        fail_msg("differs by %g, with the bug by %g", good, bad);
    free(input.data);
    compiler_close(c);
}

/* Equalisation that divides the channels of a convolution, and multiplies the next one's weights by
 * something else. */
static void a_wrong_equalisation_is_found(void **state)
{
    (void)state;
    format_error error = {0};
    unsigned pairs = 0;
    onnx_builder *b = ob_new(13);
    seed = 31;
    ob_input(b, "x", 3, 0, 0);
    add_conv(b, "x", "a", 3, 16);
    ob_node(b, "Relu", "a", "r");
    add_conv(b, "r", "y", 16, 4);
    ob_output(b, "y");
    compiler *c = open_good(b);
    reference_array input = image(3, 15, 18);
    assert_true(compiler_calibrate(c, &input, &error));
    assert_true(compiler_equalise(c, &int8, &pairs, &error));
    assert_int_equal(pairs, 1);
    assert_true(compiler_calibrate(c, &input, &error));
    const double good = judged(c, &int8, &input);
    graph *g = compiler_graph(c, true);
    graph_node *conv = first_conv(g);
    for (size_t i = 0; i < 16 * 3 * 9; i++) /* equalised weights are the graph's own */
        conv->conv.weights[i] *= 1.5f;
    const double bad = judged(c, &int8, &input);
    if (!(good < 0.05 && bad > 4 * good))
        fail_msg("differs by %g, with the bug by %g", good, bad);
    free(input.data);
    compiler_close(c);
}

/* An importer that takes the pads of rows for those of columns. */
static void swapped_pads_are_found(void **state)
{
    (void)state;
    double difference[2];
    for (int bug = 0; bug < 2; bug++) {
        onnx_builder *b = ob_new(13);
        seed = 32;
        ob_input(b, "x", 2, 9, 12);
        ob_constant(b, "w", "3 2 3 3", noises(b, 54, 0.3f));
        ob_ints(b, ob_node(b, "Conv", "x w", "y"), "pads", "2 0 0 2");
        ob_output(b, "y");
        compiler *c = open_good(b);
        reference_array input = image(2, 9, 12);
        graph_window *w = &first_conv(compiler_graph(c, false))->conv.window;
        for (int i = 0; i < 2 && bug; i++) {
            const uint32_t begin = w->pad_begin[i];
            w->pad_begin[i] = w->pad_end[i];
            w->pad_end[i] = begin;
        }
        difference[bug] = judged(c, &half_planes, &input);
        free(input.data);
        compiler_close(c);
    }
    assert_true(difference[0] < 0.01);
    assert_true(difference[1] > 0.1);
}

/* Parts that are recognised as something else: x * sigmoid(x) as tanh(x). */
static void a_wrong_pattern_is_found(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13);
    seed = 33;
    ob_input(b, "x", 2, 9, 12);
    add_conv(b, "x", "a", 2, 3);
    ob_node(b, "Sigmoid", "a", "s");
    ob_node(b, "Mul", "a s", "y");
    ob_output(b, "y");
    compiler *c = open_good(b);
    reference_array input = image(2, 9, 12);
    const double good = judged(c, &half_planes, &input);
    graph_node *conv = first_conv(compiler_graph(c, true));
    assert_int_equal(conv->after_add.kind, MONA_ACT_SILU);
    conv->after_add.kind = MONA_ACT_TANH;
    const double bad = judged(c, &half_planes, &input);
    if (!(good < 0.01 && bad > 0.1))
        fail_msg("differs by %g, with the bug by %g", good, bad);
    free(input.data);
    compiler_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dropped_bias_is_found),
        cmocka_unit_test(a_wrong_equalisation_is_found),
        cmocka_unit_test(swapped_pads_are_found),
        cmocka_unit_test(a_wrong_pattern_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
