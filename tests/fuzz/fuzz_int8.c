// SPDX-License-Identifier: Apache-2.0
/* Small models, calibrated and written in INT8. */
#include "formats/reference/execute.h"
#include "tests/fuzz/onnx_mutator.h"
#include "tests/fuzz/quantised.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const float ramp[] = {0, 0.25f, 0.5f, 1, -0.75f, 0.125f, 0.0625f};
    reference_array inputs[MONA_MAX_IO] = {0};
    onnx_graph g;
    format_error error = {0};
    if (!onnx_graph_read(&g, data, size, NULL, &error))
        return 0;
    const bool small = onnx_graph_fold(&g, &error) && fuzz_is_small(&g);
    compiler *c = small ? compiler_open_graph(&g, NULL, &error) : NULL;
    if (c) {
        fuzz_inputs(c, (const uint8_t *)ramp, sizeof ramp, inputs);
        fuzz_quantise(c, inputs, data, size);
        reference_arrays_free(inputs, MONA_MAX_IO);
    }
    compiler_close(c);
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
