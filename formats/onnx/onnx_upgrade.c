// SPDX-License-Identifier: Apache-2.0
/* Converts old forms of operators to the current ones. Most changes turn an attribute into an
 * input; the others are described below. */
#include <string.h>

#include "formats/onnx/onnx_graph.h"

typedef struct upgrade {
    onnx_graph *g;
    onnx_node *node;
    format_error *error;
} upgrade;

static bool out_of_memory(const upgrade *u)
{
    return onnx_node_fail(u->node, u->error, "needs more memory than there is");
}

/* Makes this constant input i; missing inputs before it are left out. */
static bool set_input(const upgrade *u, uint32_t i, tensor *t)
{
    onnx_node *node = u->node;
    const uint32_t value = onnx_graph_add_value(u->g, "");
    if (value == ONNX_NONE) {
        tensor_free(t);
        return out_of_memory(u);
    }
    onnx_value_set(u->g, value, t);
    while (node->input_count <= i)
        node->inputs[node->input_count++] = ONNX_NONE;
    node->inputs[i] = value;
    return true;
}

/* Makes a numeric attribute, a list or a single number, input i. */
static bool attribute_to_input(const upgrade *u, const char *name, uint32_t i, bool list)
{
    const onnx_attribute *found = onnx_find_attribute(u->node, name);
    const onnx_attribute a = found ? *found : (onnx_attribute){0};
    tensor t;
    if ((!a.ints && !a.floats) || u->node->input_count > i)
        return true;
    u->node->attributes[found - u->node->attributes] =
        u->node->attributes[--u->node->attribute_count];
    if (!list && !a.count)
        return true;
    return onnx_numbers(&a, list, &t) ? set_input(u, i, &t) : out_of_memory(u);
}

/* Replaces the attribute with this name. */
static void set_text(const upgrade *u, const char *name, const char *text)
{
    onnx_node *node = u->node;
    for (uint32_t i = 0; i < node->attribute_count; i++)
        if (!strcmp(node->attributes[i].name, name)) {
            node->attributes[i].kind = ONNX_TEXT;
            node->attributes[i].text = text;
            return;
        }
    node->attributes[node->attribute_count++] =
        (onnx_attribute){.name = name, .kind = ONNX_TEXT, .text = text};
}

static void set_int(const upgrade *u, const char *name, const int64_t *number)
{
    u->node->attributes[u->node->attribute_count++] =
        (onnx_attribute){.name = name, .kind = ONNX_INTS, .count = 1, .ints = number};
}

/* ---- operators ---------------------------------------------------------------------------- */

static const int64_t one = 1;

static bool upgrade_clip(const upgrade *u)
{
    return attribute_to_input(u, "min", 1, false) && attribute_to_input(u, "max", 2, false);
}

static bool upgrade_pad(const upgrade *u)
{
    return attribute_to_input(u, "pads", 1, true) && attribute_to_input(u, "value", 2, false);
}

static bool upgrade_slice(const upgrade *u)
{
    return attribute_to_input(u, "starts", 1, true) && attribute_to_input(u, "ends", 2, true) &&
           attribute_to_input(u, "axes", 3, true);
}

static bool upgrade_axes(const upgrade *u)
{
    return attribute_to_input(u, "axes", 1, true);
}

static bool upgrade_split(const upgrade *u)
{
    return attribute_to_input(u, "split", 1, true);
}

/* Up to operator set 10: inputs X and scales; coordinates are asymmetric. */
static bool upgrade_resize(const upgrade *u)
{
    onnx_node *node = u->node;
    if (node->input_count == 2) {
        node->inputs[2] = node->inputs[1];
        node->inputs[1] = ONNX_NONE;
        node->input_count = 3;
    }
    if (!strcmp(onnx_string(node, "mode", "nearest"), "bilinear"))
        set_text(u, "mode", "linear");
    set_text(u, "coordinate_transformation_mode", "asymmetric");
    set_text(u, "nearest_mode", "simple");
    node->op_type = "Resize";
    return attribute_to_input(u, "scales", 2, true);
}

/* Up to operator set 12, all dimensions from the axis on, 1 by default, count as one. */
static bool upgrade_softmax(const upgrade *u)
{
    if (!onnx_find_attribute(u->node, "axis"))
        set_int(u, "axis", &one);
    u->node->flattens = true;
    return true;
}

/* Until operator set 11, it had another name. */
static bool upgrade_scatter(const upgrade *u)
{
    u->node->op_type = "ScatterElements";
    return true;
}

/* In operator set 6, a list of slopes has one per channel. */
static bool upgrade_prelu(const upgrade *u)
{
    u->node->broadcasts = true;
    u->node->broadcast_axis = 1;
    return true;
}

/* In operator set 6, the second operand could be aligned with an axis of the first. */
static bool upgrade_broadcast(const upgrade *u)
{
    u->node->broadcasts = onnx_int(u->node, "broadcast", 0);
    u->node->broadcast_axis = onnx_int(u->node, "axis", -1);
    return true;
}

/* Up to operator set 8, there could be statistics for each element. */
static bool upgrade_batch_norm(const upgrade *u)
{
    if (!onnx_int(u->node, "spatial", 1))
        return onnx_node_fail(u->node, u->error,
                              "has spatial 0; only 1 (statistics for each channel) is supported");
    if (u->g->opset < 7 && !onnx_int(u->node, "is_test", 0) && u->node->output_count > 1)
        set_int(u, "training_mode", &one);
    return true;
}

static const struct {
    const char *op_type;
    int64_t before; /* the operator set that introduced the current form */
    bool (*function)(const upgrade *);
} rules[] = {
    {"Add", 7, upgrade_broadcast},
    {"And", 7, upgrade_broadcast},
    {"BatchNormalization", 9, upgrade_batch_norm},
    {"Clip", 11, upgrade_clip},
    {"Div", 7, upgrade_broadcast},
    {"Equal", 7, upgrade_broadcast},
    {"Greater", 7, upgrade_broadcast},
    {"Less", 7, upgrade_broadcast},
    {"LogSoftmax", 13, upgrade_softmax},
    {"Mul", 7, upgrade_broadcast},
    {"Or", 7, upgrade_broadcast},
    {"PRelu", 7, upgrade_prelu},
    {"Pad", 11, upgrade_pad},
    {"Pow", 7, upgrade_broadcast},
    {"ReduceL1", 18, upgrade_axes},
    {"ReduceL2", 18, upgrade_axes},
    {"ReduceLogSum", 18, upgrade_axes},
    {"ReduceLogSumExp", 18, upgrade_axes},
    {"ReduceMax", 18, upgrade_axes},
    {"ReduceMean", 18, upgrade_axes},
    {"ReduceMin", 18, upgrade_axes},
    {"ReduceProd", 18, upgrade_axes},
    {"ReduceSum", 13, upgrade_axes},
    {"ReduceSumSquare", 18, upgrade_axes},
    {"Resize", 11, upgrade_resize},
    {"Scatter", ONNX_OPSET_MAX + 1, upgrade_scatter},
    {"Slice", 10, upgrade_slice},
    {"Softmax", 13, upgrade_softmax},
    {"Split", 13, upgrade_split},
    {"Squeeze", 13, upgrade_axes},
    {"Sub", 7, upgrade_broadcast},
    {"Unsqueeze", 13, upgrade_axes},
    {"Upsample", ONNX_OPSET_MAX + 1, upgrade_resize},
    {"Xor", 7, upgrade_broadcast},
};

bool onnx_upgrade(onnx_graph *g, onnx_node *node, format_error *error)
{
    const upgrade u = {g, node, error};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(rules[i].op_type, node->op_type) && g->opset < rules[i].before)
            return rules[i].function(&u);
    return true;
}
