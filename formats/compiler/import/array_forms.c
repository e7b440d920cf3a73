// SPDX-License-Identifier: Apache-2.0
/* Converts a value of the model to an array or to a map. */
#include "formats/compiler/import/array.h"

#include <string.h>

#include "formats/compiler/import/operators.h"

/* ---- constants ------------------------------------------------------------------------------ */

/* Integers are stored as in a tensor, each in its own bytes. */
static void *keep_elements(importer *im, const tensor *t, mona_type type)
{
    void *bytes = graph_alloc(im->g, t->count, mona_type_size(type));
    const bool same =
        t->type == ELEMENT_FLOAT32 || !element_is_float(t->type) || t->type == ELEMENT_FLOAT16;
    if (bytes && same)
        memcpy(bytes, t->data, t->count * mona_type_size(type));
    for (size_t i = 0; bytes && !same && i < t->count; i++)
        ((float *)bytes)[i] = (float)tensor_number(t, i);
    return bytes;
}

static uint32_t add_constant(importer *im, const onnx_node *node, const char *name, const tensor *t)
{
    const mona_type type = array_type_of(t->type);
    if (!t->count || type == MONA_TYPE_COUNT) {
        import_fail(im, node, "reads '%.60s', which is empty or of type %s", name,
                    element_name(t->type));
        return UINT32_MAX;
    }
    const void *elements = keep_elements(im, t, type);
    const uint32_t value = elements ? graph_add_array(im->g, name, type, t->count) : UINT32_MAX;
    if (value == UINT32_MAX)
        import_fail(im, node, "needs more memory than there is");
    else
        im->g->values[value].elements = elements;
    return value;
}

/* ---- maps and arrays ------------------------------------------------------------------------ */

/* Copies the dimensions of a map. */
static void set_dims(graph_value *to, const graph_value *from)
{
    to->channels = from->channels;
    to->height = from->height;
    to->width = from->width;
}

static uint32_t from_map(importer *im, const onnx_node *node, uint32_t map)
{
    const graph_value v = im->g->values[map];
    const size_t count = (size_t)v.channels * v.height * v.width;
    if (!count) {
        import_fail(im, node,
                    "works on an array made of '%.60s', whose size is open; give the model one "
                    "(--size WxH, --dim NAME=N)",
                    v.name);
        return UINT32_MAX;
    }
    const uint32_t value = graph_add_array(im->g, v.name, MONA_F16, count);
    graph_node *made = array_add_node(im, node, GRAPH_TO_ARRAY, value);
    if (!made)
        return UINT32_MAX;
    made->input_count = 1;
    made->inputs[0] = map;
    set_dims(&im->g->values[value], &v);
    return value;
}

/* The map as an array in the order of the view. */
static array in_order(const array_maker *m, const import_binding *b)
{
    static const uint32_t turned[2] = {1, 0};
    const graph_value *v = &m->im->g->values[b->value];
    const int64_t dims[2] = {v->channels, (int64_t)v->height * v->width};
    const array a = array_of_map(m, b->value);
    if (b->view != VIEW_LAST)
        return a;
    m->im->g->has_arrays = true;
    return array_dense(m, array_permute(array_view(m, a, 2, dims), turned));
}

/* Converts a map to the integers that ONNX has in its place. */
static uint32_t quantise_map(importer *im, const onnx_node *node, const import_binding *b)
{
    static const array_function quantize = {
        .code = MONA_FN_QUANTIZE, .arithmetic = MONA_FLOAT, .conversion = MONA_SATURATE};
    const array_maker m = {im, node};
    const array operands[3] = {in_order(&m, b),
                               array_number(&m, MONA_F32, (double)b->quantisation.scale),
                               array_number(&m, MONA_F32, b->quantisation.zero)};
    return array_ok(operands[0])
               ? array_map(&m, array_type_of(b->quantisation.type), &quantize, 3, operands).value
               : UINT32_MAX;
}

/* Imports a node again that was taken for a part of depth-to-space and is not. */
static bool import_part_as_array(importer *im, uint32_t onnx_value)
{
    for (uint32_t i = 0; i < im->model->node_count; i++) {
        const onnx_node *part = &im->model->nodes[i];
        if (part->output_count == 1 && part->outputs[0] == onnx_value)
            return operator_find(part->op_type)->array(im, part);
    }
    return true;
}

uint32_t array_value(importer *im, const onnx_node *node, uint32_t onnx_value)
{
    import_binding *b = &im->bindings[onnx_value];
    const tensor *t = &im->model->values[onnx_value].tensor;
    if (b->array != UINT32_MAX)
        return b->array;
    if (b->value != UINT32_MAX && !t->data && !im->g->values[b->value].channels &&
        !import_part_as_array(im, onnx_value))
        return UINT32_MAX;
    if (b->array != UINT32_MAX)
        return b->array;
    if (t->data)
        b->array = add_constant(im, node, im->model->values[onnx_value].name, t);
    else if (b->value != UINT32_MAX)
        b->array = b->quantisation.scale > 0 ? quantise_map(im, node, b)
                                             : in_order(&(array_maker){im, node}, b).value;
    else
        import_fail(im, node, "reads '%.60s', which nothing computes",
                    im->model->values[onnx_value].name);
    return b->array;
}

/* The view in which a tensor of this shape is a map. */
static import_view map_view(const tensor *t, int64_t dims[3])
{
    static const import_view views[] = {VIEW_FLAT, VIEW_LINE, VIEW_MAP};
    if (t->rank < 2 || t->rank > 4 || t->dims[0] != 1 || !t->count)
        return VIEW_OTHER;
    dims[0] = t->dims[1];
    dims[1] = t->rank == 4 ? t->dims[2] : 1;
    dims[2] = t->rank > 2 ? t->dims[t->rank - 1] : 1;
    return dims[0] <= MONA_MAX_CHANNELS && dims[1] <= MONA_MAX_SIDE && dims[2] <= MONA_MAX_SIDE
               ? views[t->rank - 2]
               : VIEW_OTHER;
}

bool array_become_map(const array_maker *m, array a, uint32_t map)
{
    graph_node *made = array_ok(a) ? array_add_node(m->im, m->node, GRAPH_TO_MAP, map) : NULL;
    if (!made)
        return false;
    set_dims(&m->im->g->values[a.value], &m->im->g->values[map]);
    made->input_count = 1;
    made->inputs[0] = a.value;
    return true;
}

/* Makes an F16 copy, which has the dimensions of the map. */
bool array_to_map(importer *im, const onnx_node *node, uint32_t value)
{
    import_binding *b = &im->bindings[value];
    const tensor *t = &im->model->values[value].tensor;
    int64_t dims[3];
    const import_view view = im->model->values[value].shaped ? map_view(t, dims) : VIEW_OTHER;
    const array_maker m = {im, node};
    if (b->array == UINT32_MAX || view == VIEW_OTHER || !element_is_float(t->type))
        return false;
    const array copy = array_copy(&m, MONA_F16, b->array);
    const uint32_t made = graph_add_value(im->g, im->model->values[value].name);
    if (made == UINT32_MAX)
        return import_fail(im, node, "needs more memory than there is");
    graph_value *map = &im->g->values[made];
    map->channels = (uint32_t)dims[0];
    map->height = (uint32_t)dims[1];
    map->width = (uint32_t)dims[2];
    if (!array_become_map(&m, copy, made))
        return false;
    b->value = made;
    b->view = view;
    return true;
}

/* The rows of [..., channels] become pixels. */
bool import_rows_as_map(importer *im, const onnx_node *node, size_t i)
{
    static const uint32_t turned[2] = {1, 0};
    import_binding *b = &im->bindings[node->inputs[i]];
    const tensor *t = &im->model->values[node->inputs[i]].tensor;
    const array_maker m = {im, node};
    const int64_t channels = t->dims[t->rank - 1];
    const int64_t dims[2] = {(int64_t)t->count / channels, channels};
    const array turn = array_permute(array_of_value(im->g, b->array, 2, dims), turned);
    const array copy = array_unary(&m, MONA_F16, MONA_FN_COPY, turn);
    const uint32_t made = graph_add_value(im->g, im->model->values[node->inputs[i]].name);
    if (made == UINT32_MAX)
        return import_fail(im, node, "needs more memory than there is");
    graph_value *map = &im->g->values[made];
    map->channels = (uint32_t)channels;
    map->height = 1;
    map->width = (uint32_t)dims[0];
    if (!array_become_map(&m, copy, made))
        return false;
    b->value = made;
    b->view = VIEW_LAST;
    return true;
}

array array_of_map(const array_maker *m, uint32_t map)
{
    const uint32_t value = from_map(m->im, m->node, map);
    const graph_value *v = &m->im->g->values[map];
    const int64_t dims[3] = {v->channels, v->height, v->width};
    return value == UINT32_MAX ? array_none : array_of_value(m->im->g, value, 3, dims);
}
