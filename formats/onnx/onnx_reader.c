// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_reader.h"

#include <stdlib.h>

/* ---- messages ----------------------------------------------------------------------------- */

/* protobuf-c unpacks nested messages by recursion and allocates memory for each. Two limits keep a
 * hostile file from exhausting the stack or the memory: nesting is measured before unpacking, and
 * unpacking may allocate only a fixed number of bytes per byte of the file. */
enum { MAX_NESTING = 40, MEMORY_PER_BYTE = 16, MEMORY_BASE = 16 << 20 };

static bool read_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
        const uint8_t byte = *(*p)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* Walks the wire format. True if every field ends inside its message and no message of the schema
 * is nested deeper than depth. */
static bool nesting_ok(const ProtobufCMessageDescriptor *schema, const uint8_t *p, uint64_t size,
                       unsigned depth)
{
    const uint8_t *end = p + size;
    while (p < end) {
        uint64_t tag, length = 0;
        if (!read_varint(&p, end, &tag))
            return false;
        const unsigned wire = tag & 7;
        if ((wire == 0 || wire == 2) && !read_varint(&p, end, &length))
            return false;
        if (wire == 0)
            continue;
        if (wire != 2)
            length = wire == 1 ? 8 : wire == 5 ? 4 : UINT64_MAX;
        if (length > (uint64_t)(end - p))
            return false;
        const ProtobufCFieldDescriptor *field =
            tag >> 3 > UINT32_MAX
                ? NULL
                : protobuf_c_message_descriptor_get_field(schema, (unsigned)(tag >> 3));
        if (wire == 2 && field && field->type == PROTOBUF_C_TYPE_MESSAGE &&
            (!depth || !nesting_ok(field->descriptor, p, length, depth - 1)))
            return false;
        p += length;
    }
    return true;
}

static void *budget_alloc(void *budget, size_t size)
{
    size_t *left = budget;
    if (size > *left)
        return NULL;
    *left -= size;
    return malloc(size);
}

static void budget_free(void *budget, void *memory)
{
    (void)budget;
    free(memory);
}

/* NULL: not such a message, or a damaged one. */
static void *unpack(const ProtobufCMessageDescriptor *schema, const void *bytes, size_t size)
{
    size_t budget = size * MEMORY_PER_BYTE + MEMORY_BASE;
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
    return nesting_ok(schema, bytes, size, MAX_NESTING)
               ? protobuf_c_message_unpack(schema, &allocator, size, bytes)
               : NULL;
}

Onnx__ModelProto *onnx_parse(const void *bytes, size_t size, format_error *error)
{
    if (size > ONNX_MAX_BYTES) {
        format_fail(error, "the file has %zu bytes; an ONNX model may have at most %d", size,
                    ONNX_MAX_BYTES);
        return NULL;
    }
    Onnx__ModelProto *model = unpack(&onnx__model_proto__descriptor, bytes, size);
    if (model && !model->graph) {
        onnx_release(model);
        model = NULL;
    }
    if (!model)
        format_fail(error, "not an ONNX model, or a damaged one");
    return model;
}

Onnx__TensorProto *onnx_parse_tensor(const void *bytes, size_t size, format_error *error)
{
    Onnx__TensorProto *tensor =
        size <= ONNX_MAX_BYTES ? unpack(&onnx__tensor_proto__descriptor, bytes, size) : NULL;
    if (!tensor)
        format_fail(error, "not an ONNX tensor, or a damaged one");
    return tensor;
}

void onnx_release_tensor(Onnx__TensorProto *tensor)
{
    onnx__tensor_proto__free_unpacked(tensor, NULL);
}

void onnx_release(Onnx__ModelProto *model)
{
    onnx__model_proto__free_unpacked(model, NULL);
}

const char *onnx_text(const char *text)
{
    return text ? text : "";
}
