// SPDX-License-Identifier: Apache-2.0
/* A network calibrated on any numbers, and written in INT8. */
#include "formats/file.h"
#include "tests/fuzz/quantised.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *model;
    static size_t model_size;
    reference_array inputs[MONA_MAX_IO] = {0};
    format_error error = {0};
    if (!model && !file_read("tests/conformance/residual/model.onnx", "a model", ONNX_MAX_BYTES,
                             &model, &model_size, &error))
        abort();
    compiler *c = compiler_open(model, model_size, NULL, &error);
    if (!c)
        abort();
    fuzz_inputs(c, data, size, inputs);
    fuzz_quantise(c, inputs, data, size);
    reference_arrays_free(inputs, MONA_MAX_IO);
    compiler_close(c);
    return 0;
}
