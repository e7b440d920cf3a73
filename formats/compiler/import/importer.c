// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/import/array.h"

#include <math.h>
#include <string.h>

bool import_fail(importer *im, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_fail_node(im->error, im->node->name, im->node->op_type, format, arguments);
    va_end(arguments);
    return false;
}

bool import_warn(importer *im, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool ok = graph_warn(im->g, im->node->name, im->node->op_type, format, arguments);
    va_end(arguments);
    return ok || format_fail(im->error, "out of memory");
}

uint32_t import_code(const importer *im)
{
    return operator_find(im->node->op_type)->code;
}

/* ---- bindings ----------------------------------------------------------------------------- */

static const import_binding *binding_of(const importer *im, size_t i)
{
    return import_has(im, i) ? &im->bindings[im->node->inputs[i]] : NULL;
}

uint32_t import_bound(const importer *im, size_t i)
{
    const import_binding *found = binding_of(im, i);
    return found ? found->value : UINT32_MAX;
}

import_view import_view_of(const importer *im, size_t i)
{
    const import_binding *found = binding_of(im, i);
    return found ? found->view : VIEW_MAP;
}

import_quantisation import_quantisation_of(const importer *im, size_t i)
{
    const import_binding *found = binding_of(im, i);
    return found ? found->quantisation : (import_quantisation){0};
}

uint32_t import_rank(const importer *im, size_t i)
{
    const onnx_value *v = &im->model->values[im->node->inputs[i]];
    return v->shaped ? v->tensor.rank : 0;
}

/* The index of its first computed input; SIZE_MAX: none. */
static size_t first_computed(const importer *im)
{
    for (size_t i = 0; i < im->node->input_count; i++) {
        const uint32_t value = import_bound(im, i);
        if (value != UINT32_MAX && !im->g->values[value].data)
            return i;
    }
    return SIZE_MAX;
}

/* The view of its first computed input. */
static import_view node_view(const importer *im)
{
    return import_view_of(im, first_computed(im));
}

import_view import_find_view(const graph_value *value, import_view from, const tensor *shape)
{
    const int64_t c = value->channels, h = value->height, w = value->width, *dims = shape->dims;
    if (from == VIEW_LAST && c > 1 && h * w != 1)
        return shape->rank > 1 && dims[shape->rank - 1] == c ? VIEW_LAST : VIEW_NONE;
    if (!shape->rank || dims[0] != 1)
        return VIEW_OTHER;
    if (shape->rank == 4 && dims[1] == c && dims[2] == h && dims[3] == w)
        return VIEW_MAP;
    if (shape->rank == 3 && dims[1] == c && h == 1 && dims[2] == w)
        return VIEW_LINE;
    if (shape->rank == 3 && dims[1] == c && h > 1 && dims[2] == h * w)
        return VIEW_PIXELS;
    return shape->rank == 2 ? VIEW_FLAT : VIEW_OTHER;
}

bool import_bind(importer *im, size_t i, uint32_t value)
{
    if (i >= im->node->output_count || im->node->outputs[i] == ONNX_NONE)
        return import_fail(im, "has no output %zu", i);
    im->bindings[im->node->outputs[i]] = (import_binding){
        value, node_view(im), UINT32_MAX, import_quantisation_of(im, first_computed(im))};
    return true;
}

bool import_bind_view(importer *im, uint32_t value, import_view view)
{
    if (!import_bind(im, 0, value))
        return false;
    im->bindings[im->node->outputs[0]].view = view;
    return true;
}

/* ---- attributes --------------------------------------------------------------------------- */

bool import_text_is(const importer *im, const char *name, const char *value, const char *otherwise)
{
    return !strcmp(onnx_string(im->node, name, otherwise), value);
}

/* ---- inputs ------------------------------------------------------------------------------- */

bool import_has(const importer *im, size_t i)
{
    return i < im->node->input_count && im->node->inputs[i] != ONNX_NONE;
}

/* The name of input i, for messages. */
static const char *input_name(const importer *im, size_t i)
{
    return im->model->values[im->node->inputs[i]].name;
}

const graph_value *import_constant(const importer *im, size_t i)
{
    const uint32_t value = import_bound(im, i);
    return value != UINT32_MAX && im->g->values[value].data ? &im->g->values[value] : NULL;
}

bool import_elements(importer *im, size_t i, uint32_t *value)
{
    if (import_has(im, i) && im->bindings[im->node->inputs[i]].value == UINT32_MAX)
        array_to_map(im, im->node->inputs[i]);
    *value = import_bound(im, i);
    if (*value == UINT32_MAX)
        return import_has(im, i) ? import_fail(im, "reads the array '%.60s', which is not a map",
                                               input_name(im, i))
                                 : import_fail(im, "has no input %zu", i);
    const graph_value *v = &im->g->values[*value];
    if (v->data)
        return import_fail(im, "works on the constant '%.60s'; expected a computed tensor",
                           input_name(im, i));
    if (!v->channels)
        return import_fail(im,
                           "reads '%.60s', whose shape is not [1, channels, height, "
                           "width]; Reshape and Transpose are supported only as the "
                           "parts of depth-to-space or space-to-depth, and Reshape to [1, n]",
                           input_name(im, i));
    return true;
}

static const char *const view_names[] = {
    "a map",           "[1, channels, width]",   "flattened to [1, n]",   "[1, channels, pixels]",
    "[..., channels]", "not [1, channels, ...]", "not [1, channels, ...]"};

bool import_tensor(importer *im, size_t i, uint32_t *value)
{
    if (!import_elements(im, i, value))
        return false;
    return import_view_of(im, i) == VIEW_MAP ||
           import_fail(im, "reads '%.60s', which is %s; expected [1, channels, height, width]",
                       input_name(im, i), view_names[import_view_of(im, i)]);
}

bool import_channels(importer *im, size_t i, uint32_t *value)
{
    return import_view_of(im, i) == VIEW_LINE ? import_elements(im, i, value)
                                              : import_tensor(im, i, value);
}

bool import_any_channels(importer *im, size_t i, uint32_t *value)
{
    return import_view_of(im, i) == VIEW_LAST ? import_elements(im, i, value)
                                              : import_channels(im, i, value);
}

bool import_is_channel_axis(const importer *im, size_t i, int64_t axis)
{
    const import_view view = import_view_of(im, i);
    const onnx_value *v = &im->model->values[im->node->inputs[i]];
    if (view == VIEW_LAST)
        return axis == -1 || (v->shaped && axis == (int64_t)v->tensor.rank - 1);
    return axis == 1 || axis == (view == VIEW_LINE ? -2 : -3);
}

bool import_flat(importer *im, size_t i, uint32_t *value)
{
    if (!import_elements(im, i, value))
        return false;
    return import_view_of(im, i) == VIEW_FLAT ||
           import_fail(
               im, "reads '%.60s', a tensor of four dimensions; expected one flattened to [1, n]",
               input_name(im, i));
}

bool import_numbers(importer *im, const char *name, size_t i, int64_t *numbers, uint32_t max,
                    uint32_t *count)
{
    *count = 0;
    const onnx_attribute *a = onnx_find_attribute(im->node, name);
    const tensor *t = import_has(im, i) ? &im->model->values[im->node->inputs[i]].tensor : NULL;
    if (t && !t->data)
        return import_fail(im, "takes its %s from a computed value; expected a constant", name);
    const size_t found = t ? t->count : a && a->ints ? a->count : 0;
    if (found > max)
        return import_fail(im, "has %zu numbers in %s; expected at most %u", found, name, max);
    for (size_t k = 0; k < found; k++)
        numbers[k] = t ? tensor_int(t, k) : a->ints[k];
    *count = (uint32_t)found;
    return true;
}

float *import_per_channel(importer *im, const graph_value *constant, uint32_t channels)
{
    static const uint32_t trailing_dims_of[] = {
        [VIEW_MAP] = 3,  [VIEW_LINE] = 2,  [VIEW_FLAT] = 1, [VIEW_PIXELS] = 2,
        [VIEW_LAST] = 1, [VIEW_OTHER] = 0, [VIEW_NONE] = 0}; /* from the channels on; 0: none */
    const graph_value v = *constant;                         /* a copy: adding a value moves them */
    const uint32_t trailing_dims = trailing_dims_of[node_view(im)];
    const bool shaped = trailing_dims && v.rank >= trailing_dims && v.count == channels &&
                        v.dims[v.rank - trailing_dims] == channels;
    float *numbers = shaped || v.count == 1 ? graph_alloc(im->g, channels, sizeof *numbers) : NULL;
    if (!shaped && v.count != 1)
        import_fail(im, "has a constant operand of %zu elements; expected one, or %u as [%u%s]",
                    v.count, channels, channels, trailing_dims > 1 ? ", 1, 1" : "");
    else if (!numbers)
        format_fail(im->error, "out of memory");
    for (uint32_t c = 0; numbers && c < channels; c++) {
        numbers[c] = v.data[v.count == 1 ? 0 : c];
        if (!isfinite(numbers[c])) {
            import_fail(im, "has an operand that is infinite or not a number");
            return NULL;
        }
    }
    return numbers;
}

/* ---- results ------------------------------------------------------------------------------ */

graph_node *import_add_node(importer *im, graph_kind kind, uint32_t x, uint32_t output)
{
    const char *name = graph_strdup(im->g, im->node->name);
    const char *op_type = graph_strdup(im->g, im->node->op_type);
    graph_node *made = output != UINT32_MAX && name && op_type ? graph_add_node(im->g) : NULL;
    if (!made) {
        import_fail(im, "is one too many: at most %d nodes are supported", GRAPH_MAX_NODES);
        return NULL;
    }
    made->kind = kind;
    made->name = name;
    made->op_type = op_type;
    made->input_count = 1;
    made->inputs[0] = x;
    made->output = output;
    return made;
}

/* Adds a node that computes a value of this name and shape. */
static graph_node *make_node(importer *im, const char *name, graph_kind kind, uint32_t x,
                             uint32_t channels, uint32_t height, uint32_t width)
{
    if (channels > MONA_MAX_CHANNELS || height > MONA_MAX_SIDE || width > MONA_MAX_SIDE) {
        import_fail(im, "makes %u channels of %ux%u; at most %d of %dx%d are supported", channels,
                    width, height, MONA_MAX_CHANNELS, MONA_MAX_SIDE, MONA_MAX_SIDE);
        return NULL;
    }
    graph_node *made = import_add_node(im, kind, x, graph_add_value(im->g, name));
    if (made)
        graph_set_dims(im->g, made->output, channels, height, width);
    return made;
}

graph_node *import_node(importer *im, size_t i, graph_kind kind, uint32_t x, uint32_t channels,
                        uint32_t height, uint32_t width)
{
    if (i >= im->node->output_count || im->node->outputs[i] == ONNX_NONE) {
        import_fail(im, "has no output %zu", i);
        return NULL;
    }
    const char *name = im->model->values[im->node->outputs[i]].name;
    graph_node *made = make_node(im, name, kind, x, channels, height, width);
    return made && import_bind(im, i, made->output) ? made : NULL;
}

graph_node *import_inner_like(importer *im, graph_kind kind, uint32_t x)
{
    const graph_value v = im->g->values[x];
    return make_node(im, im->node->name, kind, x, v.channels, v.height, v.width);
}

graph_node *import_node_like(importer *im, graph_kind kind, uint32_t x)
{
    const graph_value v = im->g->values[x];
    return import_node(im, 0, kind, x, v.channels, v.height, v.width);
}
