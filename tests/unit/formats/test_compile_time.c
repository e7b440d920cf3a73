// SPDX-License-Identifier: Apache-2.0
/* A network of as many nodes as a model may have is compiled in a time that grows with their
 * number, not with its square: in little more than eight networks of an eighth of them take, where
 * it took 6 to 13 times as long. */
#include <time.h>

#include "tests/unit/compiler_check.h"

enum { NODES = 32768, PARTS = 8, TRIES = 3, CHANNELS = 4 };

#define MOST_TIMES 5.0

/* A node of a block, of which a network has many, one after another. An input that is a number is
 * the result of the node so many before it in the network. */
typedef struct block_node {
    const char *op_type, *inputs[3];
} block_node;

typedef struct built_node {
    Onnx__NodeProto node;
    char name[8]; /* of its result */
    char *inputs[3], *outputs[1];
    Onnx__AttributeProto axis, *attributes[1];
} built_node;

static const block_node convolutions[] = {{"Conv", {"1", "w"}}};

/* All of it becomes two convolutions. */
static const block_node fused[] = {{"Conv", {"1", "w"}},
                                   {"Mul", {"1", "gain"}},
                                   {"Relu", {"1"}},
                                   {"Conv", {"1", "w"}},
                                   {"Add", {"1", "5"}}};

static const block_node quantised[] = {{"QuantizeLinear", {"1", "step", "zero"}},
                                       {"DequantizeLinear", {"1", "step", "zero"}},
                                       {"Conv", {"1", "w"}},
                                       {"Relu", {"1"}}};

/* Rounding moves up through the concatenation. */
static const block_node joined[] = {{"Conv", {"1", "w"}},
                                    {"Conv", {"2", "w"}},
                                    {"Concat", {"2", "1"}},
                                    {"QuantizeLinear", {"1", "step", "zero"}},
                                    {"DequantizeLinear", {"1", "step", "zero"}},
                                    {"Conv", {"1", "wide"}}};

/* Maps between arrays. */
static const block_node forms[] = {{"Relu", {"1"}}, {"Sin", {"1"}}, {"Conv", {"1", "w"}}};

/* Everything reads the input. */
static const block_node star[] = {{"Conv", {"x", "w"}}, {"Add", {"1", "2"}}};

static char *result(built_node *made, int at)
{
    static char x[] = "x";
    return at < 0 ? x : made[at].name;
}

static uint8_t *network(const block_node *block, int length, int count, size_t *size)
{
    static const int32_t zero = 128;
    static char axis[] = "axis";
    built_node *made = calloc((size_t)count, sizeof *made);
    Onnx__NodeProto **nodes = calloc((size_t)count, sizeof *nodes);
    onnx_builder *b = ob_new(13);
    assert_true(made && nodes);
    ob_input(b, "x", CHANNELS, 4, 4);
    ob_constant(b, "w", "4 4 1 1", noises(b, CHANNELS * CHANNELS, 0.5f));
    ob_constant(b, "wide", "4 8 1 1", noises(b, 2 * CHANNELS * CHANNELS, 0.5f));
    ob_constant(b, "gain", "1 4 1 1", noises(b, CHANNELS, 1));
    ob_constant(b, "step", "", (const float[]){0.02f});
    ob_int_tensor(b, "zero", ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, "", &zero);
    for (int i = 0; i < count; i++) {
        built_node *n = &made[i];
        const block_node *like = &block[i % length];
        onnx__node_proto__init(&n->node);
        snprintf(n->name, sizeof n->name, "%d", i);
        for (; n->node.n_input < 3 && like->inputs[n->node.n_input]; n->node.n_input++) {
            const char *input = like->inputs[n->node.n_input];
            const int before = atoi(input);
            n->inputs[n->node.n_input] = before ? result(made, i - before) : (char *)input;
        }
        n->outputs[0] = n->name;
        n->node.op_type = (char *)like->op_type;
        n->node.input = n->inputs;
        n->node.n_output = 1, n->node.output = n->outputs;
        if (!strcmp(like->op_type, "Concat")) {
            onnx__attribute_proto__init(&n->axis);
            n->axis.name = axis;
            n->axis.has_type = n->axis.has_i = true;
            n->axis.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
            n->axis.i = 1;
            n->attributes[0] = &n->axis;
            n->node.n_attribute = 1, n->node.attribute = n->attributes;
        }
        nodes[i] = &n->node;
    }
    ob_output(b, made[count - 1].name);
    b->graph.n_node = (size_t)count, b->graph.node = nodes;
    uint8_t *bytes = ob_pack(b, size);
    ob_free(b);
    free(nodes);
    free(made);
    return bytes;
}

/* Seconds of processors. */
static double compile(const block_node *block, int length, int count)
{
    size_t size, made;
    format_error error = {0};
    uint8_t *bytes = network(block, length, count, &size), *model;
    const clock_t begin = clock();
    compiler *c = compiler_open(bytes, size, NULL, &error);
    if (!c || !compiler_emit(c, &half_planes, &model, &made, &error))
        fail_msg("%s", error.text);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    compiler_close(c);
    free(model);
    free(bytes);
    return seconds;
}

static void many_nodes_take_no_square_of_time(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const block_node *block;
        int length;
    } all[] = {{"convolutions", convolutions, 1},
               {"fused", fused, 5},
               {"quantised", quantised, 4},
               {"joined", joined, 6},
               {"forms", forms, 3},
               {"star", star, 2}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double ratio = INFINITY; /* other programs can only make it larger */
        for (int k = 0; k < TRIES && ratio > MOST_TIMES; k++) {
            double parts = 0;
            for (int p = 0; p < PARTS; p++)
                parts += compile(all[i].block, all[i].length, NODES / PARTS);
            const double whole = compile(all[i].block, all[i].length, NODES);
            ratio = fmin(ratio, whole / parts);
        }
        print_message("# %s: %.1f times as long as in parts\n", all[i].name, ratio);
        assert_true(ratio <= MOST_TIMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_nodes_take_no_square_of_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
