// SPDX-License-Identifier: Apache-2.0
/* The branches of an If: the one that is taken is compiled, the other need not even fit. */
#include "tests/unit/onnx_check.h"

/* Adds If(condition) with the branches' only results; they live as long as b. */
static void add_if(onnx_builder *b, const char *condition, onnx_builder *then, onnx_builder *other,
                   const char *y)
{
    Onnx__NodeProto *n = ob_node(b, "If", condition, y);
    ob_attribute(b, n, "then_branch")->g = &then->graph;
    ob_attribute(b, n, "else_branch")->g = &other->graph;
}

/* A branch of one operator on x of the graph around it, and a constant of its own. */
static onnx_builder *branch(const char *op, const char *result)
{
    onnx_builder *b = ob_new(13);
    if (!strcmp(op, "Squeeze")) {
        ob_numbers(b, "own", "1");
        ob_node(b, op, "x own", result);
    } else if (!strcmp(op, "Mul")) {
        const float two = 2;
        ob_constant(b, "own", "", &two);
        ob_node(b, op, "x own", result);
    } else {
        ob_node(b, op, "x", result);
    }
    ob_output(b, result);
    return b;
}

/* condition: whether x has as many channels as the number in `wanted`. */
static void add_condition(onnx_builder *b, const char *wanted)
{
    ob_node(b, "Shape", "x", "shape");
    ob_numbers(b, "one", "1");
    ob_node(b, "Gather", "shape one", "channels");
    ob_numbers(b, "wanted", wanted);
    ob_node(b, "Equal", "channels wanted", "condition");
}

static void the_taken_branch_is_compiled(void **state)
{
    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        onnx_builder *b = ob_new(13), *good = branch("Mul", "r"), *bad = branch("Squeeze", "r");
        seed = 51;
        ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
        add_condition(b, taken ? "3" : "5");
        add_if(b, "condition", taken ? good : bad, taken ? bad : good, "c");
        add_conv(b, "c", "y", 3, 4);
        ob_output(b, "y");
        check(b, false, taken ? "then" : "else");
        ob_free(good);
        ob_free(bad);
    }
}

static void branches_have_branches(void **state)
{
    (void)state;
    onnx_builder *b = ob_new(13), *inner[2] = {branch("Squeeze", "r"), branch("Relu", "r")};
    onnx_builder *outer[2] = {ob_new(13), branch("Squeeze", "s")};
    seed = 52;
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    add_condition(b, "3");
    ob_node(outer[0], "Not", "condition", "inverse");
    add_if(outer[0], "inverse", inner[0], inner[1], "s");
    ob_output(outer[0], "s");
    add_if(b, "condition", outer[0], outer[1], "c");
    add_conv(b, "c", "y", 3, 4);
    ob_output(b, "y");
    check(b, false, "nested");
    for (int i = 0; i < 2; i++) {
        ob_free(inner[i]);
        ob_free(outer[i]);
    }
}

/* Where only the frame tells, both branches are computed, and one is chosen. */
static void computed_conditions_choose(void **state)
{
    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        const float bound = taken ? 2 : -2;
        onnx_builder *b = ob_new(13), *then = branch("Mul", "r"), *other = branch("Sigmoid", "r");
        seed = 53;
        ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
        ob_int(b, ob_node(b, "ReduceMax", "x", "most"), "keepdims", 0);
        ob_constant(b, "bound", "", &bound);
        ob_node(b, "Less", "most bound", "condition");
        add_if(b, "condition", then, other, "c");
        add_conv(b, "c", "y", 3, 4);
        ob_output(b, "y");
        check(b, true, taken ? "computed: then" : "computed: else");
        ob_free(then);
        ob_free(other);
    }
}

static void what_has_no_end_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const loops[] = {"Loop", "Scan"};
    for (int i = 0; i < 2; i++) {
        onnx_builder *b = ob_new(13), *body = branch("Relu", "r");
        ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
        ob_attribute(b, ob_node(b, loops[i], "x", "y"), "body")->g = &body->graph;
        ob_output(b, "y");
        refuses(b, loops[i]);
        ob_free(body);
    }
    onnx_builder *b = ob_new(13), *then = branch("Relu", "r"), *other = branch("Squeeze", "r");
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    add_condition(b, "3");
    Onnx__NodeProto *n = ob_node(b, "If", "condition", "y");
    ob_attribute(b, n, "then_branch")->g = &then->graph;
    ob_output(b, "y");
    refuses(b, "'y' (If) has no else_branch");
    ob_free(then);
    ob_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_taken_branch_is_compiled),
        cmocka_unit_test(branches_have_branches),
        cmocka_unit_test(computed_conditions_choose),
        cmocka_unit_test(what_has_no_end_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
