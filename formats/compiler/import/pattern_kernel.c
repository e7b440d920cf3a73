// SPDX-License-Identifier: Apache-2.0
/* Patterns that a user gives for a kernel: a graph of its inputs and its only output. Where the
 * same operators, with the same attributes and constants, stand in the model, the last of them
 * calls the kernel instead. */
#include "formats/compiler/import/patterns.h"

#include <string.h>

#include "engine/mona_op.h"

enum { MOST_STEPS = 10000 }; /* of one search, as operands of sums and products may be swapped */

typedef struct match {
    const patterns *p;
    const onnx_graph *pattern;
    uint32_t bound[ONNX_PATTERN_VALUES]; /* values of the model, by those of the pattern */
    uint32_t left;
} match;

static bool same_tensor(const tensor *a, const tensor *b)
{
    return a->type == b->type && a->rank == b->rank &&
           !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) &&
           !memcmp(a->data, b->data, tensor_bytes(a));
}

static bool same_attribute(const onnx_attribute *a, const onnx_attribute *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->count != b->count)
        return false;
    switch (a->kind) {
    case ONNX_INTS:
        return !memcmp(a->ints, b->ints, a->count * sizeof *a->ints);
    case ONNX_FLOATS:
        return !memcmp(a->floats, b->floats, a->count * sizeof *a->floats);
    case ONNX_TEXT:
        return !strcmp(a->text, b->text);
    case ONNX_TENSOR:
        return same_tensor(a->tensor, b->tensor);
    default:
        return false;
    }
}

static bool same_operator(const onnx_node *a, const onnx_node *b)
{
    bool same = !strcmp(a->op_type, b->op_type) && a->input_count == b->input_count &&
                a->output_count == b->output_count && a->attribute_count == b->attribute_count &&
                a->flattens == b->flattens && a->broadcasts == b->broadcasts &&
                a->broadcast_axis == b->broadcast_axis;
    for (uint32_t i = 0; same && i < a->attribute_count; i++) {
        same = false;
        for (uint32_t k = 0; !same && k < b->attribute_count; k++)
            same = same_attribute(&a->attributes[i], &b->attributes[k]);
    }
    return same;
}

static bool match_value(match *m, uint32_t wanted, uint32_t found);

static bool match_inputs(match *m, const onnx_node *wanted, const onnx_node *found, bool swapped)
{
    bool same = true;
    for (uint32_t i = 0; same && i < wanted->input_count; i++)
        same = match_value(m, wanted->inputs[i], found->inputs[swapped ? 1 - i : i]);
    return same;
}

static bool match_node(match *m, const onnx_node *wanted, const onnx_node *found)
{
    uint32_t bound[ONNX_PATTERN_VALUES];
    if (!m->left || !same_operator(wanted, found))
        return false;
    m->left--;
    memcpy(bound, m->bound, sizeof bound);
    if (match_inputs(m, wanted, found, false))
        return true;
    const bool swaps = wanted->input_count == 2 && !wanted->broadcasts &&
                       (!strcmp(wanted->op_type, "Add") || !strcmp(wanted->op_type, "Mul"));
    memcpy(m->bound, bound, sizeof bound);
    return swaps && match_inputs(m, wanted, found, true);
}

static bool match_value(match *m, uint32_t wanted, uint32_t found)
{
    if (wanted == ONNX_NONE || found == ONNX_NONE || found >= m->p->count)
        return wanted == found;
    if (m->bound[wanted] != ONNX_NONE)
        return m->bound[wanted] == found;
    m->bound[wanted] = found;
    const tensor *constant = &m->pattern->values[wanted].tensor;
    const tensor *t = &m->p->g->values[found].tensor;
    if (constant->data)
        return t->data && same_tensor(constant, t);
    for (uint32_t i = 0; i < m->pattern->node_count; i++) {
        const onnx_node *node = &m->pattern->nodes[i];
        const uint32_t made = m->p->producers[found];
        for (uint32_t k = 0; k < node->output_count; k++)
            if (node->outputs[k] == wanted)
                return made != ONNX_NONE && k < m->p->g->nodes[made].output_count &&
                       m->p->g->nodes[made].outputs[k] == found &&
                       match_node(m, node, &m->p->g->nodes[made]);
    }
    return true; /* an input */
}

/* Whether the axes of an input are those of the pattern's: operators count them from either end,
 * and spread a table along the one where it lies. */
static bool same_axes(const onnx_input *wanted, const tensor *found, bool table)
{
    bool same = wanted->rank == found->rank;
    for (uint32_t i = 0; same && table && i < wanted->rank; i++)
        same = wanted->dims[i] < 0 || wanted->dims[i] == found->dims[i];
    return same;
}

/* Whether types and sizes are the kernel's. */
static bool fits(const patterns *p, const onnx_pattern *pattern, const onnx_node *call)
{
    const mona_kernel *k = pattern->kernel;
    const tensor *in[MONA_KERNEL_OPERANDS];
    tensor out[MONA_KERNEL_OPERANDS] = {0};
    format_error error = {0};
    onnx_grid grid;
    for (uint32_t i = 0; i < k->inputs; i++) {
        const onnx_value *v = &p->g->values[call->inputs[i]];
        if ((!v->shaped && !v->tensor.data) ||
            !same_axes(&pattern->graph->inputs[i], &v->tensor, !k->operands[i].planes))
            return false;
        in[i] = &v->tensor;
    }
    const onnx_value *result = &p->g->values[call->outputs[0]];
    return onnx_kernel_grid(k, call, in, &grid, &error) &&
           onnx_kernel_shapes(k, call, in, out, &error) && result->shaped &&
           out[0].type == result->tensor.type && out[0].count == result->tensor.count;
}

static bool find(const patterns *p, const onnx_pattern *pattern, const onnx_node *node, match *m)
{
    *m = (match){.p = p, .pattern = pattern->graph, .left = MOST_STEPS};
    for (uint32_t i = 0; i < ONNX_PATTERN_VALUES; i++)
        m->bound[i] = ONNX_NONE;
    return node->output_count == 1 && node->outputs[0] != ONNX_NONE && !node->branch &&
           match_value(m, pattern->graph->outputs[0], node->outputs[0]);
}

bool pattern_calls(patterns *p, uint32_t index, bool *called)
{
    onnx_node *node = &p->g->nodes[index];
    for (uint32_t n = 0; n < p->g->pattern_count; n++) {
        const onnx_pattern *pattern = &p->g->patterns[n];
        uint32_t inputs[MONA_KERNEL_OPERANDS];
        bool all = true;
        match m;
        if (!find(p, pattern, node, &m))
            continue;
        for (uint32_t i = 0; i < pattern->graph->input_count; i++) {
            inputs[i] = m.bound[pattern->graph->inputs[i].value];
            all = all && inputs[i] != ONNX_NONE;
        }
        onnx_node call = *node;
        call.inputs = inputs;
        call.input_count = pattern->kernel->inputs;
        call.attribute_count = 0;
        const bool fit = all && fits(p, pattern, &call);
        const char *why_not = p->switches->off[FUSION_KERNEL] ? FUSION_IS_OFF
                              : fit                           ? NULL
                                    : "types or sizes are not the kernel's";
        fusion_log_add(p->log,
                       &(fusion_event){FUSION_KERNEL, node->name, node->op_type, why_not, NULL, 0});
        *called = !why_not;
        return why_not || pattern_becomes(p, node, pattern->kernel->name, inputs,
                                          pattern->kernel->inputs, NULL, 0);
    }
    return true;
}
