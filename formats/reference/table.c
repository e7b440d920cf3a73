// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "formats/reference/operators.h"

#define BIT(type) (1u << (type))

enum { ANY_COUNT = OPERATOR_ANY_COUNT };

/* Sets of element types. */
#define FLOAT32 BIT(ELEMENT_FLOAT32)
#define FLOATS (FLOAT32 | BIT(ELEMENT_FLOAT16) | BIT(ELEMENT_BFLOAT16) | BIT(ELEMENT_DOUBLE))
#define BYTES (BIT(ELEMENT_UINT8) | BIT(ELEMENT_INT8))
#define INTS                                                                                       \
    (BYTES | BIT(ELEMENT_UINT16) | BIT(ELEMENT_INT16) | BIT(ELEMENT_UINT32) | BIT(ELEMENT_INT32) | \
     BIT(ELEMENT_UINT64) | BIT(ELEMENT_INT64))
#define NUMBERS (FLOATS | INTS)
#define LOGIC BIT(ELEMENT_BOOL)
#define SMALL                                                                                      \
    (BIT(ELEMENT_FLOAT8E4M3FN) | BIT(ELEMENT_FLOAT8E4M3FNUZ) | BIT(ELEMENT_FLOAT8E5M2) |           \
     BIT(ELEMENT_FLOAT8E5M2FNUZ) | BIT(ELEMENT_FLOAT8E8M0) | BIT(ELEMENT_FLOAT4E2M1) |             \
     BIT(ELEMENT_UINT4) | BIT(ELEMENT_INT4) | BIT(ELEMENT_UINT2) | BIT(ELEMENT_INT2))
#define ANY (NUMBERS | LOGIC | SMALL)

#define ROW(name, since, min, max, types, function, whole, map, maps, array, arrays, attributes,   \
            images, integers, code)                                                                \
    {name, since, min, max, types, op_##function, whole, attributes},

static const reference_row rows[] = {
#include "formats/operators.inc"
};

const reference_row *reference_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

static bool is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; length && (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

const char *reference_unknown_attribute(const reference_row *row, const onnx_node *node)
{
    for (uint32_t i = 0; i < node->attribute_count; i++)
        if (!is_listed(row->attributes, node->attributes[i].name))
            return node->attributes[i].name;
    return NULL;
}

void reference_types(uint32_t types, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int t = 0; t < ELEMENT_TYPE_COUNT; t++)
        if (types >> t & 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     element_name(t));
}
