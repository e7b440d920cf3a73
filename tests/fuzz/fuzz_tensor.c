// SPDX-License-Identifier: Apache-2.0
/* Files of one ONNX tensor. */
#include <sys/stat.h>

#include "formats/onnx/conformance.h"
#include "formats/onnx/onnx_reader.h"
#include "tests/fuzz/files.h"

/* As mona verify reads inputs and results of a model. */
static void read_set(const uint8_t *data, size_t size)
{
    char folder[FUZZ_PATH], path[FUZZ_PATH];
    conformance_set set;
    format_error error = {0};
    fuzz_path(folder, "test_data_set_0");
    mkdir(folder, 0700);
    fuzz_save(path, "test_data_set_0/input_0.pb", data, size);
    fuzz_save(path, "test_data_set_0/output_0.pb", data, size);
    if (conformance_read(&set, fuzz_folder(), 0, &error))
        conformance_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FILES = 1000 };
    static uint64_t runs;
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
    if (runs++ < FILES || size % 64 == 0) /* files take most of the time */
        read_set(data, size);
    return 0;
}
