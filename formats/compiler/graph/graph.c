// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/graph/kinds.h"

#include <stdlib.h>
#include <string.h>

void graph_free(graph *g)
{
    blocks_free(&g->memory);
    free(g->nodes);
    free(g->values);
    fusion_log_free(&g->log);
    *g = (graph){0};
}

static void *copied(const void *items, size_t count, size_t size)
{
    void *copy = malloc(count ? count * size : 1);
    return copy && count ? memcpy(copy, items, count * size) : copy;
}

bool graph_copy(graph *copy, const graph *g)
{
    *copy = *g;
    copy->memory = (blocks){0};
    copy->nodes = copied(g->nodes, g->node_count, sizeof *g->nodes);
    copy->values = copied(g->values, g->value_count, sizeof *g->values);
    copy->node_room = g->node_count;
    copy->value_room = g->value_count;
    const bool ok = fusion_log_copy(&copy->log, &g->log) && copy->nodes && copy->values;
    if (!ok)
        graph_free(copy);
    return ok;
}

void graph_log(graph *g, fusion_rule rule, const graph_node *node, const char *why_not)
{
    fusion_log_add(&g->log, &(fusion_event){rule, node->name, node->op_type, why_not, NULL, 0});
}

bool graph_log_named(graph *g, fusion_rule rule, const char *name, const char *op_type,
                     const char *why_not)
{
    const graph_node node = {.name = graph_strdup(g, name), .op_type = graph_strdup(g, op_type)};
    if (node.name && node.op_type)
        graph_log(g, rule, &node, why_not);
    return node.name && node.op_type;
}

bool graph_warn(graph *g, const char *name, const char *op_type, const char *format,
                va_list arguments)
{
    format_error warning = {0};
    const uint32_t at = g->warning_count++;
    format_fail_node(&warning, name, op_type, format, arguments);
    if (at < GRAPH_MAX_WARNINGS)
        g->warnings[at] = graph_strdup(g, warning.text);
    return at >= GRAPH_MAX_WARNINGS || g->warnings[at];
}

void *graph_alloc(graph *g, size_t count, size_t size)
{
    return blocks_alloc(&g->memory, count, size);
}

float *graph_fill(graph *g, size_t count, float value)
{
    float *numbers = graph_alloc(g, count, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = value;
    return numbers;
}

const char *graph_strdup(graph *g, const char *text)
{
    return blocks_strdup(&g->memory, text);
}

static bool grow(graph *g, void **items, size_t *room, size_t count, size_t item_bytes)
{
    const bool grown = list_grow(items, room, count, item_bytes);
    g->memory.refused = g->memory.refused || !grown;
    return grown;
}

uint32_t graph_add_value(graph *g, const char *name)
{
    const char *copy = graph_strdup(g, name);
    if (!copy || g->value_count >= 16 * GRAPH_MAX_NODES ||
        !grow(g, (void **)&g->values, &g->value_room, g->value_count, sizeof *g->values))
        return UINT32_MAX;
    g->values[g->value_count] = (graph_value){.name = copy,
                                              .place = UINT32_MAX,
                                              .source = UINT32_MAX,
                                              .joined = g->value_count,
                                              .alike = UINT32_MAX,
                                              .low = 1,
                                              .high = -1};
    return g->value_count++;
}

void graph_set_dims(graph *g, uint32_t value, uint32_t channels, uint32_t height, uint32_t width)
{
    graph_value *v = &g->values[value];
    v->channels = channels;
    v->height = height;
    v->width = width;
}

uint32_t graph_add_array(graph *g, const char *name, mona_type type, size_t count)
{
    const uint32_t value = graph_add_value(g, name);
    if (value == UINT32_MAX || count > MONA_ARRAY_MAX_ELEMENTS)
        return UINT32_MAX;
    graph_value *v = &g->values[value];
    v->is_array = true;
    v->type = type;
    v->count = count;
    graph_set_dims(g, value, 1, 1, (uint32_t)count);
    return value;
}

graph_node *graph_add_node(graph *g)
{
    if (g->node_count >= GRAPH_MAX_NODES ||
        !grow(g, (void **)&g->nodes, &g->node_room, g->node_count, sizeof *g->nodes))
        return NULL;
    graph_node *node = &g->nodes[g->node_count++];
    memset(node, 0, sizeof *node);
    return node;
}

/* Counts what node i reads, or no longer does. */
static void count_inputs(graph *g, uint32_t i, uint32_t more)
{
    for (uint32_t k = 0; k < g->nodes[i].input_count; k++)
        g->values[g->nodes[i].inputs[k]].uses += more;
}

void graph_count_uses(graph *g)
{
    for (uint32_t i = 0; i < g->value_count; i++)
        g->values[i].uses = 0;
    for (uint32_t i = 0; i < g->output_count; i++)
        g->values[g->outputs[i]].uses++;
    for (uint32_t i = 0; i < g->node_count; i++)
        count_inputs(g, i, 1);
}

static const graph_node gone = {.kind = GRAPH_GONE, .output = UINT32_MAX};

static void put_node(graph *g, uint32_t i, graph_node node)
{
    g->nodes[i] = node;
    g->values[node.output].place = i;
}

uint32_t graph_insert_node(graph *g, uint32_t i, graph_node node, uint32_t x)
{
    const graph_value like = g->values[x];
    node.inputs[0] = x;
    node.output = graph_add_value(g, like.name);
    uint32_t room = i;
    while (room < g->node_count && !graph_is_gone(&g->nodes[room]))
        room++;
    if (node.output == UINT32_MAX || (room == g->node_count && !graph_add_node(g)))
        return UINT32_MAX;
    for (; room > i; room--)
        put_node(g, room, g->nodes[room - 1]);
    put_node(g, i, node);
    count_inputs(g, i, 1);
    graph_set_dims(g, node.output, like.channels, like.height, like.width);
    return node.output;
}

void graph_replace_node(graph *g, uint32_t i, graph_node node)
{
    count_inputs(g, i, UINT32_MAX);
    put_node(g, i, node);
    count_inputs(g, i, 1);
}

void graph_set_result(graph *g, uint32_t i, uint32_t value)
{
    g->nodes[i].output = value;
    g->values[value].place = i;
}

void graph_set_input(graph *g, uint32_t i, uint32_t input, uint32_t value)
{
    g->values[g->nodes[i].inputs[input]].uses--;
    g->values[value].uses++;
    g->nodes[i].inputs[input] = value;
}

void graph_set_output(graph *g, uint32_t output, uint32_t value)
{
    g->values[g->outputs[output]].uses--;
    g->values[value].uses++;
    g->outputs[output] = value;
}

void graph_remove_node(graph *g, uint32_t i)
{
    count_inputs(g, i, UINT32_MAX);
    g->nodes[i] = gone;
}

bool graph_spread(graph *g)
{
    const uint32_t count = g->node_count;
    graph_node *nodes = malloc((2 * (size_t)count + 1) * sizeof *nodes);
    if (!nodes)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        nodes[2 * i] = g->nodes[i];
        nodes[2 * i + 1] = gone;
        g->values[g->nodes[i].output].place = 2 * i;
    }
    free(g->nodes);
    g->nodes = nodes;
    g->node_count = 2 * count;
    g->node_room = 2 * (size_t)count + 1;
    return true;
}

bool graph_sweep(graph *g)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (!graph_is_gone(&g->nodes[i]))
            put_node(g, count++, g->nodes[i]);
    }
    g->node_count = count;
    return count <= GRAPH_MAX_NODES;
}

uint32_t graph_producer(const graph *g, uint32_t value)
{
    const graph_value *v = &g->values[value];
    const bool computed =
        !v->data && !v->elements && v->place < g->node_count && g->nodes[v->place].output == value;
    return computed ? v->place : UINT32_MAX;
}

static bool contains(const uint32_t *list, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == value)
            return true;
    return false;
}

bool graph_is_input(const graph *g, uint32_t value)
{
    return contains(g->inputs, g->input_count, value);
}

bool graph_is_output(const graph *g, uint32_t value)
{
    return contains(g->outputs, g->output_count, value);
}

bool graph_is_prequantised(const graph *g, uint32_t value)
{
    const graph_value *v = &g->values[value];
    return v->prequantised.scale > 0 && v->prequantised.type != MONA_F16 && !v->half;
}

bool graph_is_loaded(const graph *g, uint32_t value)
{
    const uint32_t p = graph_producer(g, value);
    const graph_node *node = p == UINT32_MAX ? NULL : &g->nodes[p];
    if (!node || kind_of(node)->packs != PACKS_BLOCKS)
        return graph_is_input(g, value);
    return graph_is_input(g, node->inputs[0]) && !node->depth.depth_first &&
           node->depth.block <= GRAPH_MAX_BLOCK;
}

bool graph_packs(const graph *g, const graph_node *node)
{
    const kind_packs packs = kind_of(node)->packs;
    bool loaded = packs == PACKS_PARTS;
    for (uint32_t i = 0; loaded && i < node->input_count; i++)
        loaded = graph_is_loaded(g, node->inputs[i]);
    return packs == PACKS_BLOCKS ? graph_is_loaded(g, node->output) : loaded;
}

bool graph_are_blocks(uint32_t first, uint32_t count, uint32_t all)
{
    enum { BLOCK = 16 };
    return first % BLOCK == 0 && (count % BLOCK == 0 || first + count == all);
}

/* What reads a value comes after what computes it. */
static uint32_t first_reader(const graph *g, uint32_t value)
{
    for (uint32_t i = graph_producer(g, value) + 1; i < g->node_count; i++)
        if (contains(g->nodes[i].inputs, g->nodes[i].input_count, value))
            return i;
    return UINT32_MAX;
}

void graph_read_instead(graph *g, uint32_t value, uint32_t other)
{
    for (uint32_t i = first_reader(g, value); g->values[value].uses && i < g->node_count; i++)
        for (uint32_t k = 0; k < g->nodes[i].input_count; k++)
            if (g->nodes[i].inputs[k] == value)
                graph_set_input(g, i, k, other);
}

uint32_t graph_only_reader(const graph *g, uint32_t value)
{
    const bool one = g->values[value].uses == 1 && !graph_is_output(g, value);
    return one ? first_reader(g, value) : UINT32_MAX;
}

uint32_t graph_private_producer(const graph *g, uint32_t i, uint32_t input)
{
    const uint32_t value = g->nodes[i].inputs[input];
    return g->values[value].uses == 1 ? graph_producer(g, value) : UINT32_MAX;
}

bool graph_is_plain_conv(const graph_node *node)
{
    return kind_has_filter(node) && node->input_count == 1 && !node->activation.kind &&
           !node->after_add.kind;
}

size_t graph_window_area(const graph_window *w)
{
    return (size_t)w->kernel[0] * w->kernel[1];
}

int64_t graph_window_extent(const graph_window *w, int axis)
{
    return (int64_t)(w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

uint32_t graph_window_outputs(const graph_window *w, int axis, uint32_t in, bool round_up)
{
    const int64_t stride = w->stride[axis], before = (int64_t)in + w->pad_begin[axis];
    const int64_t room = before + w->pad_end[axis] - graph_window_extent(w, axis);
    if (room < 0)
        return 0;
    const int64_t last = (room + (round_up ? stride - 1 : 0)) / stride;
    return (uint32_t)(round_up && last * stride >= before ? last : last + 1);
}

static const graph_window pixel_window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};

void graph_become_channel_conv(graph_node *node, uint32_t channels, float *weights, float *bias)
{
    node->kind = GRAPH_CONV;
    node->conv = (graph_conv){
        .window = pixel_window,
        .groups = channels,
        .weights = weights,
        .bias = bias,
    };
}

bool graph_become_copy(graph *g, graph_node *node)
{
    const uint32_t channels = g->values[node->output].channels;
    float *weights = graph_fill(g, channels, 1), *bias = graph_fill(g, channels, 0);
    graph_become_channel_conv(node, channels, weights, bias);
    return weights && bias;
}

bool graph_become_shuffle(graph *g, graph_node *node, uint32_t inputs, uint32_t outputs,
                          const uint32_t *from)
{
    node->kind = GRAPH_CONV;
    node->conv = (graph_conv){
        .window = pixel_window,
        .groups = 1,
        .weights = graph_alloc(g, (size_t)outputs * inputs, sizeof(float)),
        .bias = graph_fill(g, outputs, 0),
        .weight_scales = graph_fill(g, outputs, 1),
    };
    for (uint32_t o = 0; node->conv.weights && o < outputs; o++)
        node->conv.weights[(size_t)o * inputs + from[o]] = 1;
    return node->conv.weights && node->conv.bias && node->conv.weight_scales;
}

bool graph_fail(const graph_node *node, format_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    format_fail_node(error, node->name, node->op_type, format, arguments);
    va_end(arguments);
    return false;
}
