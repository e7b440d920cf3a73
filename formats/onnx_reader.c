#include "onnx_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "half.h"

/* ---- messages ----------------------------------------------------------------------------- */

/* protobuf-c unpacks nested messages by recursion and allocates for each. Two bounds keep a hostile
 * file from using up the stack or the memory: nesting is measured before unpacking, and unpacking
 * may take only so many bytes for each byte of the file. */
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

/* Walks the wire format: true if every field ends inside its message and no message of the schema
 * lies deeper than depth. */
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

Onnx__ModelProto *onnx_parse(const void *bytes, size_t size, format_error *error)
{
    if (size > ONNX_MAX_BYTES) {
        format_fail(error, "%zu bytes; an ONNX model may have %d", size, ONNX_MAX_BYTES);
        return NULL;
    }
    Onnx__ModelProto *model = NULL;
    if (nesting_ok(&onnx__model_proto__descriptor, bytes, size, MAX_NESTING)) {
        size_t budget = size * MEMORY_PER_BYTE + MEMORY_BASE;
        ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
        model = onnx__model_proto__unpack(&allocator, size, bytes);
    }
    if (model && !model->graph) {
        onnx_release(model);
        model = NULL;
    }
    if (!model)
        format_fail(error, "not an ONNX model, or a damaged one");
    return model;
}

void onnx_release(Onnx__ModelProto *model)
{
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
}

const char *onnx_text(const char *text)
{
    return text ? text : "";
}

/* ---- tensors ------------------------------------------------------------------------------ */

const char *onnx_type_name(int32_t type)
{
    static const char *const names[] = {
        "undefined", "float32", "uint8",     "int8",       "uint16",   "int16",
        "int32",     "int64",   "string",    "bool",       "float16",  "double",
        "uint32",    "uint64",  "complex64", "complex128", "bfloat16",
    };
    return type >= 0 && (size_t)type < sizeof names / sizeof *names ? names[type] : "unknown";
}

bool onnx_tensor_count(const Onnx__TensorProto *tensor, size_t *count, format_error *error)
{
    const char *name = onnx_text(tensor->name);
    if (tensor->n_dims > ONNX_MAX_RANK)
        return format_fail(error, "tensor '%s' has %zu sides; at most %d are read", name,
                           tensor->n_dims, ONNX_MAX_RANK);
    *count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        const int64_t side = tensor->dims[i];
        if (side < 0 || (side && *count > ONNX_MAX_BYTES / (uint64_t)side))
            return format_fail(error, "tensor '%s' has an impossible side, %" PRId64, name, side);
        *count *= (size_t)side;
    }
    return true;
}

/* Bytes of one element of raw_data; 0: a type that is not read. */
static size_t element_size(int32_t type)
{
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT8:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
    case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
        return 1;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT16:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT16:
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
        return 2;
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
        return 4;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
        return 8;
    }
    return 0;
}

static float raw_element(int32_t type, const uint8_t *p)
{
    union {
        float f;
        double d;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
    } v;
    memcpy(&v, p, element_size(type));
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
        return (int8_t)*p;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT16:
        return v.u16;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT16:
        return v.i16;
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
        return (float)half_value(v.u16);
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        return v.f;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
        return (float)v.i32;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
        return (float)v.u32;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        return (float)v.d;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return (float)v.i64;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
        return (float)v.u64;
    }
    return *p;
}

/* The typed field that holds elements of this type, and how many it has. int32_data also holds the
 * smaller integers, and float16 as bits. */
static float typed_element(const Onnx__TensorProto *t, size_t i)
{
    switch (t->data_type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        return t->float_data[i];
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        return (float)t->double_data[i];
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return (float)t->int64_data[i];
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
        return (float)t->uint64_data[i];
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
        return (float)half_value((uint16_t)t->int32_data[i]);
    }
    return (float)t->int32_data[i];
}

static size_t typed_count(const Onnx__TensorProto *t)
{
    switch (t->data_type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        return t->n_float_data;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        return t->n_double_data;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return t->n_int64_data;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
        return t->n_uint64_data;
    }
    return t->n_int32_data;
}

static bool external(const Onnx__TensorProto *t)
{
    return t->n_external_data || (t->has_data_location &&
                                  t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
}

bool onnx_tensor_floats(const Onnx__TensorProto *t, float *data, size_t count, format_error *error)
{
    const char *name = onnx_text(t->name);
    const size_t size = element_size(t->data_type);
    if (external(t))
        return format_fail(error,
                           "tensor '%s' keeps its data in another file; store it in the "
                           "model (onnx.save without save_as_external_data)",
                           name);
    if (!size)
        return format_fail(error, "tensor '%s' holds %s, which is not read", name,
                           onnx_type_name(t->data_type));
    const bool raw = t->has_raw_data && t->raw_data.len;
    if (raw ? t->raw_data.len / size != count || t->raw_data.len % size : typed_count(t) != count)
        return format_fail(error, "tensor '%s' needs %zu elements of %s by its shape; found %zu",
                           name, count, onnx_type_name(t->data_type),
                           raw ? t->raw_data.len / size : typed_count(t));
    for (size_t i = 0; i < count; i++)
        data[i] =
            raw ? raw_element(t->data_type, t->raw_data.data + i * size) : typed_element(t, i);
    return true;
}
