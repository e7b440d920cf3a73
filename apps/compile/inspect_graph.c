// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "engine/model_format.h"
#include "apps/cli/printable.h"

#define NOBODY UINT32_MAX

/* ---- the language --------------------------------------------------------------------------- */

static void begin(FILE *f)
{
    fputs("digraph {\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fb\", "
          "fontname=\"sans-serif\"]\n",
          f);
}

/* Names come from files that anybody may have written. */
static void put_text(FILE *f, const char *text)
{
    char escape[PRINTABLE_ESCAPE];
    for (size_t taken; *text; text += taken) {
        taken = printable_next(text, escape);
        if (escape[0] || *text == '"' || *text == '\\')
            putc('\\', f);
        fwrite(escape[0] ? escape : text, 1, escape[0] ? strlen(escape) : taken, f);
    }
}

/* end: an input or output of the graph. */
static void put_node(FILE *f, uint32_t node, const char *title, const char *detail, bool end)
{
    fprintf(f, "  n%u [label=\"", node);
    put_text(f, title);
    fputs("\\n", f);
    put_text(f, detail);
    fputs(end ? "\", fillcolor=\"#fdf1e3\"]\n" : "\"]\n", f);
}

static void put_edge(FILE *f, uint32_t from, uint32_t to)
{
    if (from != NOBODY)
        fprintf(f, "  n%u -> n%u\n", from, to);
}

/* ---- .mona ---------------------------------------------------------------------------------- */

static void tensor_detail(const mona_file_tensor *t, char *text, size_t size)
{
    snprintf(text, size, "%u x %s", t->channels, mona_type_name((mona_type)t->type));
}

static void put_end(FILE *f, const mona_model *m, uint32_t tensor, uint32_t node)
{
    char detail[32];
    tensor_detail(&m->tensors[tensor], detail, sizeof detail);
    put_node(f, node, m->strings + m->tensors[tensor].name, detail, true);
}

static void put_op(FILE *f, const mona_model *m, const mona_file_op *op, uint32_t node,
                   const uint32_t *makers)
{
    char detail[96], type[32];
    tensor_detail(&m->tensors[op->output], type, sizeof type);
    snprintf(detail, sizeof detail, "%s: %s", describe_op_name(op), type);
    put_node(f, node, m->strings + op->name, detail, false);
    for (uint32_t i = 0; i < op->input_count; i++)
        put_edge(f, makers[op->inputs[i]], node);
}

bool inspect_graph_mona(FILE *f, const mona_model *m)
{
    const unsigned inputs = mona_model_input_count(m), outputs = mona_model_output_count(m);
    uint32_t *makers = malloc((m->header->tensor_count + 1) * sizeof *makers), node = 0;
    if (!makers)
        return false;
    begin(f);
    for (uint32_t t = 0; t < m->header->tensor_count; t++)
        makers[t] = NOBODY;
    for (unsigned t = 0; t < inputs; t++, node++) {
        put_end(f, m, t, node);
        makers[t] = node;
    }
    for (uint32_t o = 0; o < m->header->op_count; o++, node++) {
        put_op(f, m, &m->ops[o], node, makers);
        makers[m->ops[o].output] = node;
    }
    for (unsigned t = inputs; t < inputs + outputs; t++, node++) {
        put_end(f, m, t, node);
        put_edge(f, makers[t], node);
    }
    fputs("}\n", f);
    free(makers);
    return true;
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

static void put_edges(FILE *f, const maker *makers, size_t count, char *const *values,
                      size_t value_count, uint32_t to)
{
    for (size_t i = 0; i < value_count; i++) {
        const maker wanted = {onnx_text(values[i]), 0};
        const maker *found =
            wanted.value[0] ? bsearch(&wanted, makers, count, sizeof *makers, by_value) : NULL;
        if (found)
            put_edge(f, found->node, to);
    }
}

static bool is_constant(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!strcmp(onnx_text(g->initializer[i]->name), name))
            return true;
    return false;
}

/* Nodes are numbered: inputs, operators, outputs. Lists all values but weights with the nodes that
 * compute them. */
static size_t put_makers(FILE *f, const Onnx__GraphProto *g, maker *makers)
{
    size_t count = 0;
    for (size_t i = 0; i < g->n_input; i++) {
        const char *name = onnx_text(g->input[i]->name);
        if (is_constant(g, name))
            continue;
        put_node(f, (uint32_t)i, name, "input", true);
        makers[count++] = (maker){name, (uint32_t)i};
    }
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *n = g->node[i];
        const uint32_t node = (uint32_t)(g->n_input + i);
        const char *name = onnx_text(n->name)[0] ? n->name
                           : n->n_output         ? onnx_text(n->output[0])
                                                 : "";
        put_node(f, node, onnx_text(n->op_type), name, false);
        for (size_t k = 0; k < n->n_output; k++)
            makers[count++] = (maker){onnx_text(n->output[k]), node};
    }
    qsort(makers, count, sizeof *makers, by_value);
    return count;
}

bool inspect_graph_onnx(FILE *f, const Onnx__GraphProto *g)
{
    size_t room = g->n_input + 1;
    for (size_t i = 0; i < g->n_node; i++)
        room += g->node[i]->n_output;
    maker *makers = malloc(room * sizeof *makers);
    if (!makers)
        return false;
    begin(f);
    const size_t count = put_makers(f, g, makers);
    uint32_t node = (uint32_t)g->n_input;
    for (size_t i = 0; i < g->n_node; i++, node++)
        put_edges(f, makers, count, g->node[i]->input, g->node[i]->n_input, node);
    for (size_t i = 0; i < g->n_output; i++, node++) {
        put_node(f, node, onnx_text(g->output[i]->name), "output", true);
        put_edges(f, makers, count, &g->output[i]->name, 1, node);
    }
    fputs("}\n", f);
    free(makers);
    return true;
}
