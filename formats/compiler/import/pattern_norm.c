// SPDX-License-Identifier: Apache-2.0
/* (x - mean) / sqrt(variance + epsilon) * scale + bias as exporters write it:
 *   centred = x - ReduceMean(x)
 *   centred / Sqrt(ReduceMean(centred^2) + epsilon) * scale + bias
 * over the last axis, or over the channels of an image: the same between two Transposes. */
#include "formats/compiler/import/patterns.h"

#include <string.h>

typedef struct norm {
    uint32_t x, scale, bias;
    int64_t axis;
    float epsilon;
    const onnx_node *mul, *div; /* of the last steps before the bias */
} norm;

/* Whether the node reduces one axis, and which. */
static bool reduces(const patterns *p, const onnx_node *mean, int64_t *axis)
{
    const tensor *axes = mean && mean->input_count == 2 && mean->inputs[1] != ONNX_NONE
                             ? &p->g->values[mean->inputs[1]].tensor
                             : NULL;
    if (!axes || !axes->data || axes->count != 1 || !onnx_int(mean, "keepdims", 1))
        return false;
    *axis = tensor_int(axes, 0);
    return true;
}

/* Whether the value is x less its mean. */
static bool is_centred(const patterns *p, uint32_t value, norm *n)
{
    const onnx_node *sub = pattern_made_by(p, value, "Sub");
    const onnx_node *mean =
        sub && sub->input_count == 2 ? pattern_made_by(p, sub->inputs[1], "ReduceMean") : NULL;
    int64_t axis = 0;
    if (!reduces(p, mean, &axis) || mean->inputs[0] != sub->inputs[0] ||
        (n->x != ONNX_NONE && (n->x != sub->inputs[0] || axis != n->axis)))
        return false;
    n->x = sub->inputs[0];
    n->axis = axis;
    return true;
}

static bool is_square(const patterns *p, uint32_t value, norm *n)
{
    const onnx_node *pow = pattern_made_by(p, value, "Pow"),
                    *mul = pattern_made_by(p, value, "Mul");
    double exponent = 0;
    if (pow && pow->input_count == 2)
        return pattern_is_number(p, pow->inputs[1], &exponent) && exponent == 2 &&
               is_centred(p, pow->inputs[0], n);
    return mul && mul->input_count == 2 && mul->inputs[0] == mul->inputs[1] &&
           is_centred(p, mul->inputs[0], n);
}

/* Whether the value is sqrt(variance of x + epsilon). */
static bool is_deviation(const patterns *p, uint32_t value, norm *n)
{
    const onnx_node *root = pattern_made_by(p, value, "Sqrt");
    const onnx_node *add = root ? pattern_made_by(p, root->inputs[0], "Add") : NULL;
    for (uint32_t k = 0; add && add->input_count == 2 && k < 2; k++) {
        const onnx_node *variance = pattern_made_by(p, add->inputs[k], "ReduceMean");
        double epsilon = 0;
        int64_t axis = 0;
        if (!pattern_is_number(p, add->inputs[1 - k], &epsilon) || !reduces(p, variance, &axis) ||
            axis != n->axis || !is_square(p, variance->inputs[0], n))
            continue;
        n->epsilon = (float)epsilon;
        return true;
    }
    return false;
}

/* The constant operand of a node of two, and its other operand. */
static uint32_t constant_of(const patterns *p, const onnx_node *node, uint32_t *other)
{
    for (uint32_t k = 0; node && node->input_count == 2 && !node->broadcasts && k < 2; k++) {
        const tensor *t = &p->g->values[node->inputs[k]].tensor;
        *other = node->inputs[1 - k];
        if (t->data && element_is_float(t->type))
            return node->inputs[k];
    }
    return ONNX_NONE;
}

static bool find(const patterns *p, const onnx_node *add, norm *n)
{
    uint32_t product = ONNX_NONE, normal = ONNX_NONE;
    *n = (norm){.x = ONNX_NONE};
    if (strcmp(add->op_type, "Add") != 0 || add->outputs[0] == ONNX_NONE)
        return false;
    n->bias = constant_of(p, add, &product);
    n->mul = n->bias == ONNX_NONE ? NULL : pattern_made_by(p, product, "Mul");
    n->scale = constant_of(p, n->mul, &normal);
    n->div = n->scale == ONNX_NONE ? NULL : pattern_made_by(p, normal, "Div");
    return n->div && n->div->input_count == 2 && is_centred(p, n->div->inputs[0], n) &&
           is_deviation(p, n->div->inputs[1], n) && p->uses[product] == 1 && p->uses[normal] == 1;
}

/* Whether the constant has a number for each channel: [C, 1, 1] or [1, C, 1, 1]; or, last, [C]. */
static bool per_channel(const patterns *p, uint32_t value, bool last)
{
    const tensor *t = &p->g->values[value].tensor;
    const uint32_t at = last ? 0 : t->rank == 4;
    return t->rank == (last ? 1u : 3u + at) && t->count == (size_t)t->dims[at];
}

/* The same numbers as [C]. ONNX_NONE: out of memory. */
static uint32_t flat(patterns *p, uint32_t value)
{
    const int64_t count = (int64_t)p->g->values[value].tensor.count;
    const uint32_t made = onnx_graph_add_value(p->g, p->g->values[value].name);
    const tensor *from = &p->g->values[value].tensor;
    tensor t;
    if (made == ONNX_NONE || !tensor_make(&t, from->type, 1, &count))
        return ONNX_NONE;
    memcpy(t.data, from->data, tensor_bytes(from));
    onnx_value_set(p->g, made, &t);
    return made;
}

static bool become_norm(patterns *p, onnx_node *node, uint32_t x, const norm *n)
{
    const int64_t axis = -1;
    const onnx_attribute attributes[] = {
        {.name = "epsilon", .kind = ONNX_FLOATS, .count = 1, .floats = &n->epsilon},
        {.name = "axis", .kind = ONNX_INTS, .count = 1, .ints = &axis}};
    const uint32_t scale = flat(p, n->scale), bias = flat(p, n->bias);
    const uint32_t inputs[3] = {x, scale, bias};
    return scale != ONNX_NONE && bias != ONNX_NONE &&
           pattern_becomes(p, node, "LayerNormalization", inputs, 3, attributes, 2);
}

static bool become_transpose(patterns *p, onnx_node *node, uint32_t x, const int64_t order[4])
{
    const onnx_attribute perm = {.name = "perm", .kind = ONNX_INTS, .count = 4, .ints = order};
    return pattern_becomes(p, node, "Transpose", &x, 1, &perm, 1);
}

bool pattern_normalises(patterns *p, uint32_t i)
{
    static const int64_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
    onnx_node *node = &p->g->nodes[i];
    norm n;
    if (!find(p, node, &n) || (n.axis != -1 && n.axis != 1))
        return true;
    if (!per_channel(p, n.scale, n.axis == -1) || !per_channel(p, n.bias, n.axis == -1))
        return true;
    if (n.axis == -1)
        return become_norm(p, node, n.x, &n);
    onnx_node *mul = &p->g->nodes[n.mul - p->g->nodes], *div = &p->g->nodes[n.div - p->g->nodes];
    /* Values of their own, as these are not those of the model. */
    div->outputs[0] = onnx_graph_add_value(p->g, div->name);
    mul->outputs[0] = onnx_graph_add_value(p->g, mul->name);
    return div->outputs[0] != ONNX_NONE && mul->outputs[0] != ONNX_NONE &&
           become_transpose(p, div, n.x, to_last) && become_norm(p, mul, div->outputs[0], &n) &&
           become_transpose(p, node, mul->outputs[0], to_first);
}
