// SPDX-License-Identifier: Apache-2.0
#include "formats/reference/execute.h"

#include <stdlib.h>
#include <string.h>

#include "formats/reference/operators.h"

/* ---- one node ----------------------------------------------------------------------------- */

static bool refuse_operator(const onnx_graph *g, const onnx_node *node, format_error *error)
{
    if (onnx_kernel_of(g, node))
        return onnx_node_fail(node, error, "is a kernel that mona has no code of");
    return onnx_node_fail(node, error, "is not supported; mona ops lists what is");
}

static bool check_call(const reference_row *row, op_call *c)
{
    char types[384], fault[128];
    if (c->in_count < row->min_inputs ||
        (c->in_count > row->max_inputs && row->max_inputs != OPERATOR_ANY_COUNT))
        return op_fail(c, "has %u inputs; expected %u to %u", c->in_count, row->min_inputs,
                       row->max_inputs);
    for (uint32_t i = 0; i < row->min_inputs; i++)
        if (!c->in[i])
            return op_fail(c, "leaves out input %u", i);
    if (reference_attribute_fault(row, c->node, fault, sizeof fault))
        return op_fail(c, "%s", fault);
    reference_types(row->types, types, sizeof types);
    if (!(row->types >> c->in[0]->type & 1))
        return op_fail(c, "works on %s; supported: %s", element_name(c->in[0]->type), types);
    return true;
}

reference_result reference_node_run(const onnx_graph *g, const onnx_node *node,
                                    const tensor *const *in, bool shapes_only, tensor *out,
                                    format_error *error)
{
    const reference_row *row = reference_find(node->op_type);
    op_call c = {
        .node = node,
        .in = in,
        .in_count = node->input_count,
        .out = out,
        .out_count = node->output_count,
        .opset = g->opset,
        .shapes_only = shapes_only,
        .error = error,
    };
    const mona_kernel *kernel = row || !g->kernels_run ? NULL : onnx_kernel_of(g, node);
    memset(out, 0, node->output_count * sizeof *out);
    if (kernel)
        return reference_kernel(kernel, node, in, out, error) ? REFERENCE_DONE : REFERENCE_FAILED;
    if (!row)
        refuse_operator(g, node, error);
    const bool ok = row && check_call(row, &c) && (row->function(&c) || c.shaped);
    for (uint32_t i = 0; i < c.scratch_count; i++)
        free(c.scratch[i]);
    for (uint32_t i = 0; !ok && i < node->output_count; i++)
        tensor_free(&out[i]);
    return ok ? REFERENCE_DONE : c.unknown && shapes_only ? REFERENCE_UNKNOWN : REFERENCE_FAILED;
}

/* ---- a graph ------------------------------------------------------------------------------ */

typedef struct execution {
    const onnx_graph *g;
    tensor *values; /* computed so far */
    uint32_t *left; /* remaining uses */
    const tensor **in;
    tensor *out;
    const tensor_observer *observer;
    format_error *error;
} execution;

static const tensor *find(const execution *e, uint32_t value)
{
    if (value == ONNX_NONE)
        return NULL;
    return e->values[value].data ? &e->values[value] : &e->g->values[value].tensor;
}

static void drop_use(execution *e, uint32_t value)
{
    if (value != ONNX_NONE && !--e->left[value])
        tensor_free(&e->values[value]);
}

static const tensor *data_of(const void *context, uint32_t value)
{
    return find(context, value);
}

static bool observe(const execution *e, uint32_t value)
{
    const tensor_observer *o = e->observer;
    return !o || o->see(o->context, value, &e->values[value], e->error);
}

static bool run_node(execution *e, const onnx_node *node)
{
    bool ok = true;
    const bool left_out = onnx_is_left_out(node, data_of, e);
    for (uint32_t i = 0; left_out && i < node->input_count; i++)
        drop_use(e, node->inputs[i]);
    if (left_out)
        return true;
    for (uint32_t i = 0; i < node->input_count; i++)
        e->in[i] = find(e, node->inputs[i]);
    if (reference_node_run(e->g, node, e->in, false, e->out, e->error) != REFERENCE_DONE)
        return format_fail(e->error,
                           "node '%.80s' (%.40s) needs the data of an input that has none",
                           node->name, node->op_type);
    for (uint32_t i = 0; i < node->output_count; i++) {
        const uint32_t value = node->outputs[i];
        if (value == ONNX_NONE || !e->left[value]) {
            tensor_free(&e->out[i]);
            continue;
        }
        e->values[value] = e->out[i];
        ok = ok && observe(e, value);
    }
    for (uint32_t i = 0; i < node->input_count; i++)
        drop_use(e, node->inputs[i]);
    return ok;
}

static bool copy_tensor(tensor *to, const tensor *from, format_error *error)
{
    if (!tensor_make(to, from->type, from->rank, from->dims))
        return format_fail(error, "out of memory");
    memcpy(to->data, from->data, tensor_bytes(from));
    return true;
}

/* Dimensions that the model fixes must match those of the input. */
static bool set_input(execution *e, uint32_t i, const tensor *from)
{
    const onnx_input *input = &e->g->inputs[i];
    const char *name = e->g->values[input->value].name;
    bool fits = from->type == input->type && from->rank == input->rank;
    for (uint32_t k = 0; fits && k < input->rank; k++)
        fits = input->dims[k] <= 0 || input->dims[k] == from->dims[k];
    if (!fits) {
        char text[128];
        tensor_text(from, text, sizeof text);
        return format_fail(e->error, "input '%s' is given %s, which is not what the model takes",
                           name, text);
    }
    return copy_tensor(&e->values[input->value], from, e->error) && observe(e, input->value);
}

static void count_uses(execution *e)
{
    for (uint32_t i = 0; i < e->g->output_count; i++)
        e->left[e->g->outputs[i]]++;
    for (uint32_t i = 0; i < e->g->node_count; i++)
        for (uint32_t k = 0; k < e->g->nodes[i].input_count; k++)
            if (e->g->nodes[i].inputs[k] != ONNX_NONE)
                e->left[e->g->nodes[i].inputs[k]]++;
}

static bool execute(execution *e, const tensor *inputs, tensor *outputs)
{
    const onnx_graph *g = e->g;
    count_uses(e);
    for (uint32_t i = 0; i < g->input_count; i++)
        if (!set_input(e, i, &inputs[i]))
            return false;
    for (uint32_t i = 0; i < g->node_count; i++)
        if (!run_node(e, &g->nodes[i]))
            return false;
    for (uint32_t i = 0; i < g->output_count; i++)
        if (!copy_tensor(&outputs[i], find(e, g->outputs[i]), e->error))
            return false;
    return true;
}

bool reference_execute(const onnx_graph *g, const tensor *inputs, tensor *outputs,
                       const tensor_observer *observer, format_error *error)
{
    execution e = {.g = g, .observer = observer, .error = error};
    const uint32_t max = onnx_graph_arguments(g);
    memset(outputs, 0, g->output_count * sizeof *outputs);
    e.values = calloc(g->value_count + 1, sizeof *e.values);
    e.left = calloc(g->value_count + 1, sizeof *e.left);
    e.in = calloc(max, sizeof *e.in);
    e.out = calloc(max, sizeof *e.out);
    const bool ok = e.values && e.left && e.in && e.out ? execute(&e, inputs, outputs)
                                                        : format_fail(error, "out of memory");
    for (uint32_t i = 0; e.values && i < g->value_count; i++)
        tensor_free(&e.values[i]);
    for (uint32_t i = 0; !ok && i < g->output_count; i++)
        tensor_free(&outputs[i]);
    free(e.values);
    free(e.left);
    free(e.in);
    free(e.out);
    return ok;
}
