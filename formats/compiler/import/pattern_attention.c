// SPDX-License-Identifier: Apache-2.0
/* Attention as exporters write it, with queries, keys and values as [batch, heads, rows, size]:
 *   Reshape(Transpose(MatMul(Softmax(MatMul(q, transposed k)), v), 0 2 1 3),
 *           [batch, rows, channels])
 * with a factor somewhere between the operands of the first product and the softmax. Each of q, k
 * and v is a separate tensor [batch, rows, channels], reshaped and transposed, or all are thirds of
 * one, reshaped to [batch, rows, 3, heads, size], transposed by 2 0 3 1 4, and gathered. */
#include "formats/compiler/import/patterns.h"

#include <string.h>

typedef struct part {
    uint32_t x;    /* [batch, rows, channels] */
    int64_t third; /* of x; -1: all of it */
    int64_t heads, size;
} part;

static bool permutes(const onnx_node *node, const char *as)
{
    const onnx_attribute *a = onnx_find_attribute(node, "perm");
    bool same = a && a->ints && a->count == strlen(as);
    for (size_t i = 0; same && i < a->count; i++)
        same = a->ints[i] == as[i] - '0';
    return same;
}

/* The input of the Transpose that computes the value; ONNX_NONE: none with this permutation
 * does. */
static uint32_t transposed(const patterns *p, uint32_t value, const char *as)
{
    const onnx_node *node = pattern_made_by(p, value, "Transpose");
    return node && permutes(node, as) ? node->inputs[0] : ONNX_NONE;
}

/* The input of the Reshape that computes the value, and its shape of this rank. */
static uint32_t reshaped(const patterns *p, uint32_t value, uint32_t rank, int64_t *shape)
{
    const onnx_node *node = pattern_made_by(p, value, "Reshape");
    const tensor *t = node && node->input_count == 2 && node->inputs[1] != ONNX_NONE
                          ? &p->g->values[node->inputs[1]].tensor
                          : NULL;
    if (!t || !t->data || t->count != rank)
        return ONNX_NONE;
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = tensor_int(t, i);
    return node->inputs[0];
}

/* Which third a Gather, or a Split and a Squeeze, takes of axis 0; -1: none. */
static int64_t third_of(const patterns *p, uint32_t value, uint32_t *all)
{
    const onnx_node *gather = pattern_made_by(p, value, "Gather");
    const onnx_node *squeeze = pattern_made_by(p, value, "Squeeze");
    const onnx_node *split = squeeze ? pattern_made_by(p, squeeze->inputs[0], "Split") : NULL;
    *all = gather ? gather->inputs[0] : split ? split->inputs[0] : ONNX_NONE;
    for (uint32_t i = 0; split && !onnx_int(split, "axis", 0) && split->output_count == 3 && i < 3;
         i++)
        if (split->outputs[i] == squeeze->inputs[0])
            return i;
    const tensor *t = gather && gather->input_count == 2 && !onnx_int(gather, "axis", 0)
                          ? &p->g->values[gather->inputs[1]].tensor
                          : NULL;
    return t && t->data && !t->rank && tensor_int(t, 0) >= 0 && tensor_int(t, 0) < 3
               ? tensor_int(t, 0)
               : -1;
}

/* value: [batch, heads, rows, size]. */
static bool find_part(const patterns *p, uint32_t value, part *found)
{
    int64_t shape[5];
    uint32_t all = ONNX_NONE;
    *found = (part){.third = third_of(p, value, &all)};
    const uint32_t from = found->third < 0 ? transposed(p, value, "0213") : ONNX_NONE;
    const uint32_t three = found->third < 0 ? ONNX_NONE : transposed(p, all, "20314");
    if (three != ONNX_NONE)
        found->x = reshaped(p, three, 5, shape);
    else
        found->x = from == ONNX_NONE ? ONNX_NONE : reshaped(p, from, 4, shape);
    if (found->x == ONNX_NONE || (three != ONNX_NONE && shape[2] != 3))
        return false;
    found->heads = shape[three == ONNX_NONE ? 2 : 3];
    found->size = shape[three == ONNX_NONE ? 3 : 4];
    return found->heads > 0 && found->size > 0;
}

/* value: [batch, heads, size, rows]. */
static bool find_keys(const patterns *p, uint32_t value, part *found)
{
    int64_t shape[5];
    const uint32_t turned = transposed(p, value, "0132"), from = transposed(p, value, "0231");
    if (turned != ONNX_NONE)
        return find_part(p, turned, found);
    *found = (part){.third = -1};
    found->x = from == ONNX_NONE ? ONNX_NONE : reshaped(p, from, 4, shape);
    if (found->x == ONNX_NONE)
        return false;
    found->heads = shape[2];
    found->size = shape[3];
    return found->heads > 0 && found->size > 0;
}

typedef struct attention {
    part q, k, v;
    double scale;
    const onnx_node *last; /* the product with the values */
} attention;

static bool find_scores(const patterns *p, uint32_t value, attention *a)
{
    const onnx_node *softmax = pattern_made_by(p, value, "Softmax");
    const int64_t axis = softmax && !softmax->flattens ? onnx_int(softmax, "axis", -1) : 0;
    double scale[3];
    const uint32_t scores =
        axis == -1 || axis == 3 ? pattern_scaled(p, softmax->inputs[0], scale) : ONNX_NONE;
    const onnx_node *product = pattern_made_by(p, scores, "MatMul");
    if (!product || product->input_count != 2)
        return false;
    const uint32_t q = pattern_scaled(p, product->inputs[0], &scale[1]);
    const uint32_t k = pattern_scaled(p, product->inputs[1], &scale[2]);
    a->scale = scale[0] * scale[1] * scale[2];
    return find_part(p, q, &a->q) && find_keys(p, k, &a->k) && a->scale > 0 && a->scale < 1e30;
}

static bool find(const patterns *p, const onnx_node *node, attention *a)
{
    int64_t shape[3];
    if (strcmp(node->op_type, "Reshape") != 0 || node->outputs[0] == ONNX_NONE)
        return false;
    const uint32_t turned = reshaped(p, node->outputs[0], 3, shape);
    const uint32_t product = turned == ONNX_NONE ? ONNX_NONE : transposed(p, turned, "0213");
    a->last = pattern_made_by(p, product, "MatMul");
    if (!a->last || a->last->input_count != 2 || p->uses[product] != 1 || p->uses[turned] != 1 ||
        !find_scores(p, a->last->inputs[0], a) || !find_part(p, a->last->inputs[1], &a->v))
        return false;
    const bool thirds = a->q.third == 0 && a->k.third == 1 && a->v.third == 2 && a->q.x == a->k.x &&
                        a->q.x == a->v.x;
    const bool apart = a->q.third < 0 && a->k.third < 0 && a->v.third < 0;
    return (thirds || apart) && a->q.heads == a->k.heads && a->q.heads == a->v.heads &&
           a->q.size == a->k.size && shape[0] >= -1 && shape[0] <= 1 && shape[1] != 1 &&
           (shape[2] == -1 || shape[2] == a->v.heads * a->v.size);
}

/* Makes the node a Split of x into thirds of its last axis, whose outputs are the three values. */
static bool become_split(patterns *p, onnx_node *node, uint32_t x, uint32_t values[3])
{
    const int64_t last = -1;
    const onnx_attribute axis = {.name = "axis", .kind = ONNX_INTS, .count = 1, .ints = &last};
    node->outputs = blocks_alloc(&p->g->memory, 3, sizeof *node->outputs);
    if (!node->outputs || !pattern_becomes(p, node, "Split", &x, 1, &axis, 1))
        return false;
    for (node->output_count = 0; node->output_count < 3; node->output_count++) {
        const uint32_t value = onnx_graph_add_value(p->g, node->name);
        values[node->output_count] = node->outputs[node->output_count] = value;
        if (value == ONNX_NONE)
            return false;
    }
    return true;
}

static bool become_attention(patterns *p, onnx_node *node, const attention *a,
                             const uint32_t values[3])
{
    const float scale = (float)a->scale;
    const onnx_attribute attributes[] = {
        {.name = "q_num_heads", .kind = ONNX_INTS, .count = 1, .ints = &a->q.heads},
        {.name = "kv_num_heads", .kind = ONNX_INTS, .count = 1, .ints = &a->q.heads},
        {.name = "scale", .kind = ONNX_FLOATS, .count = 1, .floats = &scale}};
    return pattern_becomes(p, node, "Attention", values, 3, attributes, 3);
}

bool pattern_attends(patterns *p, uint32_t i)
{
    attention a;
    if (!find(p, &p->g->nodes[i], &a))
        return true;
    uint32_t values[3] = {a.q.x, a.k.x, a.v.x};
    onnx_node *last = &p->g->nodes[a.last - p->g->nodes];
    return (a.q.third < 0 || become_split(p, last, a.q.x, values)) &&
           become_attention(p, &p->g->nodes[i], &a, values);
}
