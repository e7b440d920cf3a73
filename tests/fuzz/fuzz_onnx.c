// SPDX-License-Identifier: Apache-2.0
/* The ONNX reader, folding, the compiler and, for small models, the reference. */
#include "formats/reference/execute.h"
#include "tests/fuzz/onnx_mutator.h"
#include "tests/fuzz/quantised.h"

static void execute(const onnx_graph *g)
{
    tensor inputs[FUZZ_MAX_VALUES] = {0}, outputs[FUZZ_MAX_VALUES] = {0};
    format_error error = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->input_count; i++) {
        const onnx_input *input = &g->inputs[i];
        ok = tensor_make(&inputs[i], input->type, input->rank, input->dims) &&
             inputs[i].count < FUZZ_MAX_COUNT;
        for (size_t k = 0; ok && k < inputs[i].count; k++)
            tensor_set_number(&inputs[i], k, (double)(k % 7) - 2);
    }
    if (ok && reference_execute(g, inputs, outputs, NULL, &error))
        for (uint32_t i = 0; i < g->output_count; i++)
            tensor_free(&outputs[i]);
    for (uint32_t i = 0; i < g->input_count; i++)
        tensor_free(&inputs[i]);
}

/* With and without the optional rules. */
static void compile(onnx_graph *g)
{
    format_error error = {0};
    compiler_options plain = {0};
    compiler *c = compiler_open_image(g, NULL, &error);
    fusion_switch_off(&plain.fusion);
    if (c) {
        fuzz_emit(c, &(compiler_options){0});
        fuzz_emit(c, &plain);
    }
    compiler_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    onnx_graph g;
    format_error error = {0};
    static const onnx_dim dims[] = {{"N", 2}, {"M", 5}};
    const onnx_read_options options = {
        .kernels = user_kernels, .dims = dims, .dim_count = sizeof dims / sizeof *dims};
    if (!onnx_graph_read(&g, data, size, &options, &error))
        return 0;
    if (onnx_graph_fold(&g, &error) && fuzz_is_small(&g))
        execute(&g);
    compile(&g);
    onnx_graph_free(&g);
    return 0;
}

/* For every second input, libFuzzer's own changes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (LLVMFuzzerMutate && seed % 2)
        return LLVMFuzzerMutate(data, size, room);
    return onnx_mutate(data, size, room, seed);
}
