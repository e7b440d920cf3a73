// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/inspect_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/describe.h"
#include "engine/model_format.h"

#define NOBODY UINT32_MAX

/* ---- .mona ---------------------------------------------------------------------------------- */

static void tensor_detail(const mona_file_tensor *t, char *text, size_t size)
{
    snprintf(text, size, "%u x %s", t->channels, mona_type_name((mona_type)t->type));
}

static void add_op(drawing *d, const mona_model *m, const mona_file_op *op, uint32_t *makers)
{
    char detail[96], type[32];
    tensor_detail(&m->tensors[op->output], type, sizeof type);
    snprintf(detail, sizeof detail, "%s: %s", describe_op_name(op), type);
    const uint32_t node = drawing_node(d, m->strings + op->name, detail, false);
    for (uint32_t i = 0; i < op->input_count; i++)
        if (makers[op->inputs[i]] != NOBODY)
            drawing_edge(d, makers[op->inputs[i]], node);
    makers[op->output] = node;
}

void inspect_graph_mona(drawing *d, const mona_model *m)
{
    const unsigned inputs = mona_model_input_count(m), outputs = mona_model_output_count(m);
    uint32_t *makers = malloc((m->header->tensor_count + 1) * sizeof *makers);
    char detail[32];
    *d = (drawing){.failed = !makers};
    for (uint32_t t = 0; makers && t < m->header->tensor_count; t++)
        makers[t] = NOBODY;
    for (unsigned t = 0; makers && t < inputs; t++) {
        tensor_detail(&m->tensors[t], detail, sizeof detail);
        makers[t] = drawing_node(d, m->strings + m->tensors[t].name, detail, true);
    }
    for (uint32_t o = 0; makers && o < m->header->op_count; o++)
        add_op(d, m, &m->ops[o], makers);
    for (unsigned t = inputs; makers && t < inputs + outputs; t++) {
        tensor_detail(&m->tensors[t], detail, sizeof detail);
        const uint32_t end = drawing_node(d, m->strings + m->tensors[t].name, detail, true);
        if (makers[t] != NOBODY)
            drawing_edge(d, makers[t], end);
    }
    free(makers);
}

/* ---- .onnx ---------------------------------------------------------------------------------- */

/* The node that computes a value. */
typedef struct maker {
    const char *value;
    uint32_t node;
} maker;

static int by_value(const void *a, const void *b)
{
    return strcmp(((const maker *)a)->value, ((const maker *)b)->value);
}

static void add_edges(drawing *d, const maker *makers, size_t count, char *const *values,
                      size_t value_count, uint32_t to)
{
    for (size_t i = 0; i < value_count; i++) {
        const maker wanted = {onnx_text(values[i]), 0};
        const maker *found =
            wanted.value[0] ? bsearch(&wanted, makers, count, sizeof *makers, by_value) : NULL;
        if (found)
            drawing_edge(d, found->node, to);
    }
}

static bool is_constant(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(onnx_text(g->initializer[i]->name), name))
            return true;
    return false;
}

/* Adds everything except weights, with the nodes that compute it. */
static size_t add_makers(drawing *d, const Onnx__GraphProto *g, maker *makers)
{
    size_t count = 0;
    for (size_t i = 0; i < g->n_input; i++) {
        const char *name = onnx_text(g->input[i]->name);
        if (!is_constant(g, name))
            makers[count++] = (maker){name, drawing_node(d, name, "input", true)};
    }
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *n = g->node[i];
        const char *name = onnx_text(n->name)[0] ? n->name
                           : n->n_output         ? onnx_text(n->output[0])
                                                 : "";
        const uint32_t node = drawing_node(d, onnx_text(n->op_type), name, false);
        for (size_t k = 0; k < n->n_output; k++)
            makers[count++] = (maker){onnx_text(n->output[k]), node};
    }
    qsort(makers, count, sizeof *makers, by_value);
    return count;
}

void inspect_graph_onnx(drawing *d, const Onnx__GraphProto *g)
{
    size_t room = g->n_input + 1;
    for (size_t i = 0; i < g->n_node; i++)
        room += g->node[i]->n_output;
    maker *makers = malloc(room * sizeof *makers);
    *d = (drawing){.failed = !makers};
    if (!makers)
        return;
    const size_t count = add_makers(d, g, makers);
    const uint32_t first = d->node_count - (uint32_t)g->n_node;
    for (size_t i = 0; i < g->n_node && !d->failed; i++)
        add_edges(d, makers, count, g->node[i]->input, g->node[i]->n_input, first + (uint32_t)i);
    for (size_t i = 0; i < g->n_output && !d->failed; i++) {
        const uint32_t end = drawing_node(d, onnx_text(g->output[i]->name), "output", true);
        add_edges(d, makers, count, &g->output[i]->name, 1, end);
    }
    free(makers);
}
