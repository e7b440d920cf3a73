// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/onnx/onnx_graph.h"

/* A constant with a number for each channel, which is the second axis, or one for all. */
static uint32_t add_numbers(onnx_graph *g, const onnx_input *input, const float *numbers,
                            uint32_t count)
{
    int64_t dims[TENSOR_MAX_RANK] = {count};
    const uint32_t value = onnx_graph_add_value(g, "");
    tensor t;
    for (uint32_t i = 1; i < TENSOR_MAX_RANK; i++)
        dims[i] = 1;
    if (value == ONNX_NONE || !tensor_make(&t, input->type, count > 1 ? input->rank - 1 : 0, dims))
        return ONNX_NONE;
    for (uint32_t i = 0; i < count; i++)
        tensor_set_number(&t, i, (double)numbers[i]);
    onnx_value_set(g, value, &t);
    return value;
}

/* Room for two more nodes, before all others. */
static bool make_room(onnx_graph *g)
{
    const size_t count = g->node_count + g->removed_count;
    onnx_node *nodes = calloc(count + 2, sizeof *nodes);
    if (!nodes)
        return false;
    memcpy(nodes + 2, g->nodes, count * sizeof *nodes);
    free(g->nodes);
    g->nodes = nodes;
    g->node_count += 2;
    return true;
}

/* Of what is made of an input; it differs from input to input, as names of values do. */
static const char *name_of(onnx_graph *g, const onnx_input *input, const char *after)
{
    const char *name = g->values[input->value].name;
    const size_t size = strlen(name) + strlen(after) + 1;
    char *text = blocks_alloc(&g->memory, size, 1);
    if (text)
        snprintf(text, size, "%s%s", name, after);
    return text;
}

/* Node x op y. Its result; ONNX_NONE: out of memory. */
static uint32_t set_node(onnx_graph *g, uint32_t node, const char *op_type, uint32_t x, uint32_t y,
                         const char *name)
{
    const uint32_t result = onnx_graph_add_value(g, name);
    uint32_t *values = blocks_alloc(&g->memory, 3, sizeof *values);
    if (!values || y == ONNX_NONE)
        return ONNX_NONE;
    values[0] = x;
    values[1] = y;
    values[2] = result;
    g->nodes[node] = (onnx_node){.name = name,
                                 .op_type = op_type,
                                 .inputs = values,
                                 .input_count = 2,
                                 .outputs = values + 2,
                                 .output_count = 1};
    return result;
}

static void read_instead(onnx_graph *g, uint32_t value, uint32_t other)
{
    for (uint32_t i = 2; i < g->node_count; i++)
        for (uint32_t k = 0; k < g->nodes[i].input_count; k++)
            if (g->nodes[i].inputs[k] == value)
                g->nodes[i].inputs[k] = other;
    for (uint32_t i = 0; i < g->output_count; i++)
        if (g->outputs[i] == value)
            g->outputs[i] = other;
}

bool onnx_graph_normalise(onnx_graph *g, uint32_t input, const float *mean, const float *deviation,
                          uint32_t count)
{
    const onnx_input *in = &g->inputs[input];
    if (!make_room(g))
        return false;
    const uint32_t means = add_numbers(g, in, mean, count),
                   deviations = add_numbers(g, in, deviation, count);
    const char *middle = name_of(g, in, " (centred)"), *end = name_of(g, in, " (normalised)");
    if (!middle || !end)
        return false;
    const uint32_t centred = set_node(g, 0, "Sub", in->value, means, middle);
    const uint32_t normal = set_node(g, 1, "Div", centred, deviations, end);
    if (normal == ONNX_NONE)
        return false;
    read_instead(g, in->value, normal);
    return true;
}
