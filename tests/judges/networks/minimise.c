// SPDX-License-Identifier: Apache-2.0
/* Reductions are tried one after another, and again from the start as long as one succeeds:
 *
 *   - an output is dropped
 *   - a value in the network becomes the only output
 *   - a value in the network becomes an input, with the numbers that it had
 *   - a node passes one of its inputs on
 */
#include "tests/judges/networks/minimise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reference/execute.h"
#include "tests/unit/onnx_builder.h"

enum { ROUNDS = 40, VALUES = 1024 };

/* What the reference computes for every value that something reads. */
typedef struct record {
    const onnx_graph *g;
    char names[VALUES][32];
    tensor tensors[VALUES];
    uint32_t count;
} record;

static bool see(void *context, uint32_t value, const tensor *t, format_error *error)
{
    record *r = context;
    (void)error;
    if (r->count == VALUES)
        return true;
    snprintf(r->names[r->count], sizeof *r->names, "%s", r->g->values[value].name);
    if (tensor_make(&r->tensors[r->count], t->type, t->rank, t->dims))
        memcpy(r->tensors[r->count++].data, t->data, tensor_bytes(t));
    return true;
}

static void free_record(record *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        tensor_free(&r->tensors[i]);
    free(r);
}

static record *make_record(const network *n)
{
    record *r = calloc(1, sizeof *r);
    onnx_graph g;
    format_error error = {0};
    tensor outputs[MONA_MAX_IO] = {0};
    if (!r || !onnx_graph_read(&g, n->bytes, n->size, NULL, &error))
        return r;
    r->g = &g;
    reference_execute(&g, n->inputs, outputs, &(tensor_observer){see, r}, &error);
    for (uint32_t i = 0; i < g.output_count; i++)
        tensor_free(&outputs[i]);
    onnx_graph_free(&g);
    return r;
}

static const tensor *recorded(const record *r, const char *name)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (!strcmp(r->names[i], name))
            return &r->tensors[i];
    return NULL;
}

/* ---- edited models ------------------------------------------------------------------------ */

static bool is_read(const Onnx__GraphProto *g, const char *name)
{
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++)
            if (!strcmp(g->node[i]->input[k], name))
                return true;
    for (size_t i = 0; i < g->n_output; i++)
        if (!strcmp(g->output[i]->name, name))
            return true;
    return false;
}

/* Removes nodes and constants that nothing reads. What is removed stays after the end of the list,
 * where the next edit cannot see it, so the message must not be freed by its own function. */
static void sweep(Onnx__GraphProto *g)
{
    for (size_t i = g->n_node; i-- > 0;) {
        bool used = false;
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            used = used || is_read(g, g->node[i]->output[k]);
        if (!used)
            memmove(&g->node[i], &g->node[i + 1], (--g->n_node - i) * sizeof *g->node);
    }
    for (size_t i = g->n_initializer; i-- > 0;)
        if (!is_read(g, g->initializer[i]->name))
            memmove(&g->initializer[i], &g->initializer[i + 1],
                    (--g->n_initializer - i) * sizeof *g->initializer);
    for (size_t i = g->n_input; i-- > 0;)
        if (!is_read(g, g->input[i]->name))
            memmove(&g->input[i], &g->input[i + 1], (--g->n_input - i) * sizeof *g->input);
}

/* Packs the model with the inputs that it still has. */
static bool pack(const Onnx__ModelProto *m, const network *from, const record *r, network *to)
{
    *to = (network){.seed = from->seed, .size = onnx__model_proto__get_packed_size(m)};
    memcpy(to->family, from->family, sizeof to->family);
    if (!m->graph->n_input || m->graph->n_input > MONA_MAX_IO || !m->graph->n_node)
        return false;
    to->bytes = malloc(to->size);
    onnx__model_proto__pack(m, to->bytes);
    for (size_t i = 0; i < m->graph->n_input; i++) {
        const tensor *t = recorded(r, m->graph->input[i]->name);
        snprintf(to->names[i], sizeof to->names[i], "%s", m->graph->input[i]->name);
        if (!t || !tensor_make(&to->inputs[i], t->type, t->rank, t->dims))
            return false;
        to->input_count = (uint32_t)i + 1;
        memcpy(to->inputs[i].data, t->data, tensor_bytes(t));
    }
    return true;
}

/* The edit number `which` of this kind. False: there is none; *valid: it could be made. */
typedef bool edit(onnx_builder *b, Onnx__GraphProto *g, const record *r, size_t which, bool *valid);

static bool drop_output(onnx_builder *b, Onnx__GraphProto *g, const record *r, size_t which,
                        bool *valid)
{
    (void)b, (void)r;
    *valid = g->n_output > 1;
    if (which >= g->n_output)
        return false;
    memmove(&g->output[which], &g->output[which + 1], (--g->n_output - which) * sizeof *g->output);
    return true;
}

/* Value `which`, counted over the outputs of nodes. */
static char *value_at(const Onnx__GraphProto *g, size_t which)
{
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            if (!which--)
                return g->node[i]->output[k];
    return NULL;
}

static Onnx__ValueInfoProto *declare(onnx_builder *b, const char *name, const tensor *t)
{
    Onnx__ValueInfoProto *v = ob_value(b, name, t->dims, t->rank);
    v->type->tensor_type->elem_type = (int)t->type;
    return v;
}

static bool only_output(onnx_builder *b, Onnx__GraphProto *g, const record *r, size_t which,
                        bool *valid)
{
    const char *name = value_at(g, which);
    const tensor *t = name ? recorded(r, name) : NULL;
    *valid = t;
    if (t) {
        g->output[0] = declare(b, name, t);
        g->n_output = 1;
    }
    return name;
}

static bool new_input(onnx_builder *b, Onnx__GraphProto *g, const record *r, size_t which,
                      bool *valid)
{
    char *name = value_at(g, which);
    const tensor *t = name ? recorded(r, name) : NULL;
    *valid = t && element_is_float(t->type);
    if (!*valid)
        return name;
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            if (!strcmp(g->node[i]->output[k], name))
                g->node[i]->output[k] = ob_text(b, g->node[i]->n_output == 1 ? "unused" : "");
    Onnx__ValueInfoProto **inputs = ob_alloc(b, (g->n_input + 1) * sizeof *inputs);
    memcpy(inputs, g->input, g->n_input * sizeof *inputs);
    inputs[g->n_input++] = declare(b, name, t);
    g->input = inputs;
    return true;
}

static bool pass_on(onnx_builder *b, Onnx__GraphProto *g, const record *r, size_t which,
                    bool *valid)
{
    (void)b;
    if (which / 4 >= g->n_node)
        return false;
    const Onnx__NodeProto *node = g->node[which / 4];
    const char *from = which % 4 < node->n_input ? node->input[which % 4] : "",
               *to = node->output[0];
    const tensor *a = recorded(r, from), *c = recorded(r, to);
    *valid = a && c && a->type == c->type && tensor_same_shape(a, c) && strcmp(from, to);
    for (size_t i = 0; *valid && i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_input; k++)
            if (!strcmp(g->node[i]->input[k], to))
                g->node[i]->input[k] = (char *)from;
    return true;
}

/* ---- the search --------------------------------------------------------------------------- */

static bool fails_alike(const verdict *a, const verdict *b)
{
    return a->kind == b->kind && (a->kind == VERDICT_CRASHED || !strncmp(a->way, b->way, 4));
}

/* Tries the edit on *n, and replaces it if the result fails alike. False: there is no such edit. */
static bool try(network *n, edit *make, size_t which, const verdict *v, judge_function *judge,
                void *context, bool *smaller)
{
    record *r = make_record(n);
    Onnx__ModelProto *m = onnx__model_proto__unpack(NULL, n->size, n->bytes);
    onnx_builder *b = ob_new(13); /* for its memory */
    network made = {0};
    bool valid = false;
    const bool exists = make(b, m->graph, r, which, &valid);
    *smaller = false;
    if (exists && valid) {
        verdict found;
        sweep(m->graph);
        if (pack(m, n, r, &made)) {
            judge(context, &made, &found, NULL);
            *smaller = made.size < n->size && fails_alike(&found, v);
        }
    }
    if (*smaller) {
        network_free(n);
        *n = made;
    } else {
        network_free(&made);
    }
    ob_free(b);
    free_record(r); /* the message is left: edits have mixed its memory with b's */
    return exists;
}

void minimise(const network *n, const verdict *v, judge_function *judge, void *context,
              network *small)
{
    static edit *const edits[] = {drop_output, only_output, new_input, pass_on};
    *small = *n;
    small->bytes = malloc(n->size);
    memcpy(small->bytes, n->bytes, n->size);
    for (uint32_t i = 0; i < n->input_count; i++) {
        tensor_make(&small->inputs[i], n->inputs[i].type, n->inputs[i].rank, n->inputs[i].dims);
        memcpy(small->inputs[i].data, n->inputs[i].data, tensor_bytes(&n->inputs[i]));
    }
    bool any = true;
    for (int round = 0; any && round < ROUNDS; round++) {
        any = false;
        for (size_t e = 0; e < sizeof edits / sizeof *edits; e++)
            for (size_t which = 0;;) {
                bool smaller;
                if (!try(small, edits[e], which, v, judge, context, &smaller))
                    break;
                any = any || smaller;
                which += !smaller;
            }
    }
}
