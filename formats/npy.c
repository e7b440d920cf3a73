// SPDX-License-Identifier: Apache-2.0
#include "formats/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *descr;
    element_type element;
} types[] = {
    {"<f4", ELEMENT_FLOAT32}, {"<f2", ELEMENT_FLOAT16}, {"<f8", ELEMENT_DOUBLE},
    {"|u1", ELEMENT_UINT8},   {"|i1", ELEMENT_INT8},    {"<u2", ELEMENT_UINT16},
    {"<i4", ELEMENT_INT32},   {"<i8", ELEMENT_INT64},   {"<i2", ELEMENT_INT16},
    {"<u4", ELEMENT_UINT32},  {"<u8", ELEMENT_UINT64},  {"|b1", ELEMENT_BOOL},
};

#define MAGIC "\x93NUMPY"

enum { TYPE_COUNT = sizeof types / sizeof *types, PREFIX = 10 };

double npy_value(const npy_array *array, uint64_t i)
{
    return element_number(array->type,
                          (const uint8_t *)array->data + i * element_size(array->type));
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The text after `'key':` and spaces, or NULL. The header ends in NUL. */
static const char *entry(const char *header, const char *key)
{
    const char *p = strstr(header, key);
    if (!p)
        return NULL;
    p += strlen(key);
    p += strspn(p, " ");
    return *p == ':' ? p + 1 + strspn(p + 1, " ") : NULL;
}

static bool parse_type(npy_array *array, const char *header, format_error *error)
{
    const char *descr = entry(header, "'descr'");
    for (int i = 0; descr && i < TYPE_COUNT; i++)
        if (descr[0] == '\'' && strchr("<|=", descr[1]) && descr[1] &&
            !strncmp(descr + 2, types[i].descr + 1, 2) && descr[4] == '\'') {
            array->type = types[i].element;
            return true;
        }
    const char *found = descr ? descr : "(none)";
    return format_fail(error,
                       "element type %.*s is not supported; expected '<f4', '<f2', '<f8', '|u1', "
                       "'|i1', '<i2', '<u2', '<i4', '<u4', '<i8', '<u8' or '|b1'",
                       (int)strcspn(found, ",}"), found);
}

static bool parse_shape(npy_array *array, const char *header, format_error *error)
{
    const char *p = entry(header, "'shape'");
    if (!p || *p++ != '(')
        return format_fail(error, "the .npy header has no shape");
    uint64_t product = 1; /* without dimensions of 0, which would hide an overflow */
    array->rank = 0;
    array->count = 1;
    for (p += strspn(p, " "); *p != ')'; p += strspn(p, " ")) {
        char *end;
        if (*p < '0' || *p > '9' || array->rank == NPY_MAX_RANK)
            return format_fail(error, "the .npy shape is damaged or has more than %d dimensions",
                               NPY_MAX_RANK);
        const uint64_t dim = strtoull(p, &end, 10);
        if (dim && product > SIZE_MAX / 16 / dim)
            return format_fail(error, "the .npy shape is too large");
        product *= dim ? dim : 1;
        array->shape[array->rank++] = dim;
        array->count *= dim;
        p = end + strspn(end, " ");
        if (*p == ',')
            p++;
        else if (*p != ')')
            return format_fail(error, "the .npy shape is damaged");
    }
    return true;
}

static bool parse_header(npy_array *array, const char *header, format_error *error)
{
    const char *fortran = entry(header, "'fortran_order'");
    if (!fortran || strncmp(fortran, "False", 5))
        return format_fail(error, "expected 'fortran_order': False in the .npy header; save with "
                                  "numpy.ascontiguousarray");
    return parse_type(array, header, error) && parse_shape(array, header, error);
}

bool npy_begins(const uint8_t *bytes, size_t size)
{
    return size >= NPY_MAGIC && !memcmp(bytes, MAGIC, NPY_MAGIC);
}

bool npy_parse_header(npy_array *array, const uint8_t *bytes, size_t size, size_t *elements,
                      format_error *error)
{
    if (size < PREFIX + 2 || !npy_begins(bytes, size))
        return format_fail(error, "not a .npy file");
    const bool wide = bytes[6] >= 2;
    if (bytes[6] < 1 || bytes[6] > 3)
        return format_fail(error, ".npy version %d; expected 1, 2 or 3", bytes[6]);
    const size_t begin = wide ? PREFIX + 2 : PREFIX;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (wide)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > size - begin || length > NPY_MAX_HEADER - PREFIX - 2)
        return format_fail(error, "the .npy header is cut off or damaged");
    char *header = malloc(length + 1);
    if (!header)
        return format_fail(error, "out of memory");
    memcpy(header, bytes + begin, length);
    header[length] = 0;
    const bool ok = parse_header(array, header, error);
    free(header);
    *elements = begin + length;
    array->data = NULL;
    return ok;
}

bool npy_parse(npy_array *array, const uint8_t *bytes, size_t size, format_error *error)
{
    size_t begin;
    if (!npy_parse_header(array, bytes, size, &begin, error))
        return false;
    const uint64_t expected = array->count * element_size(array->type), found = size - begin;
    if (expected != found)
        return format_fail(error, "the .npy shape needs %" PRIu64 " bytes, found %" PRIu64,
                           expected, found);
    array->data = (void *)(uintptr_t)(bytes + begin);
    return true;
}

/* ---- writing ------------------------------------------------------------------------------ */

uint8_t *npy_format(const npy_array *array, size_t *size)
{
    char header[256];
    int type = 0;
    while (types[type].element != array->type)
        type++;
    int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     types[type].descr);
    for (unsigned i = 0; i < array->rank; i++)
        n += snprintf(header + n, sizeof header - (size_t)n, "%" PRIu64 "%s", array->shape[i],
                      i + 1 < array->rank ? ", "
                      : array->rank == 1  ? ","
                                          : "");
    n += snprintf(header + n, sizeof header - (size_t)n, "), }");
    /* Spaces and a newline pad the data to a multiple of 64. */
    const size_t length = ((size_t)n + 1 + PREFIX + 63) / 64 * 64 - PREFIX;
    const size_t data = array->count * element_size(array->type);
    uint8_t *bytes = malloc(PREFIX + length + data);
    if (!bytes)
        return NULL;
    memcpy(bytes, MAGIC "\x01\x00", 8);
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
    memset(bytes + PREFIX, ' ', length);
    memcpy(bytes + PREFIX, header, (size_t)n);
    bytes[PREFIX + length - 1] = '\n';
    if (data)
        memcpy(bytes + PREFIX + length, array->data, data);
    *size = PREFIX + length + data;
    return bytes;
}
