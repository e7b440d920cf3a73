// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/reference.h"

#include <stdlib.h>
#include <string.h>

#include "formats/compiler/reference_array.h"
#include "formats/compiler/reference_nodes.h"

void reference_arrays_free(reference_array *arrays, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        free(arrays[i].data);
        arrays[i].data = NULL;
    }
}

/* ---- the graph ---------------------------------------------------------------------------- */

typedef struct execution {
    const graph *g;
    reference_array *values; /* for each value; data NULL: not computed yet, or no longer needed */
    uint32_t *left;          /* remaining uses of each value */
    const reference_observer *observer;
    format_error *error;
} execution;

static bool observe(execution *e, uint32_t value, const graph_node *node,
                    const reference_array *const *in)
{
    const reference_observer *o = e->observer;
    return !o || e->g->values[value].is_array ||
           o->see(o->context, value, &e->values[value], node, in, e->error);
}

/* Shows the argument of a convolution's function, then applies the function. */
static bool observe_argument(const execution *e, const graph_node *node, reference_array *sums)
{
    const reference_observer *o = node->before != node->inputs[0] ? e->observer : NULL;
    if (o && !o->see(o->context, node->before, sums, NULL, NULL, e->error))
        return false;
    reference_function(&node->after_add, sums);
    return true;
}

/* Replaces an input by a copy rounded as the model's planes are. */
static bool round_input(execution *e, uint32_t value)
{
    reference_array *a = &e->values[value];
    const float *from = a->data;
    a->data = malloc(reference_count(a) * sizeof(float));
    e->left[value] = graph_uses(e->g, value) + 1; /* keep it until the end */
    if (!a->data)
        return format_fail(e->error, "out of memory");
    memcpy(a->data, from, reference_count(a) * sizeof(float));
    reference_quantize(e->g->values[value].prequantised, a);
    return true;
}

static bool set_inputs(execution *e, const reference_array *inputs)
{
    for (uint32_t i = 0; i < e->g->input_count; i++) {
        const graph_value *v = &e->g->values[e->g->inputs[i]];
        const reference_array *a = &inputs[i];
        if (a->channels != v->channels || (v->height && a->height != v->height) ||
            (v->width && a->width != v->width))
            return format_fail(e->error,
                               "input '%s' takes %u channels of %ux%u (0: any); found %u "
                               "of %ux%u",
                               v->name, v->channels, v->width, v->height, a->channels, a->width,
                               a->height);
        e->values[e->g->inputs[i]] = *a;
        e->left[e->g->inputs[i]] = UINT32_MAX; /* memory of the caller */
        if (graph_is_prequantised(e->g, e->g->inputs[i]) && !round_input(e, e->g->inputs[i]))
            return false;
        if (!observe(e, e->g->inputs[i], NULL, NULL))
            return false;
    }
    return true;
}

static bool execute(execution *e, const graph_node *node)
{
    const reference_array *in[GRAPH_MAX_INPUTS];
    for (uint32_t i = 0; i < node->input_count; i++)
        in[i] = &e->values[node->inputs[i]];
    reference_array *out = &e->values[node->output];
    if (!reference_shape(e->g, node, in, out))
        return graph_fail(node, e->error, "does not fit inputs of %ux%u", in[0]->width,
                          in[0]->height);
    out->data = malloc(reference_count(out) * sizeof(float));
    if (!out->data)
        return format_fail(e->error, "out of memory");
    if (node->kind == GRAPH_ARRAY && !reference_array_node(e->g, node, in, out, e->error))
        return false;
    graph_node plain =
        *node; /* without the function of a convolution, whose argument is seen too */
    const bool function = node->kind == GRAPH_CONV && mona_is_function(node->after_add.kind);
    if (function)
        plain.after_add = (graph_activation){0};
    reference_node(&plain, in, out);
    if (function && !observe_argument(e, node, out))
        return false;
    if (graph_is_prequantised(e->g, node->output))
        reference_quantize(e->g->values[node->output].prequantised, out);
    if (!observe(e, node->output, node, in))
        return false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const uint32_t v = node->inputs[i];
        if (e->left[v] != UINT32_MAX && --e->left[v] == 0) {
            free(e->values[v].data);
            e->values[v].data = NULL;
        }
    }
    return true;
}

static bool take_outputs(execution *e, reference_array *outputs)
{
    for (uint32_t i = 0; i < e->g->output_count; i++) {
        outputs[i] = e->values[e->g->outputs[i]];
        outputs[i].data = malloc(reference_count(&outputs[i]) * sizeof(float));
        if (!outputs[i].data) {
            reference_arrays_free(outputs, i);
            return format_fail(e->error, "out of memory");
        }
        memcpy(outputs[i].data, e->values[e->g->outputs[i]].data,
               reference_count(&outputs[i]) * sizeof(float));
    }
    return true;
}

bool reference_run(const graph *g, const reference_array *inputs, reference_array *outputs,
                   const reference_observer *observer, format_error *error)
{
    execution e = {g, calloc(g->value_count, sizeof *e.values),
                   calloc(g->value_count, sizeof *e.left), observer, error};
    bool ok = e.values && e.left ? true : format_fail(error, "out of memory");
    for (uint32_t v = 0; ok && v < g->value_count; v++)
        e.left[v] = graph_uses(g, v);
    ok = ok && set_inputs(&e, inputs);
    for (uint32_t i = 0; ok && i < g->node_count; i++)
        ok = execute(&e, &g->nodes[i]);
    ok = ok && take_outputs(&e, outputs);
    for (uint32_t v = 0; e.values && e.left && v < g->value_count; v++)
        if (e.left[v] != UINT32_MAX)
            free(e.values[v].data);
    free(e.values);
    free(e.left);
    return ok;
}
