#include "importer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants and inputs ----------------------------------------------------------------- */

static bool bind_constant(importer *im, uint32_t value)
{
    const onnx_value *from = &im->model->values[value];
    const tensor *t = &from->tensor;
    float *data = graph_alloc(im->g, t->count ? t->count : 1, sizeof *data);
    const uint32_t made = graph_add_value(im->g, from->name);
    if (!data || made == UINT32_MAX)
        return format_fail(im->error, "out of memory");
    for (size_t i = 0; i < t->count; i++)
        data[i] = (float)tensor_number(t, i);
    graph_value *v = &im->g->values[made];
    v->data = data;
    v->count = t->count;
    v->rank = t->rank;
    for (uint32_t i = 0; i < v->rank; i++)
        v->dims[i] = (uint64_t)t->dims[i];
    im->bindings[value].value = made;
    return true;
}

/* Those that a node reads. */
static bool bind_constants(importer *im)
{
    for (uint32_t i = 0; i < im->model->node_count; i++) {
        const onnx_node *node = &im->model->nodes[i];
        for (uint32_t k = 0; k < node->input_count; k++) {
            const uint32_t value = node->inputs[k];
            if (value != ONNX_NONE && im->model->values[value].tensor.data &&
                im->bindings[value].value == UINT32_MAX && !bind_constant(im, value))
                return false;
        }
    }
    return true;
}

/* The size a side fixes; 0: any, which exporters also write as 0. */
static int64_t fixed_side(const onnx_input *input, uint32_t i)
{
    return input->dims[i] < 0 ? 0 : input->dims[i];
}

/* A tensor of fixed sides that is no map: the first is taken for channels, the last for columns. */
static void shape_other(const onnx_input *input, int64_t *c, int64_t *h, int64_t *w)
{
    *c = *h = *w = 1;
    for (uint32_t i = 0; i < input->rank; i++)
        *(i + 1 == input->rank ? w : i ? h : c) *= input->dims[i];
}

/* Channels, height and width (0: any) and view of an input; false: it has no such. */
static bool shape_input(const onnx_input *input, int64_t *c, int64_t *h, int64_t *w,
                        import_view *view)
{
    tensor shape;
    const bool fixed = onnx_input_shape(input, &shape) && shape.count;
    const bool one = input->rank && fixed_side(input, 0) <= 1;
    *view = VIEW_OTHER;
    *c = input->rank > 1 ? fixed_side(input, 1) : 0;
    if (input->rank == 4 && one && *c) {
        *view = VIEW_MAP;
        *h = fixed_side(input, 2);
        *w = fixed_side(input, 3);
        return true;
    }
    if (!fixed)
        return false;
    shape_other(input, c, h, w);
    if (one && (input->rank == 2 || input->rank == 3)) {
        *view = input->rank == 2 ? VIEW_FLAT : VIEW_LINE;
        *c = input->dims[1];
        *h = 1;
        *w = input->rank == 3 ? input->dims[2] : 1;
    }
    return true;
}

static bool bind_input(importer *im, const onnx_input *input)
{
    graph *g = im->g;
    const char *name = im->model->values[input->value].name;
    int64_t c = 0, h = 0, w = 0;
    import_view view;
    if (!element_is_float(input->type) && input->type != ELEMENT_UINT8)
        return format_fail(im->error, "input '%s' is of %s; the engine takes floats and uint8",
                           name, element_name(input->type));
    if (!shape_input(input, &c, &h, &w, &view))
        return format_fail(im->error,
                           "input '%s' has not the shape [1, channels, height, width] "
                           "with a fixed number of channels",
                           name);
    if (c > MONA_MAX_CHANNELS || h > MONA_MAX_SIDE || w > MONA_MAX_SIDE)
        return format_fail(im->error,
                           "input '%s' has %" PRId64 " channels of %" PRId64 "x%" PRId64
                           "; at most %d of %dx%d are supported",
                           name, c, w, h, MONA_MAX_CHANNELS, MONA_MAX_SIDE, MONA_MAX_SIDE);
    if (g->input_count == MONA_MAX_IO)
        return format_fail(im->error, "more than %d inputs", MONA_MAX_IO);
    const uint32_t value = graph_add_value(g, name);
    if (value == UINT32_MAX)
        return format_fail(im->error, "out of memory");
    g->values[value].channels = (uint32_t)c;
    g->values[value].height = h && w ? (uint32_t)h : 0;
    g->values[value].width = h && w ? (uint32_t)w : 0;
    g->inputs[g->input_count++] = value;
    im->bindings[input->value] = (import_binding){value, view};
    return true;
}

/* ---- nodes and outputs -------------------------------------------------------------------- */

/* What became no node is another name of its input. */
static bool log_view(importer *im, const onnx_node *node)
{
    const graph_node view = {.name = graph_strdup(im->g, node->name),
                             .op_type = graph_strdup(im->g, node->op_type)};
    if (!view.name || !view.op_type)
        return format_fail(im->error, "out of memory");
    graph_log(im->g, FUSION_VIEWS, &view, NULL);
    return true;
}

static bool add_node(importer *im, const onnx_node *node)
{
    const operator_row *row = operator_find(node->op_type);
    const uint32_t before = im->g->node_count;
    if (!row || !row->import)
        return import_fail(im, node,
                           "is not supported by the engine; mona ops --engine lists what is");
    return row->import(im, node) && (im->g->node_count > before || log_view(im, node));
}

/* An input, or an output of another name, is passed on by a node of its own. */
static bool add_output(importer *im, uint32_t value, const char *name)
{
    graph *g = im->g;
    if (graph_is_input(g, value) || graph_is_output(g, value)) {
        const onnx_node copy = {.name = name, .op_type = "Identity"};
        if (!import_inner_affine(im, &copy, value, 1, 0, &value))
            return false;
    }
    /* What only passes a value on leaves it the name it had before. */
    g->values[value].name = graph_strdup(g, name);
    g->outputs[g->output_count++] = value;
    return g->values[value].name ? true : format_fail(im->error, "out of memory");
}

static bool add_outputs(importer *im)
{
    const onnx_graph *o = im->model;
    graph *g = im->g;
    if (o->output_count > MONA_MAX_IO)
        return format_fail(im->error, "the model has %u outputs; expected 1 to %d", o->output_count,
                           MONA_MAX_IO);
    for (uint32_t i = 0; i < o->output_count; i++) {
        const char *name = o->values[o->outputs[i]].name;
        const uint32_t value = im->bindings[o->outputs[i]].value;
        if (o->values[o->outputs[i]].tensor.data)
            return format_fail(im->error,
                               "output '%s' is constant; the engine has nothing to "
                               "compute",
                               name);
        if (value == UINT32_MAX || !g->values[value].channels)
            return format_fail(im->error,
                               "output '%s' is not a computed tensor of shape [1, "
                               "channels, height, width]",
                               name);
        if (!add_output(im, value, name))
            return false;
    }
    return true;
}

/* Nodes nothing depends on: parts of what importers recognised as a whole. */
static void remove_unused(graph *g)
{
    for (uint32_t i = g->node_count; i-- > 0;) {
        const graph_node *node = &g->nodes[i];
        const bool part = node->kind == GRAPH_RESHAPE || node->kind == GRAPH_TRANSPOSE;
        if (graph_uses(g, node->output))
            continue;
        graph_log(g, part ? FUSION_SHUFFLES : FUSION_DEAD_CODE, node, NULL);
        graph_remove_node(g, i);
    }
}

static bool import_all(importer *im)
{
    const onnx_graph *o = im->model;
    im->g->name = graph_strdup(im->g, o->name);
    im->bindings = malloc((o->value_count + 1) * sizeof *im->bindings);
    if (!im->g->name || !im->bindings)
        return format_fail(im->error, "out of memory");
    for (uint32_t i = 0; i < o->value_count; i++)
        im->bindings[i] = (import_binding){UINT32_MAX, VIEW_MAP};
    if (!o->input_count)
        return format_fail(im->error, "the model has no inputs");
    if (!bind_constants(im))
        return false;
    for (uint32_t i = 0; i < o->input_count; i++)
        if (!bind_input(im, &o->inputs[i]))
            return false;
    for (uint32_t i = 0; i < o->node_count; i++)
        if (!add_node(im, &o->nodes[i]))
            return false;
    if (!add_outputs(im))
        return false;
    remove_unused(im->g);
    return true;
}

bool graph_import(graph *g, const onnx_graph *model, format_error *error)
{
    importer im = {.g = g, .model = model, .error = error};
    const bool ok = import_all(&im);
    free(im.bindings);
    if (!ok)
        graph_free(g);
    return ok;
}
