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

/* The kind of an attribute, which is the same in all operators but for `value`. */
static onnx_kind kind_of(const onnx_attribute *a)
{
    static const char floats[] =
        "alpha beta bias cubic_coeff_a epsilon extrapolation_value gamma lambd max min momentum "
        "ratio scale scales softcap";
    static const char texts[] = "approximate auto_pad coordinate_transformation_mode equation "
                                "keep_aspect_ratio_policy mode "
                                "nearest_mode padding_mode reduction round_mode";
    return !strcmp(a->name, "value")    ? a->kind
           : is_listed(floats, a->name) ? ONNX_FLOATS
           : is_listed(texts, a->name)  ? ONNX_TEXT
                                        : ONNX_INTS;
}

/* Of other attributes with numbers there is one. */
static bool is_list(const char *name)
{
    return is_listed(
        "axes dilations ends kernel_shape output_padding output_shape pads perm scales "
        "split starts strides",
        name);
}

bool reference_attribute_fault(const reference_row *row, const onnx_node *node, char *text,
                               size_t size)
{
    static const char *const kinds[] = {[ONNX_INTS] = "integers",
                                        [ONNX_FLOATS] = "floats",
                                        [ONNX_TEXT] = "a text",
                                        [ONNX_TENSOR] = "a tensor",
                                        [ONNX_OTHER] = "something else"};
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const onnx_attribute *a = &node->attributes[i];
        const bool known = is_listed(row->attributes, a->name), numbers = a->ints || a->floats;
        if (known && a->kind == kind_of(a) && (!numbers || a->count == 1 || is_list(a->name)))
            continue;
        if (known && a->kind == kind_of(a))
            snprintf(text, size, "has %zu numbers as its attribute '%.40s'; expected one", a->count,
                     a->name);
        else if (known)
            snprintf(text, size, "has %s as its attribute '%.40s'; expected %s", kinds[a->kind],
                     a->name, kinds[kind_of(a)]);
        else
            snprintf(text, size, "has the attribute '%.40s', which mona does not know", a->name);
        return true;
    }
    return false;
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
