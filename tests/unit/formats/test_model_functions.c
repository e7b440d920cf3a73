// SPDX-License-Identifier: Apache-2.0
/* Functions of a model: a node that calls one becomes the nodes of its body. A kernel of that name
 * would be called instead (user_kernels.sh). */
#include "tests/unit/onnx_check.h"

enum { MOST_FUNCTIONS = 8 };

/* A function of the domain "own" from "a" to "r" whose nodes are those of `body`; both live as long
 * as b. */
static Onnx__FunctionProto *add_function(onnx_builder *b, const char *name, onnx_builder *body)
{
    Onnx__FunctionProto *f = ob_alloc(b, sizeof *f);
    onnx__function_proto__init(f);
    f->name = ob_text(b, name);
    f->domain = ob_text(b, "own");
    f->input = ob_names(b, "a", &f->n_input);
    f->output = ob_names(b, "r", &f->n_output);
    f->attribute = ob_names(b, "slope its", &f->n_attribute);
    f->node = body->nodes;
    f->n_node = body->graph.n_node;
    if (!b->model.functions)
        b->model.functions = ob_alloc(b, MOST_FUNCTIONS * sizeof *b->model.functions);
    b->model.functions[b->model.n_functions++] = f;
    return f;
}

static Onnx__NodeProto *call(onnx_builder *b, const char *name, const char *inputs,
                             const char *outputs)
{
    Onnx__NodeProto *n = ob_node(b, name, inputs, outputs);
    n->domain = ob_text(b, "own");
    return n;
}

/* LeakyRelu whose alpha is the caller's "slope". */
static void add_leaky(onnx_builder *b, const char *x, const char *y)
{
    ob_attribute(b, ob_node(b, "LeakyRelu", x, y), "alpha")->ref_attr_name = ob_text(b, "slope");
}

static onnx_builder *with_input(void)
{
    onnx_builder *b = ob_new(13);
    seed = 54;
    ob_input(b, "x", 3, CHECK_HEIGHT, CHECK_WIDTH);
    return b;
}

/* Names of a body are its own: "a" and "t" are others in each call, and around. */
static void bodies_take_the_place_of_calls(void **state)
{
    (void)state;
    onnx_builder *b = with_input(), *body = ob_new(13);
    ob_node(body, "Neg", "a", "t");
    add_leaky(body, "t", "r");
    add_function(b, "Turn", body);
    add_conv(b, "x", "a", 3, 4);
    ob_float(b, call(b, "Turn", "a", "t"), "slope", 0.5f);
    ob_float(b, call(b, "Turn", "t", "c"), "slope", 0.25f);
    add_conv(b, "c", "y", 4, 4);
    ob_output(b, "y");
    check(b, false, "two calls");
    ob_free(body);
}

static void bodies_call_functions(void **state)
{
    (void)state;
    onnx_builder *b = with_input(), *inner = ob_new(13), *outer = ob_new(13), *same = ob_new(13);
    add_leaky(inner, "a", "r");
    add_function(b, "Leaky", inner);
    Onnx__NodeProto *n = call(outer, "Leaky", "a", "t");
    ob_attribute(outer, n, "slope")->ref_attr_name = ob_text(outer, "its");
    ob_node(outer, "Neg", "t", "r");
    add_function(b, "Outer", outer);
    /* Passes a on; "If" of a domain of its own is none of ONNX. */
    add_function(b, "If", same)->output = ob_names(b, "a", &(size_t){0});
    ob_float(b, call(b, "Outer", "x", "c"), "its", 0.5f);
    call(b, "If", "c", "d");
    add_conv(b, "d", "y", 3, 4);
    ob_output(b, "y");
    check(b, false, "nested");
    ob_free(inner);
    ob_free(outer);
    ob_free(same);
}

/* Bounds, of which the call gives one. */
static void what_is_left_out_is_left_out_inside(void **state)
{
    (void)state;
    onnx_builder *b = with_input(), *clip = ob_new(13), *outer = ob_new(13);
    const float low = -0.25f;
    ob_node(clip, "Clip", "a low high", "r");
    Onnx__FunctionProto *f = add_function(b, "Bounds", clip);
    f->n_input = 0, f->input = ob_names(b, "a low high", &f->n_input);
    call(outer, "Bounds", "a low high", "r");
    f = add_function(b, "Outer", outer);
    f->n_input = 0, f->input = ob_names(b, "a low high", &f->n_input);
    ob_constant(b, "low", "", &low);
    call(b, "Outer", "x low", "c");
    add_conv(b, "c", "y", 3, 4);
    ob_output(b, "y");
    check(b, false, "left out");
    ob_free(clip);
    ob_free(outer);
}

/* "slope" of a function is 0.5 where a call does not give it, as files have it whose header may be
 * older. */
static void add_default(onnx_builder *b, Onnx__FunctionProto *f)
{
    enum { DEFAULTS = 11 };
    ProtobufCMessageUnknownField *u = ob_alloc(b, sizeof *u);
    Onnx__AttributeProto a;
    onnx__attribute_proto__init(&a);
    a.name = ob_text(b, "slope");
    a.has_f = true;
    a.f = 0.5f;
    u->tag = DEFAULTS;
    u->wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    u->len = 1 + onnx__attribute_proto__get_packed_size(&a);
    u->data = ob_alloc(b, u->len);
    u->data[0] = (uint8_t)(u->len - 1);
    onnx__attribute_proto__pack(&a, u->data + 1);
    f->base.unknown_fields = u;
    f->base.n_unknown_fields = 1;
}

/* x by Leaky, whose slope is given, by default or left out; or by Outer, which passes on what it is
 * not given. */
static void attributes_may_be_left_out(void **state)
{
    static const float slopes[] = {0.25f, 0.5f, 0.01f, 0.5f}, x = -8;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        onnx_builder *b = ob_new(13), *body = ob_new(13), *outer = ob_new(13);
        ob_constant(b, "x", "1", &x);
        add_leaky(body, "a", "r");
        Onnx__FunctionProto *f = add_function(b, "Leaky", body);
        if (kind != 2)
            add_default(b, f);
        ob_attribute(outer, call(outer, "Leaky", "a", "r"), "slope")->ref_attr_name =
            ob_text(outer, "its");
        add_function(b, "Outer", outer);
        Onnx__NodeProto *n = call(b, kind == 3 ? "Outer" : "Leaky", "x", "y");
        if (kind == 0)
            ob_float(b, n, "slope", slopes[kind]);
        ob_output(b, "y");
        size_t size;
        uint8_t *bytes = ob_pack(b, &size);
        onnx_graph g;
        format_error error = {0};
        if (!onnx_graph_read(&g, bytes, size, NULL, &error))
            fail_msg("%s", error.text);
        const onnx_attribute *alpha = onnx_find_attribute(&g.nodes[g.node_count - 1], "alpha");
        assert_int_equal(alpha != NULL, kind != 2);
        if (alpha)
            assert_true(alpha->floats[0] == slopes[kind]);
        onnx_graph_free(&g);
        free(bytes);
        ob_free(outer);
        ob_free(body);
        ob_free(b);
    }
}

/* A model of one call; wrong: what is wrong with it. */
static void refuses_call(int wrong, const char *text)
{
    onnx_builder *b = with_input(), *body = ob_new(13);
    if (wrong == 3)
        call(body, "F", "a", "r");
    else
        add_leaky(body, wrong == 1 ? "x" : "a", wrong == 2 ? "s" : "r");
    Onnx__FunctionProto *f = add_function(b, "F", body);
    if (wrong == 4) {
        onnx__operator_set_id_proto__init(&body->opset);
        body->opset.has_version = true;
        body->opset.version = 12;
        f->opset_import = body->opsets;
        f->n_opset_import = 1;
    }
    if (wrong == 0)
        f->n_attribute = 0;
    if (wrong == 5)
        f->n_input = 0, f->input = ob_names(b, "a a", &f->n_input);
    if (wrong == 10)
        add_function(b, "F", body);
    Onnx__NodeProto *n = call(b, wrong == 6 ? "G" : "F",
                              wrong == 5 || wrong == 8 ? "x x"
                              : wrong == 7             ? "z"
                                                       : "x",
                              wrong == 9 ? "y z" : "y");
    if (wrong == 11) { /* an integer where a float is read */
        Onnx__AttributeProto *read = body->nodes[0]->attribute[0];
        read->has_type = true;
        read->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
        ob_int(b, n, "slope", 1);
        n->attribute[0]->has_type = true;
        n->attribute[0]->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
    } else if (wrong)
        ob_float(b, n, wrong == 12 ? "slop" : "slope", 0.5f);
    ob_output(b, "y");
    refuses(b, text);
    ob_free(body);
}

static void wrong_functions_are_refused(void **state)
{
    (void)state;
    refuses_call(0, "a function refers to the attribute 'slope', which it does not declare");
    refuses_call(1, "reads 'x', which nothing before it makes"); /* of the graph around */
    refuses_call(2, "result 'r' of function 'F' is not made");
    refuses_call(3, "branches and functions in 8 others"); /* it calls itself */
    refuses_call(4, "function 'F' is of operator set 12: expected 13, the model's");
    refuses_call(5, "value 'a' is defined twice");
    refuses_call(6, "is of the operator set 'own': expected ONNX's own, or a kernel of that name");
    refuses_call(7, "a call of 'F' reads 'z', which nothing before it makes");
    refuses_call(8, "a call of 'F' has 2 inputs and 1 outputs: expected up to 1 and 1");
    refuses_call(9, "a call of 'F' has 1 inputs and 2 outputs: expected up to 1 and 1");
    refuses_call(10, "expected one function 'F', found 2");
    refuses_call(11, "expected the attribute 'slope' of type 1, found 2");
    refuses_call(12, "a call of 'F' has the attribute 'slop', which that function does not");
}

/* Each function calls the next one many times. */
static void functions_do_not_multiply_without_end(void **state)
{
    (void)state;
    onnx_builder *b = with_input(), *bodies[MOST_FUNCTIONS];
    for (int i = 0; i < MOST_FUNCTIONS; i++) {
        bodies[i] = ob_new(13);
        for (int k = 0; k < 50; k++)
            call(bodies[i], (char[]){(char)('A' + (i + 1) % MOST_FUNCTIONS), 0}, "a", "r");
        add_function(b, (char[]){(char)('A' + i), 0}, bodies[i]);
    }
    call(b, "A", "x", "y");
    ob_output(b, "y");
    refuses(b, "the model has more than 32768 nodes");
    for (int i = 0; i < MOST_FUNCTIONS; i++)
        ob_free(bodies[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_take_the_place_of_calls),
        cmocka_unit_test(bodies_call_functions),
        cmocka_unit_test(what_is_left_out_is_left_out_inside),
        cmocka_unit_test(attributes_may_be_left_out),
        cmocka_unit_test(wrong_functions_are_refused),
        cmocka_unit_test(functions_do_not_multiply_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
