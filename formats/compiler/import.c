#include "importer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { IMPORT_MAX_NAMES = 32768 }; /* names are searched one by one */

static const struct {
    const char *op_type;
    import_function *function;
} operators[] = {
    {"Add", import_add},
    {"AveragePool", import_average_pool},
    {"BatchNormalization", import_batch_norm},
    {"Clip", import_clip},
    {"Concat", import_concat},
    {"Constant", import_constant_node},
    {"Conv", import_conv},
    {"DepthToSpace", import_depth_to_space},
    {"Div", import_div},
    {"Dropout", import_identity},
    {"Flatten", import_flatten},
    {"Gemm", import_gemm},
    {"GlobalAveragePool", import_global_average_pool},
    {"GlobalMaxPool", import_global_max_pool},
    {"Identity", import_identity},
    {"LeakyRelu", import_leaky_relu},
    {"MatMul", import_mat_mul},
    {"MaxPool", import_max_pool},
    {"Mul", import_mul},
    {"PRelu", import_prelu},
    {"ReduceMean", import_reduce_mean},
    {"Relu", import_relu},
    {"Reshape", import_reshape},
    {"Resize", import_resize},
    {"Slice", import_slice},
    {"SpaceToDepth", import_space_to_depth},
    {"Split", import_split},
    {"Squeeze", import_squeeze},
    {"Sub", import_sub},
    {"Sum", import_add},
    {"Transpose", import_transpose},
    {"Upsample", import_upsample},
};

enum { OPERATOR_COUNT = sizeof operators / sizeof *operators };

import_function *import_find(const char *op_type)
{
    for (int i = 0; i < OPERATOR_COUNT; i++)
        if (!strcmp(operators[i].op_type, op_type))
            return operators[i].function;
    return NULL;
}

/* ---- the model ---------------------------------------------------------------------------- */

static bool read_opset(importer *im)
{
    for (size_t i = 0; i < im->model->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *o = im->model->opset_import[i];
        if (!onnx_text(o->domain)[0] || !strcmp(o->domain, "ai.onnx"))
            im->opset = o->version;
    }
    return im->opset >= 6 ? true
                          : format_fail(im->error,
                                        "the model names no ONNX operator set, or one "
                                        "before 6 (found %" PRId64 ")",
                                        im->opset);
}

/* The size a dimension fixes; 0: any, which exporters also write as 0 or -1. */
static int64_t fixed_side(const Onnx__TensorShapeProto *shape, size_t i)
{
    const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];
    if (d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE || d->dim_value < 0)
        return 0;
    return d->dim_value;
}

static bool add_input(importer *im, const Onnx__ValueInfoProto *info)
{
    graph *g = im->g;
    const char *name = onnx_text(info->name);
    const Onnx__TypeProto *type = info->type;
    const Onnx__TypeProto__Tensor *tensor =
        type && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? type->tensor_type : NULL;
    const Onnx__TensorShapeProto *shape = tensor ? tensor->shape : NULL;
    if (!shape || shape->n_dim != 4 || fixed_side(shape, 0) > 1 || fixed_side(shape, 1) < 1)
        return format_fail(im->error,
                           "input '%s' has not the shape [1, channels, height, width] "
                           "with a fixed number of channels",
                           name);
    const int64_t c = fixed_side(shape, 1), h = fixed_side(shape, 2), w = fixed_side(shape, 3);
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
    return import_add_name(im, name, value);
}

/* Old models list their constants among the inputs as well. */
static bool add_inputs(importer *im)
{
    const Onnx__GraphProto *o = im->model->graph;
    for (size_t i = 0; i < o->n_initializer; i++)
        if (!import_add_constant(im, o->initializer[i], onnx_text(o->initializer[i]->name)))
            return false;
    for (size_t i = 0; i < o->n_input; i++)
        if (import_find_name(im, onnx_text(o->input[i]->name)) == UINT32_MAX &&
            !add_input(im, o->input[i]))
            return false;
    return im->g->input_count ? true : format_fail(im->error, "the model has no inputs");
}

static bool add_node(importer *im, const Onnx__NodeProto *node)
{
    const char *domain = onnx_text(node->domain), *op_type = onnx_text(node->op_type);
    import_function *function = import_find(op_type);
    if (domain[0] && strcmp(domain, "ai.onnx"))
        return import_fail(im, node, "is of the operator set '%.60s'; only ONNX's own is supported",
                           domain);
    if (function)
        return function(im, node);
    char list[384] = "";
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        strcat(list, i ? ", " : "");
        strcat(list, operators[i].op_type);
    }
    return import_fail(im, node, "is not supported; supported are %s", list);
}

static bool add_outputs(importer *im)
{
    const Onnx__GraphProto *o = im->model->graph;
    graph *g = im->g;
    if (!o->n_output || o->n_output > MONA_MAX_IO)
        return format_fail(im->error, "the model has %zu outputs; expected 1 to %d", o->n_output,
                           MONA_MAX_IO);
    for (size_t i = 0; i < o->n_output; i++) {
        const char *name = onnx_text(o->output[i]->name);
        const uint32_t value = import_find_name(im, name);
        if (value == UINT32_MAX || !g->values[value].channels)
            return format_fail(im->error,
                               "output '%s' is not a computed tensor of shape [1, "
                               "channels, height, width]",
                               name);
        /* What only passes a value on leaves it the name it had before. */
        if (!graph_is_input(g, value) && !graph_is_output(g, value))
            g->values[value].name = graph_strdup(g, name);
        if (!g->values[value].name)
            return format_fail(im->error, "out of memory");
        g->outputs[g->output_count++] = value;
    }
    return true;
}

/* Nodes nothing depends on: left by what importers recognised, or by the exporter. */
static void remove_unused(graph *g)
{
    for (uint32_t i = g->node_count; i-- > 0;)
        if (!graph_uses(g, g->nodes[i].output))
            graph_remove_node(g, i);
}

static bool import_all(importer *im)
{
    const Onnx__GraphProto *o = im->model->graph;
    im->g->name = graph_strdup(im->g, onnx_text(o->name));
    if (!im->g->name)
        return format_fail(im->error, "out of memory");
    if (o->n_node > IMPORT_MAX_NAMES || o->n_initializer > IMPORT_MAX_NAMES)
        return format_fail(im->error,
                           "the model has %zu nodes and %zu constants; at most %d are read",
                           o->n_node, o->n_initializer, IMPORT_MAX_NAMES);
    if (!read_opset(im) || !add_inputs(im))
        return false;
    for (size_t i = 0; i < o->n_node; i++)
        if (!add_node(im, o->node[i]))
            return false;
    if (!add_outputs(im))
        return false;
    remove_unused(im->g);
    return true;
}

bool graph_import(graph *g, const Onnx__ModelProto *model, format_error *error)
{
    importer im = {.g = g, .model = model, .error = error};
    const bool ok = import_all(&im);
    free(im.names);
    if (!ok)
        graph_free(g);
    return ok;
}
