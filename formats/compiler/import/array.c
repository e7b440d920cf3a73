// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/import/array.h"

#include <string.h>

#include "formats/element.h"

array array_fail(importer *im, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_fail_node(im->error, im->node->name, im->node->op_type, format, arguments);
    va_end(arguments);
    return array_none;
}

/* ---- types and shapes --------------------------------------------------------------------- */

/* Narrow floats are stored as their values, integers of 2 and 4 bits in bytes. */
mona_type array_type_of(element_type type)
{
    static const struct {
        element_type type;
        mona_type kept;
    } ints[] = {
        {ELEMENT_BOOL, MONA_U8},    {ELEMENT_UINT2, MONA_U8},   {ELEMENT_UINT4, MONA_U8},
        {ELEMENT_UINT8, MONA_U8},   {ELEMENT_INT2, MONA_S8},    {ELEMENT_INT4, MONA_S8},
        {ELEMENT_INT8, MONA_S8},    {ELEMENT_UINT16, MONA_U16}, {ELEMENT_INT16, MONA_S16},
        {ELEMENT_UINT32, MONA_U32}, {ELEMENT_INT32, MONA_S32},  {ELEMENT_UINT64, MONA_U64},
        {ELEMENT_INT64, MONA_S64},
    };
    if (type == ELEMENT_FLOAT16)
        return MONA_F16;
    if (element_is_float(type))
        return MONA_F32;
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (ints[i].type == type)
            return ints[i].kept;
    return MONA_TYPE_COUNT;
}

bool array_is_float(mona_type type)
{
    return type == MONA_F16 || type == MONA_F32;
}

static void set_strides(array *a)
{
    int64_t step = 1;
    for (uint32_t i = a->rank; i-- > 0; step *= a->dims[i])
        a->strides[i] = step;
}

size_t array_elements(uint32_t rank, const int64_t *dims)
{
    size_t count = 1;
    for (uint32_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    return count;
}

array array_of_value(const graph *g, uint32_t value, uint32_t rank, const int64_t *dims)
{
    array a = {.value = value, .type = g->values[value].type, .rank = rank};
    for (uint32_t i = 0; i < rank; i++)
        a.dims[i] = dims[i];
    set_strides(&a);
    return a;
}

/* ---- inputs and outputs ------------------------------------------------------------------- */

const tensor *array_in_tensor(importer *im, uint32_t i)
{
    if (!import_has(im, i)) {
        array_fail(im, "leaves out input %u", i);
        return NULL;
    }
    const onnx_value *v = &im->model->values[im->node->inputs[i]];
    if (!v->shaped)
        array_fail(im,
                   "needs the size of '%.60s', which is open; give the model one (--size WxH, "
                   "--dim NAME=N)",
                   v->name);
    return v->shaped ? &v->tensor : NULL;
}

array array_in(importer *im, uint32_t i)
{
    const tensor *t = array_in_tensor(im, i);
    const uint32_t value = t ? array_value(im, im->node->inputs[i]) : UINT32_MAX;
    if (value == UINT32_MAX)
        return array_none;
    if (im->g->values[value].count != t->count)
        return array_fail(im, "reads '%.60s', which has %zu elements; expected %zu",
                          im->g->values[value].name, im->g->values[value].count, t->count);
    return array_of_value(im->g, value, t->rank, t->dims);
}

static bool inputs_sized(const importer *im)
{
    bool sized = true;
    for (uint32_t i = 0; i < im->node->input_count; i++)
        sized = sized && (!import_has(im, i) || im->model->values[im->node->inputs[i]].shaped);
    return sized;
}

const tensor *array_result(importer *im, uint32_t i)
{
    const onnx_value *v = array_wants(im, i) ? &im->model->values[im->node->outputs[i]] : NULL;
    if (!v)
        array_fail(im, "has no output %u", i);
    else if (!v->shaped && inputs_sized(im))
        array_fail(im,
                   "makes a tensor whose size depends on a computed input; expected a constant");
    else if (!v->shaped)
        array_fail(
            im, "makes a tensor whose size is open; give the model one (--size WxH, --dim NAME=N)");
    return v && v->shaped ? &v->tensor : NULL;
}

mona_type array_result_type(importer *im, uint32_t i)
{
    const tensor *t = array_result(im, i);
    return t ? array_type_of(t->type) : MONA_F32;
}

uint32_t array_axis(const importer *im, uint32_t rank, int64_t otherwise)
{
    const int64_t axis = onnx_int(im->node, "axis", otherwise);
    return (uint32_t)(axis < 0 ? axis + rank : axis);
}

bool array_wants(importer *im, uint32_t i)
{
    return i < im->node->output_count && im->node->outputs[i] != ONNX_NONE;
}

bool array_bind(importer *im, uint32_t i, array a)
{
    const tensor *t = array_result(im, i);
    a = array_dense(im, a);
    if (!t || !array_ok(a))
        return false;
    if (t->count != array_elements(a.rank, a.dims))
        return import_fail(im, "makes %zu elements; expected %zu", array_elements(a.rank, a.dims),
                           t->count);
    im->bindings[im->node->outputs[i]] = (import_binding){.value = UINT32_MAX, .array = a.value};
    return true;
}

/* ---- constants and views ------------------------------------------------------------------ */

array array_constant(importer *im, mona_type type, uint32_t rank, const int64_t *dims,
                     void *elements)
{
    const uint32_t value =
        elements ? graph_add_array(im->g, "", type, array_elements(rank, dims)) : UINT32_MAX;
    if (value == UINT32_MAX)
        return array_fail(im, "needs more memory than there is");
    im->g->values[value].elements = elements;
    return array_of_value(im->g, value, rank, dims);
}

array array_multiples(importer *im, uint32_t rank, const int64_t *dims, int64_t step)
{
    const size_t count = array_elements(rank, dims);
    int64_t *elements = graph_alloc(im->g, count, sizeof *elements);
    for (size_t i = 0; elements && i < count; i++)
        elements[i] = (int64_t)i * step;
    return array_constant(im, MONA_S64, rank, dims, elements);
}

array array_number(importer *im, mona_type type, double number)
{
    void *elements = graph_alloc(im->g, 1, sizeof(int64_t));
    const float single = (float)number;
    const uint16_t half = half_from_double(number);
    const int64_t integer =
        array_is_float(type) ? 0 : (int64_t)number; /* the low bytes come first */
    const void *from = type == MONA_F32   ? (const void *)&single
                       : type == MONA_F16 ? (const void *)&half
                                          : (const void *)&integer;
    if (elements)
        memcpy(elements, from, mona_type_size(type));
    return array_constant(im, type, 0, NULL, elements);
}

array array_view(importer *im, array a, uint32_t rank, const int64_t *dims)
{
    a = array_dense(im, a);
    if (!array_ok(a))
        return a;
    if (array_elements(rank, dims) != array_elements(a.rank, a.dims))
        return array_fail(im, "reshapes %zu elements to %zu", array_elements(a.rank, a.dims),
                          array_elements(rank, dims));
    return array_of_value(im->g, a.value, rank, dims);
}

array array_permute(array a, const uint32_t *order)
{
    const array from = a;
    for (uint32_t i = 0; array_ok(a) && i < a.rank; i++) {
        a.dims[i] = from.dims[order[i]];
        a.strides[i] = from.strides[order[i]];
    }
    return a;
}

array array_place(importer *im, array a, uint32_t rank, uint32_t first)
{
    const array from = a;
    if (!array_ok(a))
        return a;
    if (rank > TENSOR_MAX_RANK || first + from.rank > rank)
        return array_fail(im, "places %u dimensions among %u", from.rank, rank);
    a.rank = rank;
    for (uint32_t i = 0; i < rank; i++) {
        const bool own = i >= first && i - first < from.rank;
        a.dims[i] = own ? from.dims[i - first] : 1;
        a.strides[i] = own ? from.strides[i - first] : 0;
    }
    return a;
}

array array_dense(importer *im, array a)
{
    array plain = a;
    if (!array_ok(a))
        return a;
    set_strides(&plain);
    bool same = array_elements(a.rank, a.dims) == im->g->values[a.value].count;
    for (uint32_t i = 0; i < a.rank; i++)
        same = same && (a.dims[i] == 1 || a.strides[i] == plain.strides[i]);
    return same ? plain : array_unary(im, a.type, MONA_FN_COPY, a);
}

array array_copy(importer *im, mona_type type, uint32_t value)
{
    const int64_t count = (int64_t)im->g->values[value].count;
    return array_unary(im, type, MONA_FN_COPY, array_of_value(im->g, value, 1, &count));
}

/* ---- operators ---------------------------------------------------------------------------- */

array array_add(importer *im, mona_type type, uint32_t rank, const int64_t *dims,
                const graph_array *record, const array *operands, uint32_t count)
{
    graph *g = im->g;
    const size_t elements = array_elements(rank, dims);
    for (uint32_t i = 0; i < count; i++)
        if (!array_ok(operands[i]))
            return array_none;
    if (!elements || elements > TENSOR_MAX_COUNT)
        return array_fail(im, "makes a tensor of %zu elements; supported: 1 to %d", elements,
                          TENSOR_MAX_COUNT);
    graph_array *kept = graph_alloc(g, 1, sizeof *kept);
    const uint32_t value = kept ? graph_add_array(g, im->node->name, type, elements) : UINT32_MAX;
    graph_node *node = import_add_node(im, GRAPH_ARRAY, operands[0].value, value);
    if (!node)
        return array_none;
    *kept = *record;
    node->array = kept;
    node->why_array = im->why_array;
    node->input_count = count;
    for (uint32_t i = 0; i < count; i++)
        node->inputs[i] = operands[i].value;
    return array_of_value(g, value, rank, dims);
}
