// SPDX-License-Identifier: Apache-2.0
/* Converts a TensorProto to a tensor. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/onnx/onnx_reader.h"

/* How elements of a tensor are stored, and how many there are. */
typedef struct stored {
    const uint8_t *bytes; /* little-endian, elements of `bits` bits without gaps */
    size_t size;
    uint8_t *owned; /* to be freed */
} stored;

static bool is_external(const Onnx__TensorProto *t)
{
    return t->n_external_data || (t->has_data_location &&
                                  t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL);
}

static bool read_shape(const Onnx__TensorProto *t, tensor *out, format_error *error)
{
    const char *name = onnx_text(t->name);
    if (t->n_dims > TENSOR_MAX_RANK)
        return format_fail(error, "tensor '%s' has %zu dimensions; at most %d are supported", name,
                           t->n_dims, TENSOR_MAX_RANK);
    if (!element_size(t->data_type))
        return format_fail(error, "tensor '%s' holds %s, which is not supported", name,
                           element_name(t->data_type));
    if (tensor_shape(out, (element_type)t->data_type, (uint32_t)t->n_dims, t->dims))
        return true;
    int64_t dim = 0;
    for (size_t i = 0; i < t->n_dims; i++)
        dim = dim < 0 || (dim > t->dims[i] && t->dims[i] >= 0) ? dim : t->dims[i];
    return format_fail(error, "tensor '%s' has an impossible dimension, %" PRId64, name, dim);
}

uint64_t onnx_tensor_external_bytes(const Onnx__TensorProto *t)
{
    tensor shape;
    const bool sound =
        t->n_dims <= TENSOR_MAX_RANK &&
        tensor_shape(&shape, (element_type)t->data_type, (uint32_t)t->n_dims, t->dims);
    return sound && is_external(t) ? tensor_bytes(&shape) : 0;
}

static uint64_t packed_bytes(const tensor *t)
{
    return ((uint64_t)t->count * element_bits(t->type) + 7) / 8;
}

/* ---- typed fields ------------------------------------------------------------------------- */

/* The field that holds elements of this type: its numbers, and how many bytes each takes there.
 * int32_data also holds smaller integers, and floats of 16 bits or fewer as bits; types of 2 and 4
 * bits are first packed into bytes. */
typedef struct field {
    const void *numbers;
    size_t count, size;
} field;

static field typed_field(const Onnx__TensorProto *t)
{
    switch (t->data_type) {
    case ELEMENT_FLOAT32:
        return (field){t->float_data, t->n_float_data, 4};
    case ELEMENT_DOUBLE:
        return (field){t->double_data, t->n_double_data, 8};
    case ELEMENT_INT64:
        return (field){t->int64_data, t->n_int64_data, 8};
    case ELEMENT_UINT32:
    case ELEMENT_UINT64:
        return (field){t->uint64_data, t->n_uint64_data, 8};
    }
    return (field){t->int32_data, t->n_int32_data, 4};
}

/* Collects the low bytes of each number. */
static bool gather_typed(const Onnx__TensorProto *t, const tensor *shape, stored *s,
                         format_error *error)
{
    const field f = typed_field(t);
    const bool packed = element_bits(shape->type) < 8;
    const size_t each = packed ? 1 : element_bits(shape->type) / 8;
    const uint64_t expected = packed ? packed_bytes(shape) : shape->count;
    if (f.count != expected)
        return format_fail(error, "tensor '%s' needs %zu elements of %s by its shape; found %zu",
                           onnx_text(t->name), shape->count, element_name(shape->type), f.count);
    s->size = f.count * each;
    s->bytes = s->owned = malloc(s->size ? s->size : 1);
    if (!s->owned)
        return format_fail(error, "out of memory");
    for (size_t i = 0; i < f.count; i++)
        memcpy(s->owned + i * each, (const uint8_t *)f.numbers + i * f.size, each);
    return true;
}

/* ---- other files -------------------------------------------------------------------------- */

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end;
}

static bool gather_external(const Onnx__TensorProto *t, const tensor *shape, const char *folder,
                            stored *s, format_error *error)
{
    const char *location = "", *name = onnx_text(t->name);
    uint64_t offset = 0, length = packed_bytes(shape);
    if (!folder)
        return format_fail(error,
                           "tensor '%s' keeps its data in another file, and the model was not "
                           "opened from a folder",
                           name);
    for (size_t i = 0; i < t->n_external_data; i++) {
        const char *key = onnx_text(t->external_data[i]->key);
        const char *value = onnx_text(t->external_data[i]->value);
        if (!strcmp(key, "location"))
            location = value;
        else if ((!strcmp(key, "offset") && !read_number(value, &offset)) ||
                 (!strcmp(key, "length") && !read_number(value, &length)))
            return format_fail(error,
                               "tensor '%s': expected a whole number as the %s of its data in "
                               "another file, found '%.40s'",
                               name, key, value);
    }
    if (length != packed_bytes(shape))
        return format_fail(error,
                           "tensor '%s' needs %" PRIu64 " bytes by its shape; found %" PRIu64
                           " in its file",
                           name, packed_bytes(shape), length);
    format_error inner = {0};
    if (!onnx_external_read(folder, location, offset, length, &s->owned, &s->size, &inner))
        return format_fail(error, "tensor '%s' keeps its data in another file: %s", name,
                           inner.text);
    s->bytes = s->owned;
    return true;
}

/* ------------------------------------------------------------------------------------------- */

static bool find_bytes(const Onnx__TensorProto *t, const tensor *shape, const char *folder,
                       stored *s, format_error *error)
{
    if (is_external(t))
        return gather_external(t, shape, folder, s, error);
    if (!t->has_raw_data || !t->raw_data.len)
        return gather_typed(t, shape, s, error);
    if (t->raw_data.len != packed_bytes(shape))
        return format_fail(error, "tensor '%s' needs %zu elements of %s by its shape; found %zu",
                           onnx_text(t->name), shape->count, element_name(shape->type),
                           (size_t)((uint64_t)t->raw_data.len * 8 / element_bits(shape->type)));
    s->bytes = t->raw_data.data;
    s->size = t->raw_data.len;
    return true;
}

/* The first element of a byte lies in its low bits. */
static void unpack(tensor *t, const uint8_t *bytes)
{
    const unsigned bits = element_bits(t->type), each = 8 / bits;
    for (size_t i = 0; i < t->count; i++) {
        const unsigned code = bytes[i / each] >> (i % each * bits) & ((1u << bits) - 1);
        if (element_is_float(t->type))
            ((uint8_t *)t->data)[i] = (uint8_t)code;
        else
            tensor_set_int(t, i, code);
    }
}

bool onnx_tensor_read(const Onnx__TensorProto *proto, const char *folder, tensor *t,
                      format_error *error)
{
    stored s = {0};
    *t = (tensor){0};
    if (!read_shape(proto, t, error))
        return false;
    bool ok = find_bytes(proto, t, folder, &s, error);
    if (ok && !tensor_make(t, t->type, t->rank, t->dims))
        ok = format_fail(error, "out of memory");
    if (ok && element_bits(t->type) < 8)
        unpack(t, s.bytes);
    else if (ok)
        memcpy(t->data, s.bytes, s.size);
    for (size_t i = 0; ok && t->type == ELEMENT_BOOL && i < t->count; i++)
        ((uint8_t *)t->data)[i] = ((uint8_t *)t->data)[i] != 0;
    free(s.owned);
    return ok;
}
