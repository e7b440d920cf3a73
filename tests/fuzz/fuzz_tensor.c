// SPDX-License-Identifier: Apache-2.0
/* Files of one ONNX tensor. */
#include "formats/onnx/onnx_reader.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    format_error error = {0};
    tensor t = {0};
    Onnx__TensorProto *proto = onnx_parse_tensor(data, size, &error);
    if (proto && onnx_tensor_read(proto, NULL, &t, &error))
        for (size_t i = 0; i < t.count && i < 4096; i++) {
            tensor_set_number(&t, i, tensor_number(&t, i));
            tensor_set_int(&t, i, tensor_int(&t, i));
        }
    tensor_free(&t);
    onnx_release_tensor(proto);
    return 0;
}
