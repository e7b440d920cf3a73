// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/import/array.h"

#include <inttypes.h>
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

import_shuffle import_shuffle_of(const importer *im)
{
    const import_binding *found = binding_of(im, 0);
    return found ? found->shuffle : (import_shuffle){0};
}

bool import_is_last(const importer *im, size_t i)
{
    const import_binding *found = binding_of(im, i);
    return found && found->last;
}

import_quantisation import_quantisation_of(const importer *im, size_t i)
{
    const import_binding *found = binding_of(im, i);
    return found ? found->quantisation : (import_quantisation){0};
}

tensor import_shape(const importer *im, size_t i)
{
    const import_binding *b = binding_of(im, i);
    const onnx_value *from = &im->model->values[im->node->inputs[i]];
    if (from->shaped)
        return from->tensor;
    const graph_value *v = &im->g->values[b->value];
    const int64_t c = v->channels, h = v->height, w = v->width;
    if (b->rank == 4)
        return b->last ? (tensor){.rank = 4, .dims = {1, h, w, c}}
                       : (tensor){.rank = 4, .dims = {1, c, h, w}};
    return b->rank == 2 ? (tensor){.rank = 2, .dims = {1, c * h * w}} : (tensor){.rank = b->rank};
}

/* Open sides are not in the shape, which is then that of the map. */
uint32_t import_trailing(const importer *im, size_t i)
{
    const graph_value *v = &im->g->values[import_bound(im, i)];
    const tensor shape = import_shape(im, i);
    const int64_t *dims = shape.dims;
    if (import_is_last(im, i) || (shape.rank == 2 && dims[0] == 1))
        return 1;
    if (shape.rank < 3 || shape.rank > 4 || dims[0] != 1 || dims[1] != v->channels)
        return 0;
    if (shape.rank == 3)
        return dims[2] == (int64_t)v->height * v->width ? 2 : 0;
    return dims[2] == v->height && dims[3] == v->width ? 3 : 0;
}

/* Whether map i is [1, channels, width]. */
static bool import_is_line(const importer *im, size_t i)
{
    return import_bound(im, i) != UINT32_MAX && import_trailing(im, i) == 2 &&
           im->g->values[import_bound(im, i)].height == 1;
}

/* [6, 1, 1] and [1, 1, 6] make 36 numbers; and in [6, 4, 6] and [6] the channels are not the same
 * axis. */
bool import_alike(const importer *im)
{
    const size_t a = import_shape(im, 0).count, b = import_shape(im, 1).count;
    const onnx_value *result = &im->model->values[im->node->outputs[0]];
    const uint32_t trailing = import_trailing(im, 0);
    if (import_is_last(im, 0) != import_is_last(im, 1) || trailing != import_trailing(im, 1))
        return false;
    return result->shaped ? result->tensor.count == (a > b ? a : b) && (trailing || a == b)
                          : trailing > 0;
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

bool import_bind(importer *im, size_t i, uint32_t value)
{
    const import_binding *like = binding_of(im, first_computed(im));
    if (i >= im->node->output_count || im->node->outputs[i] == ONNX_NONE)
        return import_fail(im, "has no output %zu", i);
    import_binding *b = &im->bindings[im->node->outputs[i]];
    *b = like ? *like : (import_binding){.rank = 4};
    b->value = value;
    b->array = UINT32_MAX;
    b->shuffle.block = 0;
    return true;
}

bool import_bind_shape(importer *im, uint32_t value, uint32_t rank, bool last)
{
    if (!import_bind(im, 0, value))
        return false;
    im->bindings[im->node->outputs[0]].rank = rank;
    im->bindings[im->node->outputs[0]].last = last;
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
        array_want_map(im, im->node->inputs[i]);
    *value = import_bound(im, i);
    if (*value == UINT32_MAX)
        return import_has(im, i) ? import_fail(im, "reads the array '%.60s', which is not a map",
                                               input_name(im, i))
                                 : import_fail(im, "has no input %zu", i);
    const graph_value *v = &im->g->values[*value];
    if (v->data)
        return import_fail(im, "works on the constant '%.60s'; expected a computed tensor",
                           input_name(im, i));
    if (im->bindings[im->node->inputs[i]].shuffle.block)
        return import_fail(im,
                           "reads '%.60s', whose shape is not [1, channels, height, "
                           "width]; Reshape and Transpose are supported only as the "
                           "parts of depth-to-space or space-to-depth, and Reshape to [1, n]",
                           input_name(im, i));
    return true;
}

bool import_tensor(importer *im, size_t i, uint32_t *value)
{
    static const char *const shapes[] = {"not [1, channels, ...]", "flattened to [1, n]",
                                         "[1, channels, pixels]"};
    if (!import_elements(im, i, value))
        return false;
    const uint32_t trailing = import_trailing(im, i);
    return trailing == 3 ||
           import_fail(im, "reads '%.60s', which is %s; expected [1, channels, height, width]",
                       input_name(im, i),
                       import_is_last(im, i)   ? "[..., channels]"
                       : import_is_line(im, i) ? "[1, channels, width]"
                                               : shapes[trailing]);
}

bool import_channels(importer *im, size_t i, uint32_t *value)
{
    return import_is_line(im, i) ? import_elements(im, i, value) : import_tensor(im, i, value);
}

bool import_any_channels(importer *im, size_t i, uint32_t *value)
{
    return import_is_last(im, i) ? import_elements(im, i, value) : import_channels(im, i, value);
}

bool import_is_channel_axis(const importer *im, size_t i, int64_t axis)
{
    const int64_t rank = import_bound(im, i) == UINT32_MAX ? 4 : import_shape(im, i).rank;
    return axis == (import_is_last(im, i) ? rank - 1 : 1) ||
           axis == (import_is_last(im, i) ? -1 : 1 - rank);
}

bool import_flat(importer *im, size_t i, uint32_t *value)
{
    if (!import_elements(im, i, value))
        return false;
    return (import_trailing(im, i) == 1 && !import_is_last(im, i)) ||
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

bool import_begin(importer *im, const onnx_node *node)
{
    const uint32_t max = sizeof im->in / sizeof *im->in;
    im->node = node;
    im->call = (op_call){.node = node,
                         .in = im->in,
                         .in_count = node->input_count < max ? node->input_count : max,
                         .out_count = node->output_count,
                         .opset = im->model->opset,
                         .shapes_only = true,
                         .error = im->error};
    for (uint32_t i = 0; i < im->call.in_count; i++) {
        const onnx_value *v = import_has(im, i) ? &im->model->values[node->inputs[i]] : NULL;
        im->in[i] = v && v->shaped ? &v->tensor : v ? &im->open[i] : NULL;
        if (!v || v->shaped)
            continue;
        if (import_bound(im, i) == UINT32_MAX)
            return import_fail(im,
                               "needs the size of '%.60s', which is open; give the model one "
                               "(--size WxH, --dim NAME=N)",
                               v->name);
        im->open[i] = import_shape(im, i);
        for (uint32_t k = 0; k < im->open[i].rank; k++)
            im->open[i].dims[k] = im->open[i].dims[k] ? im->open[i].dims[k] : -1;
    }
    return true;
}

bool import_refused(importer *im, const char *what)
{
    return im->call.unknown &&
           import_fail(im, "takes its %s from a computed value; expected a constant", what);
}

float *import_per_channel(importer *im, const graph_value *constant, uint32_t channels)
{
    const graph_value v = *constant; /* a copy: adding a value moves them */
    const uint32_t trailing_dims = import_trailing(im, first_computed(im));
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
    if (!made && im->g->memory.refused) {
        format_fail(im->error, "out of memory");
        return NULL;
    }
    if (!made) {
        import_fail(im, "is one too many: at most %d nodes are supported", GRAPH_MAX_NODES);
        return NULL;
    }
    made->kind = kind;
    made->name = name;
    made->op_type = op_type;
    made->input_count = 1;
    made->inputs[0] = x;
    graph_set_result(im->g, im->g->node_count - 1, output);
    return made;
}

bool import_fits(importer *im, uint64_t channels, uint64_t height, uint64_t width)
{
    return (channels <= MONA_MAX_CHANNELS && height <= MONA_MAX_SIDE && width <= MONA_MAX_SIDE) ||
           import_fail(im,
                       "makes %" PRIu64 " channels of %" PRIu64 "x%" PRIu64
                       "; at most %d of %dx%d are supported",
                       channels, width, height, MONA_MAX_CHANNELS, MONA_MAX_SIDE, MONA_MAX_SIDE);
}

/* Adds a node that computes a value of this name and shape. */
static graph_node *make_node(importer *im, const char *name, graph_kind kind, uint32_t x,
                             uint32_t channels, uint32_t height, uint32_t width)
{
    if (!import_fits(im, channels, height, width) || !array_make_maps(im))
        return NULL;
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

graph_node *import_inner(importer *im, graph_kind kind, uint32_t x, uint32_t channels,
                         uint32_t height, uint32_t width)
{
    return make_node(im, im->node->name, kind, x, channels, height, width);
}

graph_node *import_inner_like(importer *im, graph_kind kind, uint32_t x)
{
    const graph_value v = im->g->values[x];
    return import_inner(im, kind, x, v.channels, v.height, v.width);
}

graph_node *import_node_like(importer *im, graph_kind kind, uint32_t x)
{
    const graph_value v = im->g->values[x];
    return import_node(im, 0, kind, x, v.channels, v.height, v.width);
}
