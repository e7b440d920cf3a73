// SPDX-License-Identifier: Apache-2.0
/* The ONNX reader, folding, the compiler and, for small models, the reference. */
#include <stdlib.h>

#include "formats/compiler/compiler.h"
#include "formats/reference/execute.h"
#include "formats/reference/fold.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_NODES = 16, MAX_COUNT = 512, MAX_VALUES = 64 };

/* The work is in proportion to the sizes of all tensors, which folding has found. */
static bool is_small(const onnx_graph *g)
{
    bool small = g->node_count <= MAX_NODES && g->input_count + g->output_count <= MAX_VALUES;
    for (uint32_t i = 0; small && i < g->node_count; i++) {
        const onnx_node *n = &g->nodes[i];
        for (uint32_t k = 0; small && k < n->input_count; k++)
            small = n->inputs[k] == ONNX_NONE || (g->values[n->inputs[k]].shaped &&
                                                  g->values[n->inputs[k]].tensor.count < MAX_COUNT);
        for (uint32_t k = 0; small && k < n->output_count; k++)
            small =
                n->outputs[k] == ONNX_NONE || (g->values[n->outputs[k]].shaped &&
                                               g->values[n->outputs[k]].tensor.count < MAX_COUNT);
    }
    return small;
}

static void execute(const onnx_graph *g)
{
    tensor inputs[MAX_VALUES] = {0}, outputs[MAX_VALUES] = {0};
    format_error error = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->input_count; i++) {
        const onnx_input *input = &g->inputs[i];
        ok = tensor_make(&inputs[i], input->type, input->rank, input->dims) &&
             inputs[i].count < MAX_COUNT;
        for (size_t k = 0; ok && k < inputs[i].count; k++)
            tensor_set_number(&inputs[i], k, (double)(k % 7) - 2);
    }
    if (ok && reference_execute(g, inputs, outputs, NULL, &error))
        for (uint32_t i = 0; i < g->output_count; i++)
            tensor_free(&outputs[i]);
    for (uint32_t i = 0; i < g->input_count; i++)
        tensor_free(&inputs[i]);
}

static void emit(compiler *c, const compiler_options *options)
{
    format_error error = {0};
    uint8_t *bytes = NULL;
    size_t size;
    mona_model model;
    if (!compiler_emit(c, options, &bytes, &size, &error))
        return;
    if (mona_model_open(&model, bytes, size) == MONA_ERR_MODEL)
        abort(); /* the compiler has written an invalid model */
    free(bytes);
}

/* With and without the optional rules. */
static void compile(onnx_graph *g)
{
    format_error error = {0};
    compiler_options plain = {0};
    compiler *c = compiler_open_graph(g, NULL, &error);
    fusion_switch_off(&plain.fusion);
    if (c) {
        emit(c, &(compiler_options){0});
        emit(c, &plain);
    }
    compiler_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    onnx_graph g;
    format_error error = {0};
    if (!onnx_graph_read(&g, data, size, NULL, &error))
        return 0;
    if (onnx_graph_fold(&g, &error) && is_small(&g))
        execute(&g);
    compile(&g);
    onnx_graph_free(&g);
    return 0;
}
