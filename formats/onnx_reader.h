/* ONNX files: protocol-buffer messages, and tensors as floats. */
#ifndef MONA_ONNX_READER_H
#define MONA_ONNX_READER_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "onnx.pb-c.h"

enum {
    ONNX_MAX_BYTES = 256 << 20, /* of a file */
    ONNX_MAX_RANK = 8,
};

/* NULL: not an ONNX model. Released with onnx_release. Memory stays in proportion to size and
 * nesting is bounded, whatever the bytes are. */
Onnx__ModelProto *onnx_parse(const void *bytes, size_t size, format_error *error);
void onnx_release(Onnx__ModelProto *model);

/* Never NULL: "" where the file says nothing. */
const char *onnx_text(const char *text);

/* Name of an Onnx__TensorProto__DataType, e.g. "float16". */
const char *onnx_type_name(int32_t type);

/* Number of elements; false: a negative side, too many sides, or too many elements. */
bool onnx_tensor_count(const Onnx__TensorProto *tensor, size_t *count, format_error *error);

/* The elements as floats in data[count], count being that of onnx_tensor_count. Reads float32,
 * float16, double, bool and the integers, whether raw or typed. Errors name the tensor. */
bool onnx_tensor_floats(const Onnx__TensorProto *tensor, float *data, size_t count,
                        format_error *error);

#endif
