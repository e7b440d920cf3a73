// SPDX-License-Identifier: Apache-2.0
/* Every pattern is a product c * x * gate, in any order and nesting, whose gate depends on x:
 *   Swish        c = 1     Sigmoid(x)
 *   HardSwish    c = 1     HardSigmoid(x) with alpha 1/6 and beta 1/2
 *                c = 1/6   Clip(x + 3, 0, 6), or Min and Max of it
 *   Mish         c = 1     Tanh(Softplus(x))
 *   Gelu         c = 1/2   1 + Erf(x / sqrt(2))
 *                c = 1/2   1 + Tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) */
#include "formats/compiler/import/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FACTORS = 3 };

/* A product: `constant` times values. */
typedef struct product {
    double constant;
    uint32_t factors[MAX_FACTORS], count; /* count > MAX_FACTORS: too many */
} product;

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-4 * fabs(b);
}

const onnx_node *pattern_made_by(const patterns *p, uint32_t value, const char *op_type)
{
    const uint32_t i = value >= p->count ? ONNX_NONE : p->producers[value];
    const onnx_node *node = i == ONNX_NONE ? NULL : &p->g->nodes[i];
    return node && !strcmp(node->op_type, op_type) && node->input_count ? node : NULL;
}

bool pattern_is_number(const patterns *p, uint32_t value, double *number)
{
    const tensor *t = value == ONNX_NONE ? NULL : &p->g->values[value].tensor;
    if (!t || !t->data || t->count != 1 || !element_is_float(t->type))
        return false;
    *number = tensor_number(t, 0);
    return true;
}

/* Takes products and quotients by numbers apart. */
static void take_apart(const patterns *p, uint32_t value, product *out)
{
    const onnx_node *mul = pattern_made_by(p, value, "Mul"),
                    *div = pattern_made_by(p, value, "Div");
    double number = 0;
    if (mul && mul->input_count == 2 && !mul->broadcasts && out->count < MAX_FACTORS) {
        take_apart(p, mul->inputs[0], out);
        take_apart(p, mul->inputs[1], out);
    } else if (div && div->input_count == 2 && !div->broadcasts &&
               pattern_is_number(p, div->inputs[1], &number)) {
        out->constant /= number;
        take_apart(p, div->inputs[0], out);
    } else if (pattern_is_number(p, value, &number)) {
        out->constant *= number;
    } else {
        if (out->count < MAX_FACTORS)
            out->factors[out->count] = value;
        out->count++;
    }
}

static product product_of(const patterns *p, uint32_t value)
{
    product out = {.constant = 1};
    take_apart(p, value, &out);
    return out;
}

uint32_t pattern_scaled(const patterns *p, uint32_t value, double *scale)
{
    const product f = product_of(p, value);
    *scale = f.count == 1 ? f.constant : 1;
    return f.count == 1 ? f.factors[0] : value;
}

/* The operand of Add(x, number), in any order; ONNX_NONE: it is none. */
static uint32_t plus(const patterns *p, uint32_t value, double number)
{
    const onnx_node *add = pattern_made_by(p, value, "Add");
    for (uint32_t k = 0; add && add->input_count == 2 && k < 2; k++) {
        double other = 0;
        if (pattern_is_number(p, add->inputs[k], &other) && near(other, number))
            return add->inputs[1 - k];
    }
    return ONNX_NONE;
}

/* Whether the value is c * x. */
static bool is_multiple(const patterns *p, uint32_t value, double c, uint32_t x)
{
    const product f = product_of(p, value);
    return f.count == 1 && f.factors[0] == x && near(f.constant, c);
}

static bool is_clip6(const patterns *p, uint32_t value, uint32_t x)
{
    const onnx_node *clip = pattern_made_by(p, value, "Clip");
    double low = 1, high = 0;
    return clip && clip->input_count == 3 && pattern_is_number(p, clip->inputs[1], &low) &&
           low == 0 && pattern_is_number(p, clip->inputs[2], &high) && high == 6 &&
           plus(p, clip->inputs[0], 3) == x;
}

/* Whether the value is x^3 by Pow or products. */
static bool is_cube(const patterns *p, uint32_t value, uint32_t x)
{
    const onnx_node *pow = pattern_made_by(p, value, "Pow");
    double exponent = 0;
    return pow && pow->input_count == 2 && pow->inputs[0] == x &&
           pattern_is_number(p, pow->inputs[1], &exponent) && exponent == 3;
}

/* Whether the value is sqrt(2 / pi) * (x + 0.044715 x^3). */
static bool is_gelu_cubic(const patterns *p, uint32_t value, uint32_t x)
{
    const product f = product_of(p, value);
    const onnx_node *add = f.count == 1 ? pattern_made_by(p, f.factors[0], "Add") : NULL;
    if (!add || add->input_count != 2 || !near(f.constant, 0.7978845608))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        const product cubic = product_of(p, add->inputs[k]);
        const bool power = (cubic.count == 1 && is_cube(p, cubic.factors[0], x)) ||
                           (cubic.count == 3 && cubic.factors[0] == x && cubic.factors[1] == x &&
                            cubic.factors[2] == x);
        if (add->inputs[1 - k] == x && power && near(cubic.constant, 0.044715))
            return true;
    }
    return false;
}

/* The activation that equals constant * x * gate; NULL: none. */
static const char *activation_of(const patterns *p, double constant, uint32_t x, uint32_t gate)
{
    const onnx_node *sigmoid = pattern_made_by(p, gate, "Sigmoid"),
                    *tanh = pattern_made_by(p, gate, "Tanh");
    const onnx_node *hard = pattern_made_by(p, gate, "HardSigmoid");
    const uint32_t inner = plus(p, gate, 1);
    if (constant == 1 && sigmoid && sigmoid->inputs[0] == x)
        return "Swish";
    if (constant == 1 && hard && hard->inputs[0] == x &&
        near((double)onnx_float(hard, "alpha", 0.2f), 1.0 / 6) &&
        onnx_float(hard, "beta", 0.5f) == 0.5f)
        return "HardSwish";
    if (near(constant, 1.0 / 6) && is_clip6(p, gate, x))
        return "HardSwish";
    const onnx_node *softplus = tanh ? pattern_made_by(p, tanh->inputs[0], "Softplus") : NULL;
    if (constant == 1 && softplus && softplus->inputs[0] == x)
        return "Mish";
    const onnx_node *erf = pattern_made_by(p, inner, "Erf"),
                    *tanh1 = pattern_made_by(p, inner, "Tanh");
    if (constant == 0.5 && erf && is_multiple(p, erf->inputs[0], sqrt(0.5), x))
        return "Gelu";
    if (constant == 0.5 && tanh1 && is_gelu_cubic(p, tanh1->inputs[0], x))
        return "Gelu tanh";
    return NULL;
}

/* The activation that a node's product is, and its operand. */
static const char *find(const patterns *p, const onnx_node *node, uint32_t *x)
{
    if (node->output_count != 1 || node->outputs[0] == ONNX_NONE ||
        (strcmp(node->op_type, "Mul") != 0 && strcmp(node->op_type, "Div") != 0))
        return NULL;
    const product f = product_of(p, node->outputs[0]);
    for (uint32_t k = 0; f.count == 2 && k < 2; k++) {
        const char *made = activation_of(p, f.constant, f.factors[k], f.factors[1 - k]);
        *x = f.factors[k];
        if (made)
            return made;
    }
    return NULL;
}

/* A copy that lives as long as the graph; NULL: out of memory. */
static void *kept(patterns *p, const void *items, size_t count, size_t size)
{
    void *copy = blocks_alloc(&p->g->memory, count ? count : 1, size);
    return copy && count ? memcpy(copy, items, count * size) : copy;
}

bool pattern_becomes(patterns *p, onnx_node *node, const char *op_type, const uint32_t *inputs,
                     uint32_t input_count, const onnx_attribute *attributes,
                     uint32_t attribute_count)
{
    uint32_t *own_inputs = kept(p, inputs, input_count, sizeof *inputs);
    onnx_attribute *own = kept(p, attributes, attribute_count, sizeof *attributes);
    bool ok = own_inputs && own;
    for (uint32_t i = 0; ok && i < attribute_count; i++) {
        own[i].ints = own[i].ints ? kept(p, own[i].ints, own[i].count, sizeof *own[i].ints) : NULL;
        own[i].floats =
            own[i].floats ? kept(p, own[i].floats, own[i].count, sizeof *own[i].floats) : NULL;
        ok = own[i].ints || own[i].floats || own[i].text;
    }
    if (!ok)
        return false;
    node->op_type = op_type;
    node->inputs = own_inputs;
    node->input_count = input_count;
    node->attributes = own;
    node->attribute_count = attribute_count;
    return true;
}

static bool replace(patterns *p, onnx_node *node, const char *op_type, uint32_t x)
{
    const onnx_attribute approximate = {
        .name = "approximate", .kind = ONNX_TEXT, .count = 1, .text = "tanh"};
    const bool tanh = !strcmp(op_type, "Gelu tanh");
    return pattern_becomes(p, node, tanh ? "Gelu" : op_type, &x, 1, &approximate, tanh);
}

bool patterns_find(onnx_graph *g, const fusion_switches *switches, fusion_log *log)
{
    patterns p = {g,
                  g->value_count,
                  malloc((g->value_count + 1) * sizeof *p.producers),
                  calloc(g->value_count + 1, sizeof *p.uses),
                  switches,
                  log};
    bool ok = p.producers && p.uses;
    for (uint32_t v = 0; ok && v < g->value_count; v++)
        p.producers[v] = ONNX_NONE;
    for (uint32_t i = 0; ok && i < g->node_count; i++)
        for (uint32_t k = 0; k < g->nodes[i].output_count; k++)
            if (g->nodes[i].outputs[k] != ONNX_NONE)
                p.producers[g->nodes[i].outputs[k]] = i;
    for (uint32_t i = 0; ok && i < g->node_count; i++)
        for (uint32_t k = 0; k < g->nodes[i].input_count; k++)
            if (g->nodes[i].inputs[k] != ONNX_NONE)
                p.uses[g->nodes[i].inputs[k]]++;
    for (uint32_t i = 0; ok && i < g->output_count; i++)
        p.uses[g->outputs[i]]++;
    /* Later nodes first: a larger pattern may contain a smaller one. */
    for (uint32_t i = g->node_count; ok && i-- > 0;) {
        uint32_t x = 0;
        bool called = false;
        ok = pattern_calls(&p, i, &called);
        if (!ok || called)
            continue;
        const char *made = find(&p, &g->nodes[i], &x);
        ok = made ? replace(&p, &g->nodes[i], made, x)
                  : pattern_normalises(&p, i) && pattern_attends(&p, i);
    }
    free(p.producers);
    free(p.uses);
    return ok;
}
