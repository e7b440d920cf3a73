// SPDX-License-Identifier: Apache-2.0
/* ONNX files: protocol-buffer messages, and their tensors. */
#ifndef MONA_ONNX_READER_H
#define MONA_ONNX_READER_H

#include <stddef.h>
#include <stdint.h>

#include "onnx.pb-c.h"
#include "formats/tensor.h"

enum { ONNX_MAX_BYTES = 256 << 20 };                /* of one file */
#define ONNX_MAX_EXTERNAL_BYTES ((uint64_t)2 << 30) /* of a model's tensors in other files */

/* NULL: not an ONNX model. Release it with onnx_release. Whatever the bytes are, memory is
 * proportional to their number and nesting is bounded. */
Onnx__ModelProto *onnx_parse(const void *bytes, size_t size, format_error *error);
void onnx_release(Onnx__ModelProto *model);

/* The same for a file of one tensor; release it with onnx_release_tensor. */
Onnx__TensorProto *onnx_parse_tensor(const void *bytes, size_t size, format_error *error);
void onnx_release_tensor(Onnx__TensorProto *tensor);

/* Never NULL: "" if the file has no such text. */
const char *onnx_text(const char *text);

/* The memory for a tensor whose elements are in another file; 0: they are in this one. */
uint64_t onnx_tensor_external_bytes(const Onnx__TensorProto *proto);

/* Reads a tensor's shape and elements, whether raw, typed or in a file of the model's folder (NULL:
 * such files are not read). Release *t with tensor_free. Errors name the tensor. */
bool onnx_tensor_read(const Onnx__TensorProto *proto, const char *folder, tensor *t,
                      format_error *error);

/* Reads bytes [offset, offset + length) of an external-data file. location is relative to folder
 * and must name a file inside it. Release *bytes with free(). */
bool onnx_external_read(const char *folder, const char *location, uint64_t offset, uint64_t length,
                        uint8_t **bytes, size_t *size, format_error *error);

#endif
