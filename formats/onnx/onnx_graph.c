// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_graph.h"

#include <stdlib.h>
#include <string.h>

static void free_attributes(onnx_node *node)
{
    for (uint32_t k = 0; k < node->attribute_count; k++)
        if (node->attributes[k].tensor)
            free(node->attributes[k].tensor->data);
}

void onnx_graph_free(onnx_graph *g)
{
    for (uint32_t i = 0; i < g->value_count; i++)
        tensor_free(&g->values[i].tensor);
    for (uint32_t i = 0; i < g->node_count + g->removed_count; i++)
        free_attributes(&g->nodes[i]);
    free(g->nodes);
    free(g->values);
    free(g->inputs);
    free(g->outputs);
    free(g->declared);
    blocks_free(&g->memory);
    *g = (onnx_graph){0};
}

void onnx_graph_keep(onnx_graph *g, const bool *keep)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const onnx_node node = g->nodes[i];
        if (!keep[i])
            continue;
        g->nodes[i] = g->nodes[kept];
        g->nodes[kept++] = node;
    }
    g->removed_count += g->node_count - kept;
    g->node_count = kept;
}

onnx_node *onnx_graph_copy_nodes(onnx_graph *g)
{
    onnx_node *nodes = blocks_alloc(&g->memory, g->node_count, sizeof *nodes);
    for (uint32_t i = 0; nodes && i < g->node_count; i++) {
        onnx_node *node = &nodes[i];
        *node = g->nodes[i];
        node->inputs = blocks_alloc(&g->memory, node->input_count, sizeof *node->inputs);
        node->outputs = blocks_alloc(&g->memory, node->output_count, sizeof *node->outputs);
        if (!node->inputs || !node->outputs)
            return NULL;
        memcpy(node->inputs, g->nodes[i].inputs, node->input_count * sizeof *node->inputs);
        memcpy(node->outputs, g->nodes[i].outputs, node->output_count * sizeof *node->outputs);
    }
    return nodes;
}

bool onnx_is_left_out(const onnx_node *node, const tensor *(*data)(const void *context, uint32_t),
                      const void *context)
{
    for (const onnx_branch *b = node->branch; b; b = b->outer) {
        const tensor *t = data(context, b->condition);
        if (t && t->data && t->count == 1 && (tensor_int(t, 0) != 0) != b->when)
            return true;
    }
    return false;
}

uint32_t onnx_graph_arguments(const onnx_graph *g)
{
    uint32_t max = 1;
    for (uint32_t i = 0; i < g->node_count; i++) {
        const onnx_node *n = &g->nodes[i];
        max = n->input_count > max ? n->input_count : max;
        max = n->output_count > max ? n->output_count : max;
    }
    return max;
}

uint32_t onnx_graph_add_value(onnx_graph *g, const char *name)
{
    if (g->value_count >= ONNX_MAX_VALUES ||
        !list_grow((void **)&g->values, &g->value_room, g->value_count, sizeof *g->values))
        return ONNX_NONE;
    g->values[g->value_count] = (onnx_value){.name = name};
    return g->value_count++;
}

void onnx_value_set(onnx_graph *g, uint32_t value, tensor *t)
{
    onnx_value *v = &g->values[value];
    tensor_free(&v->tensor);
    v->tensor = *t;
    v->shaped = true;
    *t = (tensor){0};
}

void onnx_graph_freeze(onnx_graph *g, uint32_t input, tensor *t)
{
    onnx_value_set(g, g->inputs[input].value, t);
    g->input_count--;
    memmove(&g->inputs[input], &g->inputs[input + 1], (g->input_count - input) * sizeof *g->inputs);
}

bool onnx_input_shape(const onnx_input *input, tensor *t)
{
    return tensor_shape(t, input->type, input->rank, input->dims);
}

bool onnx_output_contradicts(const onnx_graph *g, uint32_t output)
{
    const onnx_value *v = &g->values[g->outputs[output]];
    const tensor *declared = &g->declared[output];
    bool same = v->tensor.rank == declared->rank;
    for (uint32_t i = 0; same && i < declared->rank; i++)
        same = declared->dims[i] < 0 || declared->dims[i] == v->tensor.dims[i];
    return v->shaped && declared->type && !same;
}

void onnx_graph_set_dim(onnx_graph *g, uint32_t input, uint32_t dim, int64_t size)
{
    onnx_input *in = &g->inputs[input];
    onnx_value *v = &g->values[in->value];
    in->dims[dim] = size;
    v->shaped = onnx_input_shape(in, &v->tensor);
}

const onnx_attribute *onnx_find_attribute(const onnx_node *node, const char *name)
{
    for (uint32_t i = 0; i < node->attribute_count; i++)
        if (!strcmp(node->attributes[i].name, name))
            return &node->attributes[i];
    return NULL;
}

int64_t onnx_int(const onnx_node *node, const char *name, int64_t otherwise)
{
    const onnx_attribute *a = onnx_find_attribute(node, name);
    return a && a->ints && a->count ? a->ints[0] : otherwise;
}

float onnx_float(const onnx_node *node, const char *name, float otherwise)
{
    const onnx_attribute *a = onnx_find_attribute(node, name);
    return a && a->floats && a->count ? a->floats[0] : otherwise;
}

const char *onnx_string(const onnx_node *node, const char *name, const char *otherwise)
{
    const onnx_attribute *a = onnx_find_attribute(node, name);
    return a && a->text ? a->text : otherwise;
}

int onnx_word(const onnx_node *node, const char *name, const char *const *words, int count)
{
    const char *text = onnx_string(node, name, words[0]);
    int i = 0;
    while (i < count && strcmp(text, words[i]))
        i++;
    return i < count ? i : -1;
}

bool onnx_numbers(const onnx_attribute *a, bool list, tensor *t)
{
    const int64_t dim = (int64_t)a->count;
    if (!tensor_make(t, a->ints ? ELEMENT_INT64 : ELEMENT_FLOAT32, list, &dim))
        return false;
    memcpy(t->data, a->ints ? (const void *)a->ints : a->floats, tensor_bytes(t));
    return true;
}

bool onnx_node_fail(const onnx_node *node, format_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_fail_node(error, node->name, node->op_type, format, arguments);
    va_end(arguments);
    return false;
}
