// SPDX-License-Identifier: Apache-2.0
/* Models that keep tensors in files beside them, by whatever paths, offsets and lengths. */
#include "formats/onnx/onnx_graph.h"
#include "tests/fuzz/onnx_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const onnx_read_options options = {.folder = "tests/conformance/external_data"};
    onnx_graph g;
    format_error error = {0};
    if (onnx_graph_read(&g, data, size, &options, &error))
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
