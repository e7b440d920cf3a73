// SPDX-License-Identifier: Apache-2.0
/* ONNX files: protocol-buffer messages, and their tensors. */
#ifndef MONA_ONNX_READER_H
#define MONA_ONNX_READER_H

#include <stddef.h>
#include <stdint.h>

#include "onnx.pb-c.h"
#include "formats/tensor.h"

enum { ONNX_MAX_BYTES = 256 << 20 };                /* of a file */
#define ONNX_MAX_EXTERNAL_BYTES ((uint64_t)2 << 30) /* of a model's tensors in other files */

/* NULL: not an ONNX model. Released with onnx_release. Memory stays in proportion to size and
 * nesting is bounded, whatever the bytes are. */
Onnx__ModelProto *onnx_parse(const void *bytes, size_t size, format_error *error);
void onnx_release(Onnx__ModelProto *model);

/* The same for a file of one tensor, released with onnx_release_tensor. */
Onnx__TensorProto *onnx_parse_tensor(const void *bytes, size_t size, format_error *error);
void onnx_release_tensor(Onnx__TensorProto *tensor);

/* Never NULL: "" where the file says nothing. */
const char *onnx_text(const char *text);

/* Memory that a tensor whose elements are in another file will take; 0: they are in this one. */
uint64_t onnx_tensor_external_bytes(const Onnx__TensorProto *proto);

/* The tensor's shape and elements, whether raw, typed, or in a file of the folder where the model
 * is (NULL: none is read). *t is released with tensor_free. Errors name the tensor. */
bool onnx_tensor_read(const Onnx__TensorProto *proto, const char *folder, tensor *t,
                      format_error *error);

/* Reads bytes [offset, offset + length) of an external-data file; length UINT64_MAX: to the end.
 * location is relative to folder, and what it names must lie in it. *bytes is released with free().
 */
bool onnx_external_read(const char *folder, const char *location, uint64_t offset, uint64_t length,
                        uint8_t **bytes, size_t *size, format_error *error);

#endif
