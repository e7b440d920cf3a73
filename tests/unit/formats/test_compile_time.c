// SPDX-License-Identifier: Apache-2.0
/* A network of as many nodes as a model may have is compiled in a time that grows with their
 * number: with its square, it would take four seconds. */
#include <time.h>

#include "tests/unit/compiler_check.h"

enum { LAYERS = 32768, CHANNELS = 4 };

#define MOST_SECONDS 2.5 /* of processors */

typedef struct layer_node {
    Onnx__NodeProto node;
    char name[8]; /* of its result */
    char *inputs[2], *outputs[1];
} layer_node;

/* Convolutions of 1x1, one after another. */
static uint8_t *chain(size_t *size)
{
    static char conv[] = "Conv", x[] = "x", w[] = "w";
    layer_node *layers = calloc(LAYERS, sizeof *layers);
    Onnx__NodeProto **nodes = calloc(LAYERS, sizeof *nodes);
    onnx_builder *b = ob_new(13);
    assert_true(layers && nodes);
    ob_input(b, "x", CHANNELS, 4, 4);
    ob_constant(b, "w", "4 4 1 1", noises(b, CHANNELS * CHANNELS, 0.5f));
    for (int i = 0; i < LAYERS; i++) {
        layer_node *l = &layers[i];
        onnx__node_proto__init(&l->node);
        snprintf(l->name, sizeof l->name, "%d", i);
        l->inputs[0] = i ? layers[i - 1].name : x;
        l->inputs[1] = w;
        l->outputs[0] = l->name;
        l->node.op_type = conv;
        l->node.n_input = 2, l->node.input = l->inputs;
        l->node.n_output = 1, l->node.output = l->outputs;
        nodes[i] = &l->node;
    }
    ob_output(b, layers[LAYERS - 1].name);
    b->graph.n_node = LAYERS, b->graph.node = nodes;
    uint8_t *bytes = ob_pack(b, size);
    ob_free(b);
    free(nodes);
    free(layers);
    return bytes;
}

static void many_layers_take_no_square_of_time(void **state)
{
    (void)state;
    size_t size, made;
    format_error error = {0};
    uint8_t *bytes = chain(&size), *model;
    const clock_t begin = clock();
    compiler *c = compiler_open(bytes, size, NULL, &error);
    if (!c || !compiler_emit(c, &half_planes, &model, &made, &error))
        fail_msg("%s", error.text);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    print_message("# %d layers: %.1f s\n", LAYERS, seconds);
    assert_true(seconds < MOST_SECONDS);
    compiler_close(c);
    free(model);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_layers_take_no_square_of_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
