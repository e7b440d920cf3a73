// SPDX-License-Identifier: Apache-2.0
/* Builds small .mona files record by record, directly from engine/model_format.h, for tests
 * of models that no compiler would write. */
#ifndef MONA_TESTS_MODEL_BUILDER_H
#define MONA_TESTS_MODEL_BUILDER_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model_format.h"
#include "mona.h"

enum { BUILDER_TENSORS = 1024, BUILDER_OPS = 1024 };

typedef struct model_builder {
    uint32_t inputs, outputs, tensor_count, op_count;
    mona_file_tensor tensors[BUILDER_TENSORS];
    mona_file_op ops[BUILDER_OPS];
    char strings[16384];
    uint32_t strings_bytes;
    uint8_t data[1 << 20];
    uint32_t data_bytes;
} model_builder;

static inline model_builder *builder_new(void)
{
    model_builder *b = calloc(1, sizeof *b);
    b->strings_bytes = 1;
    return b;
}

static inline uint32_t builder_string(model_builder *b, const char *text)
{
    const uint32_t at = b->strings_bytes;
    assert(at + strlen(text) + 1 <= sizeof b->strings);
    strcpy(b->strings + at, text);
    b->strings_bytes += (uint32_t)strlen(text) + 1;
    return at;
}

/* Add inputs first, then outputs, then the rest. */
static inline uint32_t builder_tensor(model_builder *b, const char *name, mona_type type,
                                      uint32_t channels, float scale)
{
    assert(b->tensor_count < BUILDER_TENSORS);
    b->tensors[b->tensor_count] = (mona_file_tensor){.name = builder_string(b, name),
                                                     .type = (uint8_t)type,
                                                     .channels = channels,
                                                     .scale = scale};
    return b->tensor_count++;
}

static inline uint32_t builder_input(model_builder *b, const char *name, mona_type type,
                                     uint32_t channels, float scale)
{
    b->inputs++;
    return builder_tensor(b, name, type, channels, scale);
}

static inline uint32_t builder_output(model_builder *b, const char *name, mona_type type,
                                      uint32_t channels, float scale)
{
    b->outputs++;
    return builder_tensor(b, name, type, channels, scale);
}

static inline uint32_t builder_data(model_builder *b, const void *bytes, size_t size)
{
    const uint32_t at = (b->data_bytes + 63) / 64 * 64;
    assert(at + size <= sizeof b->data);
    memcpy(b->data + at, bytes, size);
    b->data_bytes = at + (uint32_t)size;
    return at;
}

static inline mona_file_op *builder_op(model_builder *b, mona_op_kind kind, uint32_t output,
                                       uint32_t input_count, const uint32_t *inputs)
{
    assert(b->op_count < BUILDER_OPS);
    mona_file_op *op = &b->ops[b->op_count++];
    op->kind = kind;
    op->name = builder_string(b, "op");
    op->input_count = input_count;
    for (uint32_t i = 0; i < MONA_OP_MAX_INPUTS; i++)
        op->inputs[i] = i < input_count ? inputs[i] : MONA_NONE;
    op->output = output;
    op->epilogue =
        (mona_file_epilogue){.residual_scale = 0x3c00, .output_scale = 0x3c00, .slopes = MONA_NONE};
    return op;
}

static inline void builder_seal(uint8_t *bytes)
{
    mona_file_header *h = (mona_file_header *)bytes;
    h->crc32 = 0;
    h->crc32 = mona_crc32(0, bytes, h->file_bytes);
}

static inline uint32_t builder_version(const model_builder *b)
{
    bool zeros = false;
    for (uint32_t t = 0; t < b->tensor_count; t++)
        zeros |= b->tensors[t].zero != 0;
    return zeros ? MONA_FILE_VERSION_ZEROS : MONA_FILE_VERSION;
}

/* 64-byte aligned; the caller frees it. Frees the builder. */
static inline uint8_t *builder_finish(model_builder *b, size_t *size)
{
    const size_t tensors = sizeof(mona_file_header);
    const size_t ops = (tensors + b->tensor_count * sizeof(mona_file_tensor) + 63) / 64 * 64;
    const size_t strings = ops + b->op_count * sizeof(mona_file_op);
    const size_t data = (strings + b->strings_bytes + 63) / 64 * 64;
    *size = data + b->data_bytes;
    uint8_t *bytes = aligned_alloc(64, (*size + 63) / 64 * 64);
    memset(bytes, 0, *size);
    mona_file_header *h = (mona_file_header *)bytes;
    *h = (mona_file_header){
        .version = builder_version(b),
        .file_bytes = *size,
        .input_count = b->inputs,
        .output_count = b->outputs,
        .tensor_count = b->tensor_count,
        .op_count = b->op_count,
        .tensors_offset = tensors,
        .ops_offset = ops,
        .strings_offset = strings,
        .strings_bytes = b->strings_bytes,
        .data_offset = data,
        .data_bytes = b->data_bytes,
    };
    memcpy(h->magic, MONA_FILE_MAGIC, sizeof h->magic);
    memcpy(bytes + tensors, b->tensors, b->tensor_count * sizeof(mona_file_tensor));
    memcpy(bytes + ops, b->ops, b->op_count * sizeof(mona_file_op));
    memcpy(bytes + strings, b->strings, b->strings_bytes);
    memcpy(bytes + data, b->data, b->data_bytes);
    builder_seal(bytes);
    free(b);
    return bytes;
}

/* The window of a plain 3x3 convolution; the caller sets weights, bias and scales. */
static inline mona_file_conv builder_conv_3x3(void)
{
    return (mona_file_conv){.kernel_h = 3,
                            .kernel_w = 3,
                            .stride_h = 1,
                            .stride_w = 1,
                            .dilation_h = 1,
                            .dilation_w = 1,
                            .pad_top = 1,
                            .pad_left = 1,
                            .pad_bottom = 1,
                            .pad_right = 1,
                            .groups = 1};
}

/* The window of a 3x3 pool with as many results as samples. */
static inline mona_file_pool builder_pool_3x3(void)
{
    return (mona_file_pool){.kernel_h = 3,
                            .kernel_w = 3,
                            .stride_h = 1,
                            .stride_w = 1,
                            .dilation_h = 1,
                            .dilation_w = 1,
                            .pad_top = 1,
                            .pad_left = 1,
                            .pad_bottom = 1,
                            .pad_right = 1,
                            .scale = 1};
}

#endif
