// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/lower/lower.h"

#include <math.h>
#include <stdlib.h>

#include "formats/half.h"
#include "formats/compiler/lower/lowering.h"

/* ---- planes in ---------------------------------------------------------------------------- */

/* Adds a value to a LOAD: an input, or space-to-depth of one. */
static void load_part(lowering *l, uint32_t value, bool half, mona_file_op *op)
{
    const uint32_t p = graph_producer(l->g, value);
    const graph_node *depth = p == UINT32_MAX ? NULL : &l->g->nodes[p];
    uint32_t block = 1;
    if (depth && depth->kind == GRAPH_SPACE_TO_DEPTH) {
        block = depth->depth.block;
        value = depth->inputs[0];
        graph_log(l->g, FUSION_LOAD, depth, NULL);
    }
    for (uint32_t i = 0; i < l->g->input_count; i++)
        if (l->g->inputs[i] == value)
            op->inputs[op->input_count] = i;
    const value_format planes = quantize_input(l->g, l->options, value);
    op->load.block[op->input_count] = (uint8_t)block;
    op->load.scale[op->input_count++] = half ? half_from_double((double)planes.scale) : HALF_ONE;
}

/* node: the CONCAT or SPACE_TO_DEPTH that packs the planes; NULL for a plain input. */
static void lower_load(lowering *l, const graph_node *node, uint32_t value)
{
    mona_file_op op = lower_begin(l, MONA_OP_LOAD, node ? node->name : l->g->values[value].name);
    const bool half = format_is_half(l->formats[value]);
    if (node && node->kind == GRAPH_CONCAT) {
        graph_log(l->g, FUSION_LOAD, node, NULL);
        for (uint32_t i = 0; i < node->input_count; i++)
            load_part(l, node->inputs[i], half, &op);
    } else {
        load_part(l, value, half, &op);
    }
    lower_end(l, &op, value);
}

/* ---- planes out --------------------------------------------------------------------------- */

/* The part of a tensor that a STORE reads. On the way back from an output, depth-to-space may occur
 * once; slices before it select planes, slices after it channels. */
typedef struct stored {
    uint32_t value, first, block;
} stored;

/* Why a node on the way does not become part of the STORE; NULL: it does. Slices must, and so must
 * everything after them. */
static const char *not_stored(const graph *g, const graph_node *node, const stored *s)
{
    const uint32_t p = graph_producer(g, node->inputs[0]);
    if (node->kind == GRAPH_SLICE)
        return NULL;
    if (node->depth.depth_first)
        return "a store rearranges no depth-first order";
    if (s->block != 1 || node->depth.block > MAX_BLOCK)
        return "the blocks are larger than a store can rearrange";
    const bool sliced = p != UINT32_MAX && g->nodes[p].kind == GRAPH_SLICE;
    return g->fusion.off[FUSION_DEPTH_STORE] && !sliced && node->depth.block > 1 ? FUSION_IS_OFF
                                                                                 : NULL;
}

/* log: whether the nodes on the way are recorded. */
static stored find_stored(graph *g, uint32_t output, bool log)
{
    stored s = {output, 0, 1};
    for (;;) {
        const uint32_t p = graph_producer(g, s.value);
        const graph_node *node = p == UINT32_MAX ? NULL : &g->nodes[p];
        if (!node || (node->kind != GRAPH_SLICE && node->kind != GRAPH_DEPTH_TO_SPACE))
            return s;
        const bool slice = node->kind == GRAPH_SLICE;
        const fusion_rule rule = slice ? FUSION_SLICE_STORE : FUSION_DEPTH_STORE;
        const char *why_not = not_stored(g, node, &s);
        if (log)
            graph_log(g, rule, node, why_not);
        if (why_not)
            return s;
        s.block *= slice ? 1 : node->depth.block;
        s.first = slice ? s.first + node->slice.first : s.first * s.block * s.block;
        s.value = node->inputs[0];
    }
}

/* Stores a value to `tensor`: to the planes of an output, or to an array. */
static void lower_store(lowering *l, uint32_t value, value_format planes, uint32_t tensor)
{
    const stored s = find_stored(l->g, value, true);
    mona_file_op op = lower_begin(l, MONA_OP_STORE, l->g->values[value].name);
    const bool converts = format_is_half(l->formats[s.value]) && planes.type != MONA_F16;
    op.input_count = 1;
    op.inputs[0] = l->tensors[s.value];
    op.output = tensor;
    op.store = (mona_file_store){
        .first_channel = s.first,
        .block = s.block,
        .scale = converts ? half_from_double(1 / (double)planes.scale) : HALF_ONE,
        .maximum = planes.type == MONA_U8 || planes.type == MONA_U16
                       ? quantize_maximum(l->options, planes.type)
                       : 0,
    };
    mona_writer_op(&l->w, &op);
}

/* ---- arrays ------------------------------------------------------------------------------- */

/* The tensor of an array that a node computes: an output of the model, or a new one. */
static uint32_t array_tensor(lowering *l, uint32_t value)
{
    for (uint32_t i = 0; i < l->g->output_count; i++)
        if (l->g->outputs[i] == value)
            return l->g->input_count + i;
    return l->tensors[value] = lower_array_tensor(l, value);
}

static void lower_to_map(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_LOAD, node);
    op.load.block[0] = 1;
    op.load.scale[0] = HALF_ONE;
    lower_end(l, &op, node->output);
}

static bool lower_form(lowering *l, const graph_node *node)
{
    if (node->kind == GRAPH_TO_MAP)
        lower_to_map(l, node);
    else if (node->kind == GRAPH_TO_ARRAY)
        lower_store(l, node->inputs[0], (value_format){MONA_F16, 1, 0},
                    array_tensor(l, node->output));
    else
        lower_array(l, node, array_tensor(l, node->output));
    return true;
}

/* ---- resampling and rearrangement --------------------------------------------------------- */

static bool lower_resize(lowering *l, const graph_node *node)
{
    const graph_resize *r = &node->resize;
    mona_file_op op = lower_begin_node(l, MONA_OP_RESIZE, node);
    op.resize = (mona_file_resize){
        .mode = (uint8_t)r->mode,
        .coordinates = (uint8_t)r->coordinates,
        .scale_h = {r->ratio[0][0], r->ratio[0][1]},
        .scale_w = {r->ratio[1][0], r->ratio[1][1]},
        .cubic_a = r->cubic_a,
    };
    double offset[2];
    if (!graph_resize_offsets(r, l->options->resize_offset, offset))
        return graph_fail(
            node, l->error,
            "samples at an offset of %g and %g; supported: -1 to 1, and align_corners with "
            "round_prefer_floor alone",
            offset[0], offset[1]);
    op.resize.offset_h = (float)offset[0];
    op.resize.offset_w = (float)offset[1];
    lower_end(l, &op, node->output);
    return true;
}

/* Of open size, as arrays do it otherwise. */
static bool refuse_blocks(lowering *l, const graph_node *node)
{
    return graph_fail(node, l->error,
                      "rearranges %u channels by blocks of %u, for which the engine needs a fixed "
                      "size: give open sizes a number (--size WxH, --dim NAME=N)",
                      l->g->values[node->inputs[0]].channels, node->depth.block);
}

static bool lower_depth(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_DEPTH_TO_SPACE, node);
    if (node->depth.depth_first || node->depth.block > MAX_BLOCK)
        return refuse_blocks(l, node);
    op.block = node->depth.block;
    lower_end(l, &op, node->output);
    return true;
}

/* A MaxPool keeps its input's scale; a mean gets one of its own. */
static void lower_pool(lowering *l, const graph_node *node)
{
    const bool largest = node->kind == GRAPH_MAX_POOL;
    const graph_pool *p = &node->pool;
    const graph_window *w = &p->window;
    const double in = (double)l->formats[node->inputs[0]].scale;
    mona_file_op op = lower_begin_node(l, largest ? MONA_OP_MAX_POOL : MONA_OP_AVERAGE_POOL, node);
    op.pool = (mona_file_pool){.stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1};
    if (!p->whole)
        op.pool = (mona_file_pool){
            .kernel_h = (uint16_t)w->kernel[0],
            .kernel_w = (uint16_t)w->kernel[1],
            .stride_h = (uint16_t)w->stride[0],
            .stride_w = (uint16_t)w->stride[1],
            .dilation_h = (uint16_t)w->dilation[0],
            .dilation_w = (uint16_t)w->dilation[1],
            .pad_top = (uint16_t)w->pad_begin[0],
            .pad_left = (uint16_t)w->pad_begin[1],
            .pad_bottom = (uint16_t)w->pad_end[0],
            .pad_right = (uint16_t)w->pad_end[1],
            .ceil_mode = p->round_up,
            .count_include_pad = p->include_pad,
        };
    /* Beyond these factors, which the engine takes, every result is 0 or saturated. */
    const double scale = in / (double)l->formats[node->output].scale;
    op.pool.scale = largest ? 1 : (float)fmax(0x1p-30, fmin(scale, 0x1p30));
    lower_end(l, &op, node->output);
}

/* In stored values: (x - mean) / sqrt(variance + epsilon) does not depend on the unit in which x and
 * the square root of epsilon are given. */
static bool lower_normalise(lowering *l, const graph_node *node)
{
    const uint32_t channels = l->g->values[node->output].channels;
    const double in = (double)l->formats[node->inputs[0]].scale;
    const float out = l->formats[node->output].scale;
    mona_file_op op = lower_begin_node(l, MONA_OP_NORMALISE, node);
    float *numbers = malloc(2 * channels * sizeof *numbers);
    if (!numbers)
        return format_fail(l->error, "out of memory");
    for (uint32_t c = 0; c < channels; c++) {
        numbers[c] = node->normalise.gain[c] / out;
        numbers[channels + c] = node->normalise.shift[c] / out;
    }
    op.normalise.epsilon = (float)((double)node->normalise.epsilon / (in * in));
    op.normalise.gain = mona_writer_data(&l->w, numbers, channels * sizeof *numbers);
    op.normalise.shift = mona_writer_data(&l->w, numbers + channels, channels * sizeof *numbers);
    free(numbers);
    lower_end(l, &op, node->output);
    return true;
}

static void lower_attention(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_ATTENTION, node);
    double scale[3];
    for (uint32_t i = 0; i < 3; i++)
        scale[i] = (double)l->formats[node->inputs[i]].scale;
    op.attention.heads = node->attention.heads;
    op.attention.scale = (float)((double)node->attention.scale * scale[0] * scale[1]);
    op.attention.value_scale = (float)(scale[2] / (double)l->formats[node->output].scale);
    lower_end(l, &op, node->output);
}

/* ---- the graph ---------------------------------------------------------------------------- */

void lower_mark_needed(graph *g, bool *needed)
{
    for (uint32_t i = 0; i < g->output_count; i++)
        needed[find_stored(g, g->outputs[i], false).value] = true;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const graph_node *node = &g->nodes[i];
        const bool packs = graph_packs(g, node);
        if (node->kind == GRAPH_TO_ARRAY && needed[node->output]) {
            needed[find_stored(g, node->inputs[0], false).value] = true;
            continue;
        }
        for (uint32_t k = 0; k < node->input_count && needed[node->output] && !packs; k++)
            needed[node->inputs[k]] = true;
    }
}

static bool lower_node(lowering *l, const graph_node *node)
{
    switch (node->kind) {
    case GRAPH_CONV:
        return lower_conv(l, node);
    case GRAPH_ADD:
    case GRAPH_MUL:
        return lower_elementwise(l, node);
    case GRAPH_CONCAT:
    case GRAPH_SLICE:
        if (graph_packs(l->g, node))
            lower_load(l, node, node->output);
        else
            lower_channels(l, node);
        return true;
    case GRAPH_SPACE_TO_DEPTH:
        if (!graph_packs(l->g, node))
            return refuse_blocks(l, node);
        lower_load(l, node, node->output);
        return true;
    case GRAPH_DEPTH_TO_SPACE:
        return lower_depth(l, node);
    case GRAPH_RESIZE:
        return lower_resize(l, node);
    case GRAPH_MAX_POOL:
    case GRAPH_AVERAGE_POOL:
        lower_pool(l, node);
        return true;
    case GRAPH_NORMALISE:
        return lower_normalise(l, node);
    case GRAPH_ATTENTION:
        lower_attention(l, node);
        return true;
    case GRAPH_ARRAY:
    case GRAPH_TO_ARRAY:
    case GRAPH_TO_MAP:
        return lower_form(l, node);
    case GRAPH_AFFINE:
    case GRAPH_QUANTIZE:
    case GRAPH_ACTIVATION:
    case GRAPH_RESHAPE:
    case GRAPH_TRANSPOSE:
        break; /* removed by the passes */
    }
    return graph_fail(node, l->error, "has no lowering");
}

static void add_plane_tensor(lowering *l, uint32_t value, value_format format, bool sized)
{
    const graph_value *v = &l->g->values[value];
    if (v->is_array) {
        l->tensors[value] = lower_array_tensor(l, value);
        return;
    }
    const mona_file_tensor t = {
        .name = mona_writer_string(&l->w, v->name),
        .type = (uint8_t)format.type,
        .channels = v->channels,
        .height = sized ? v->height : 0,
        .width = sized ? v->width : 0,
        .scale = format.scale,
    };
    mona_writer_tensor(&l->w, &t);
}

/* ---- what quantised models became --------------------------------------------------------- */

/* Whether the node only rounds, which is logged already. */
static bool only_rounds(const graph_node *node)
{
    return node->kind == GRAPH_CONV && node->input_count == 1 && node->conv.weight_scales &&
           node->conv.weight_scales == node->conv.weights && !node->activation.kind;
}

static bool log_prequantised(lowering *l, const char *name, const char *op_type,
                             const char *outcome, unsigned steps)
{
    const char *kept = graph_strdup(l->g, outcome);
    if (!kept)
        return format_fail(l->error, "out of memory");
    fusion_log_add(&l->g->log, &(fusion_event){FUSION_QUANTISED, name, op_type, NULL, kept, steps});
    return true;
}

/* Logs inputs, and nodes that compute values with the model's own scales. */
static bool log_quantised(lowering *l, const bool *needed)
{
    const graph *g = l->g;
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->input_count; i++)
        if (graph_is_prequantised(g, g->inputs[i]))
            ok = log_prequantised(l, g->values[g->inputs[i]].name, "input", EXACTNESS_EXACT, 0);
    for (uint32_t i = 0; ok && i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        char text[160];
        if (!needed[node->output] || !graph_is_prequantised(g, node->output) || only_rounds(node))
            continue;
        const unsigned steps = exactness_text(g, node, l->formats, text, sizeof text);
        ok = log_prequantised(l, node->name, node->op_type, text, steps);
    }
    return ok;
}

/* Nodes on arrays that no map depends on come last: on the chip a group of maps ends before arrays,
 * and what is left of it could not begin another. */
static void mark_last(const graph *g, bool *last)
{
    for (uint32_t i = 0; i < g->value_count; i++)
        last[i] = true;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const graph_node *node = &g->nodes[i];
        last[node->output] &= node->kind == GRAPH_ARRAY;
        for (uint32_t k = 0; k < node->input_count && !last[node->output]; k++)
            last[node->inputs[k]] = false;
    }
}

static bool lower_nodes(lowering *l, const bool *needed, const bool *last, bool those)
{
    bool ok = true;
    for (uint32_t i = 0; i < l->g->node_count && ok; i++) {
        const graph_node *node = &l->g->nodes[i];
        ok = !needed[node->output] || last[node->output] != those || lower_node(l, node);
    }
    return ok;
}

static bool lower_all(lowering *l, bool *needed, bool *last, value_format *planes)
{
    graph *g = l->g;
    for (uint32_t i = 0; i < g->input_count; i++)
        add_plane_tensor(l, g->inputs[i], quantize_input(g, l->options, g->inputs[i]),
                         !l->options->any_size);
    for (uint32_t i = 0; i < g->output_count; i++) {
        if (!g->values[g->outputs[i]].is_array &&
            !quantize_output(g, l->options, l->formats, i, &planes[i], l->error))
            return false;
        add_plane_tensor(l, g->outputs[i], planes[i], false);
    }
    lower_mark_needed(g, needed);
    for (uint32_t i = 0; i < g->input_count; i++)
        if (needed[g->inputs[i]] && !g->values[g->inputs[i]].is_array)
            lower_load(l, NULL, g->inputs[i]);
    mark_last(g, last);
    if (!lower_nodes(l, needed, last, false))
        return false;
    for (uint32_t i = 0; i < g->output_count; i++)
        if (!g->values[g->outputs[i]].is_array)
            lower_store(l, g->outputs[i], planes[i], g->input_count + i);
    return lower_nodes(l, needed, last, true);
}

bool lower_graph(graph *g, const compiler_options *options, uint8_t **bytes, size_t *size,
                 format_error *error)
{
    value_format planes[MONA_MAX_IO];
    value_format *formats = calloc(g->value_count, sizeof *formats);
    uint32_t *tensors = calloc(g->value_count, sizeof *tensors);
    bool *needed = calloc(g->value_count, sizeof *needed);
    bool *last = calloc(g->value_count, sizeof *last);
    lowering l = {
        .g = g, .options = options, .formats = formats, .tensors = tensors, .error = error};
    bool ok = formats && tensors && needed && last ? true : format_fail(error, "out of memory");
    if (options->like)
        mona_writer_start_from(&l.w, options->like);
    ok = ok && quantize_values(g, options, formats, error) && lower_all(&l, needed, last, planes) &&
         log_quantised(&l, needed) &&
         mona_writer_finish(&l.w, options->name ? options->name : g->name, g->input_count,
                            g->output_count, bytes, size, error);
    mona_writer_free(&l.w);
    free(formats);
    free(tensors);
    free(needed);
    free(last);
    return ok;
}
