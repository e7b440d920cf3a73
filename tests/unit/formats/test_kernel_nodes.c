// SPDX-License-Identifier: Apache-2.0
/* Nodes that call a kernel of the user's own, test::Sum of tests/user_kernels.h: what does not suit
 * it is refused, by a line that says what was expected. */
#include "tests/unit/compiler_check.h"
#include "tests/user_kernels.h"

enum { U8 = 2, U16 = 4, S32 = 6 }; /* of ONNX */

typedef struct input {
    const char *name;
    int32_t type;
    int64_t dims[4];
    size_t rank;
} input;

static const input good[] = {
    {"a", U8, {3, 4}, 2}, {"b", U16, {2, 6, 8}, 3}, {"t", S32, {USER_TABLE}, 1}};

/* The node Sum(a, b, t) -> (y, z). */
typedef struct net {
    onnx_builder *b;
    Onnx__NodeProto *node;
} net;

static net build(const input inputs[3])
{
    net n = {.b = ob_new(13)};
    for (size_t i = 0; i < 3; i++) {
        Onnx__ValueInfoProto *info = ob_value(n.b, inputs[i].name, inputs[i].dims, inputs[i].rank);
        info->type->tensor_type->elem_type = inputs[i].type;
        n.b->inputs[n.b->graph.n_input++] = info;
    }
    n.node = ob_node(n.b, "Sum", "a b t", "y z");
    n.node->domain = ob_text(n.b, "test");
    ob_output(n.b, "y");
    return n;
}

/* NULL: it is taken. */
static void expect(net n, const char *text)
{
    const onnx_read_options options = {.kernels = user_kernels};
    format_error error = {0};
    size_t size;
    uint8_t *bytes = ob_pack(n.b, &size);
    compiler *c = compiler_open(bytes, size, &options, &error);
    free(bytes);
    ob_free(n.b);
    if (!text && !c)
        fail_msg("%s", error.text);
    if (text && (c || !strstr(error.text, text)))
        fail_msg("'%s' does not contain '%s'", c ? "" : error.text, text);
    compiler_close(c);
}

static net with(size_t i, input wrong)
{
    input inputs[3];
    memcpy(inputs, good, sizeof inputs);
    wrong.name = inputs[i].name;
    inputs[i] = wrong;
    return build(inputs);
}

static void inputs_suit_the_kernel(void **state)
{
    (void)state;
    expect(build(good), NULL);
    expect(with(0, (input){"", U8, {1, 1, 3, 4}, 4}), NULL);
    expect(with(0, (input){"", S32, {3, 4}, 2}), "as input 0: expected uint8, 1 planes of rows");
    expect(with(0, (input){"", U8, {4}, 1}), "as input 0: expected uint8, 1 planes of rows");
    expect(with(0, (input){"", U8, {2, 3, 4}, 3}), "as input 0: expected uint8, 1 planes of rows");
    expect(with(1, (input){"", U16, {2, 6, 10}, 3}),
           "as input 1: expected uint16, 2 planes of 6 x 8");
    expect(with(1, (input){"", U16, {2, 7, 8}, 3}),
           "as input 1: expected uint16, 2 planes of 6 x 8");
    expect(with(1, (input){"", U16, {12, 8}, 2}), "as input 1: expected uint16, 2 planes of 6 x 8");
    expect(with(2, (input){"", S32, {USER_TABLE + 1}, 1}),
           "as input 2: expected int32, 5 elements");
}

static void nodes_suit_the_kernel(void **state)
{
    (void)state;
    net n = build(good);
    ob_int(n.b, n.node, "gain", INT64_MAX);
    expect(n, "has the attribute 'gain': expected none; a kernel takes numbers as tables");
    n = build(good);
    n.node->n_input = 2;
    expect(n, "has 2 inputs and 2 outputs: expected 3 and up to 2");
    n = build(good);
    n.node->n_output = 0;
    n.node->output = ob_names(n.b, "y z w", &n.node->n_output);
    expect(n, "has 3 inputs and 3 outputs: expected 3 and up to 2");
    n = build(good);
    n.node->input[2] = ob_text(n.b, "");
    expect(n, "leaves out input 2");
    n = build(good);
    n.node->op_type = ob_text(n.b, "Su");
    expect(n, "is of the operator set 'test'");
    n = build(good);
    n.node->domain = ob_text(n.b, "test:");
    expect(n, "is of the operator set 'test:'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_suit_the_kernel),
        cmocka_unit_test(nodes_suit_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
