// SPDX-License-Identifier: Apache-2.0
/* Compares a compiled network with what ONNX defines for the model as it was written. */
#ifndef MONA_TESTS_ONNX_CHECK_H
#define MONA_TESTS_ONNX_CHECK_H

#include "tests/unit/compiler_check.h"

#include "formats/reference/execute.h"

enum { CHECK_HEIGHT = 6, CHECK_WIDTH = 10 }; /* of an input of three channels */

/* What ONNX defines for the model, which shares nothing with the compiler. */
static inline reference_array defined(const uint8_t *bytes, size_t size,
                                      const reference_array *input)
{
    const int64_t dims[4] = {1, input->channels, input->height, input->width};
    format_error error = {0};
    onnx_graph g;
    tensor in = {0}, out = {0};
    assert_true(onnx_graph_read(&g, bytes, size, NULL, &error));
    assert_true(tensor_make(&in, ELEMENT_FLOAT32, 4, dims));
    memcpy(in.data, input->data, in.count * sizeof(float));
    if (!reference_execute(&g, &in, &out, NULL, &error))
        fail_msg("%s", error.text);
    reference_array a = {1, 1, (uint32_t)out.count, malloc(out.count * sizeof(float))};
    for (size_t i = 0; i < out.count; i++)
        a.data[i] = (float)tensor_number(&out, i);
    tensor_free(&in);
    tensor_free(&out);
    onnx_graph_free(&g);
    return a;
}

/* The largest differences between the compiled model, in FP16 and in INT8, and ONNX. */
static inline void check(onnx_builder *b, bool arrays, const char *what)
{
    format_error error = {0};
    size_t size, made_size;
    uint8_t *bytes = ob_pack(b, &size), *made;
    ob_free(b);
    compiler *c = compiler_open(bytes, size, NULL, &error);
    if (!c)
        fail_msg("%s: %s", what, error.text);
    reference_array input = image(3, CHECK_HEIGHT, CHECK_WIDTH), found;
    reference_array expected = defined(bytes, size, &input);
    assert_true(compiler_calibrate(c, &input, &error));
    for (int k = 0; k < 2; k++) {
        compiler_options o = half_planes;
        o.int8 = k;
        emit(c, &o, &made, &made_size);
        run_engine(made, made_size, &input, &found);
        double most = 0;
        for (uint32_t i = 0; i < expected.width; i++)
            most = fmax(most, fabs((double)expected.data[i] - (double)found.data[i]));
        if (most > (k ? 0.4 : 0.03))
            fail_msg("%s: differs by %g (INT8: %d)", what, most, k);
        free(found.data);
        free(made);
    }
    assert_int_equal(compiler_has_arrays(c), arrays);
    free(input.data);
    free(expected.data);
    free(bytes);
    compiler_close(c);
}

#endif
