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

static uint32_t add_constant(importer *im, const char *name, const tensor *t)
{
    const mona_type type = array_type_of(t->type);
    if (!t->count || type == MONA_TYPE_COUNT) {
        import_fail(im, "reads '%.60s', which is empty or of type %s", name, element_name(t->type));
        return UINT32_MAX;
    }
    const void *elements = keep_elements(im, t, type);
    const uint32_t value = elements ? graph_add_array(im->g, name, type, t->count) : UINT32_MAX;
    if (value == UINT32_MAX)
        import_fail(im, "needs more memory than there is");
    else
        im->g->values[value].elements = elements;
    return value;
}

/* ---- maps and arrays ------------------------------------------------------------------------ */

static uint32_t from_map(importer *im, uint32_t map)
{
    const graph_value v = im->g->values[map];
    const size_t count = (size_t)v.channels * v.height * v.width;
    if (!count) {
        import_fail(im,
                    "works on an array made of '%.60s', whose size is open; give the model one "
                    "(--size WxH, --dim NAME=N)",
                    v.name);
        return UINT32_MAX;
    }
    const uint32_t value = graph_add_array(im->g, v.name, MONA_F16, count);
    if (!import_add_node(im, GRAPH_TO_ARRAY, map, value))
        return UINT32_MAX;
    graph_set_dims(im->g, value, v.channels, v.height, v.width);
    return value;
}

/* The map as an array in ONNX's order. */
static array in_order(importer *im, const import_binding *b)
{
    static const uint32_t turned[2] = {1, 0};
    const graph_value *v = &im->g->values[b->value];
    const int64_t dims[2] = {v->channels, (int64_t)v->height * v->width};
    const array a = array_of_map(im, b->value);
    if (!b->last)
        return a;
    im->g->has_arrays = true;
    return array_dense(im, array_permute(array_view(im, a, 2, dims), turned));
}

/* Converts a map to the integers that ONNX has in its place. */
static uint32_t quantise_map(importer *im, const import_binding *b)
{
    const array operands[3] = {in_order(im, b),
                               array_number(im, MONA_F32, (double)b->quantisation.scale),
                               array_number(im, MONA_F32, b->quantisation.zero)};
    return array_quantize(im, array_type_of(b->quantisation.type), operands).value;
}

/* Imports a Transpose again that was taken for a part of depth-to-space and is not. */
static bool import_part_as_array(importer *im, uint32_t onnx_value)
{
    const onnx_node *node = im->node;
    const char *why_array = im->why_array;
    for (uint32_t i = 0; i < im->model->node_count; i++) {
        const onnx_node *part = &im->model->nodes[i];
        if (part->output_count != 1 || part->outputs[0] != onnx_value)
            continue;
        im->why_array = "is no part of depth-to-space, space-to-depth or a channel shuffle";
        const bool ok = import_begin(im, part) && operator_find(part->op_type)->array(im);
        im->why_array = why_array;
        return import_begin(im, node) && ok;
    }
    return true;
}

uint32_t array_value(importer *im, uint32_t onnx_value)
{
    import_binding *b = &im->bindings[onnx_value];
    const tensor *t = &im->model->values[onnx_value].tensor;
    if (b->array != UINT32_MAX)
        return b->array;
    if (b->shuffle.block && !import_part_as_array(im, onnx_value))
        return UINT32_MAX;
    if (b->array != UINT32_MAX)
        return b->array;
    if (t->data)
        b->array = add_constant(im, im->model->values[onnx_value].name, t);
    else if (b->value != UINT32_MAX)
        b->array = b->quantisation.scale > 0 ? quantise_map(im, b) : in_order(im, b).value;
    else
        import_fail(im, "reads '%.60s', which %s", im->model->values[onnx_value].name,
                    t->rank && !t->count ? "has no elements" : "nothing computes");
    return b->array;
}

bool array_map_dims(uint32_t rank, const int64_t *shape, int64_t dims[3])
{
    if (rank < 2 || rank > 4)
        return false;
    dims[0] = shape[1];
    dims[1] = rank == 4 ? shape[2] : 1;
    dims[2] = rank > 2 ? shape[rank - 1] : 1;
    return dims[0] <= MONA_MAX_CHANNELS && dims[1] <= MONA_MAX_SIDE && dims[2] <= MONA_MAX_SIDE;
}

bool array_become_map(importer *im, array a, uint32_t map)
{
    if (!array_ok(a) || !import_add_node(im, GRAPH_TO_MAP, a.value, map))
        return false;
    const graph_value *v = &im->g->values[map];
    graph_set_dims(im->g, a.value, v->channels, v->height, v->width);
    return true;
}

/* Binds a value of the model, which is an array, to a map that is converted from it later. */
static bool want_map(importer *im, uint32_t value, bool last, const int64_t dims[3])
{
    import_binding *b = &im->bindings[value];
    const uint32_t map = graph_add_value(im->g, im->model->values[value].name);
    if (map == UINT32_MAX)
        return import_fail(im, "needs more memory than there is");
    graph_set_dims(im->g, map, (uint32_t)dims[0], (uint32_t)dims[1], (uint32_t)dims[2]);
    b->value = map;
    b->rank = im->model->values[value].tensor.rank;
    b->last = last;
    b->wanted = true;
    return true;
}

void array_want_map(importer *im, uint32_t value)
{
    const tensor *t = &im->model->values[value].tensor;
    int64_t dims[3];
    if (im->bindings[value].array != UINT32_MAX && im->model->values[value].shaped && t->count &&
        t->rank && t->dims[0] == 1 && array_map_dims(t->rank, t->dims, dims) &&
        element_is_float(t->type))
        want_map(im, value, false, dims);
}

/* The rows of [..., channels] become pixels. */
bool import_rows_as_map(importer *im, size_t i)
{
    const uint32_t value = im->node->inputs[i];
    const tensor *t = &im->model->values[value].tensor;
    const int64_t channels = t->dims[t->rank - 1], rows = (int64_t)t->count / channels;
    return want_map(im, value, true, (const int64_t[3]){channels, 1, rows});
}

static bool make_map(importer *im, import_binding *b)
{
    static const uint32_t turned[2] = {1, 0};
    const graph_value *v = &im->g->values[b->value];
    const int64_t dims[2] = {v->width, v->channels};
    b->wanted = false;
    return array_become_map(
        im,
        b->last ? array_unary(im, MONA_F16, MONA_FN_COPY,
                              array_permute(array_of_value(im->g, b->array, 2, dims), turned))
                : array_copy(im, MONA_F16, b->array),
        b->value);
}

bool array_make_maps(importer *im)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < im->node->input_count; i++)
        if (import_has(im, i) && im->bindings[im->node->inputs[i]].wanted)
            ok = make_map(im, &im->bindings[im->node->inputs[i]]);
    return ok;
}

array array_of_map(importer *im, uint32_t map)
{
    const uint32_t value = from_map(im, map);
    const graph_value *v = &im->g->values[map];
    const int64_t dims[3] = {v->channels, v->height, v->width};
    return value == UINT32_MAX ? array_none : array_of_value(im->g, value, 3, dims);
}
