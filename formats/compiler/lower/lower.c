// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/lower/lower.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mona_op.h"

#include "formats/element.h"
#include "formats/compiler/lower/lowering.h"

/* ---- planes in ---------------------------------------------------------------------------- */

/* Adds a value to a LOAD: an input, or space-to-depth of one. */
static void load_part(lowering *l, uint32_t value, bool half, mona_file_op *op)
{
    const uint32_t p = graph_producer(l->g, value);
    const graph_node *depth = p == UINT32_MAX ? NULL : &l->g->nodes[p];
    uint32_t block = 1;
    if (depth && kind_of(depth)->packs == PACKS_BLOCKS) {
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

bool lower_load(lowering *l, const graph_node *node, uint32_t value)
{
    mona_file_op op = lower_begin(l, MONA_OP_LOAD, node ? node->name : l->g->values[value].name);
    const bool half = format_is_half(l->formats[value]);
    if (node && kind_of(node)->packs == PACKS_PARTS) {
        graph_log(l->g, FUSION_LOAD, node, NULL);
        for (uint32_t i = 0; i < node->input_count; i++)
            load_part(l, node->inputs[i], half, &op);
    } else {
        load_part(l, value, half, &op);
    }
    return lower_end(l, &op, value);
}

/* ---- planes out --------------------------------------------------------------------------- */

/* Slices must become part of a STORE, and so must everything after them. */
const char *store_slice(const graph *g, const graph_node *node, stored *s, fusion_rule *rule)
{
    (void)g;
    *rule = FUSION_SLICE_STORE;
    s->first += node->slice.first;
    return NULL;
}

const char *store_depth(const graph *g, const graph_node *node, stored *s, fusion_rule *rule)
{
    const uint32_t p = graph_producer(g, node->inputs[0]), block = node->depth.block;
    *rule = FUSION_DEPTH_STORE;
    if (node->depth.depth_first)
        return "a store rearranges no depth-first order";
    if (s->block != 1 || block > MAX_BLOCK)
        return "the blocks are larger than a store can rearrange";
    const bool sliced = p != UINT32_MAX && kind_of(&g->nodes[p])->store == store_slice;
    if (g->fusion.off[FUSION_DEPTH_STORE] && !sliced && block > 1)
        return FUSION_IS_OFF;
    s->block = block;
    s->first *= block * block;
    return NULL;
}

/* log: whether the nodes on the way are recorded. */
static stored find_stored(graph *g, uint32_t output, bool log)
{
    stored s = {output, 0, 1};
    for (;;) {
        const uint32_t p = graph_producer(g, s.value);
        const graph_node *node = p == UINT32_MAX ? NULL : &g->nodes[p];
        fusion_rule rule;
        if (!node || !kind_of(node)->store)
            return s;
        const char *why_not = kind_of(node)->store(g, node, &s, &rule);
        if (log)
            graph_log(g, rule, node, why_not);
        if (why_not)
            return s;
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

uint32_t lower_result(lowering *l, uint32_t value)
{
    for (uint32_t i = 0; i < l->g->output_count; i++)
        if (l->g->outputs[i] == value)
            return l->g->input_count + i;
    return l->tensors[value] = lower_array_tensor(l, value);
}

bool lower_to_map(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_LOAD, node);
    op.load.block[0] = 1;
    op.load.scale[0] = HALF_ONE;
    return lower_end(l, &op, node->output);
}

bool lower_to_array(lowering *l, const graph_node *node)
{
    lower_store(l, node->inputs[0], (value_format){MONA_F16, 1, 0}, lower_result(l, node->output));
    return true;
}

/* ---- resampling and rearrangement --------------------------------------------------------- */

bool lower_resize(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_RESIZE, node);
    op.resize = node->resize;
    return lower_end(l, &op, node->output);
}

/* Of open size, as arrays do it otherwise. */
static bool refuse_blocks(lowering *l, const graph_node *node)
{
    return graph_fail(node, l->error,
                      "rearranges %u channels by blocks of %u, for which the engine needs a fixed "
                      "size: give open sizes a number (--size WxH, --dim NAME=N)",
                      l->g->values[node->inputs[0]].channels, node->depth.block);
}

bool lower_depth_to_space(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_DEPTH_TO_SPACE, node);
    if (node->depth.depth_first || node->depth.block > MAX_BLOCK)
        return refuse_blocks(l, node);
    op.block = node->depth.block;
    return lower_end(l, &op, node->output);
}

bool lower_space_to_depth(lowering *l, const graph_node *node)
{
    return graph_packs(l->g, node) ? lower_load(l, node, node->output) : refuse_blocks(l, node);
}

bool lower_pad(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_PAD, node);
    op.pad = node->pad;
    return lower_end(l, &op, node->output);
}

/* Tables are constants between the maps. */
bool lower_kernel(lowering *l, const graph_node *node)
{
    const graph_kernel *own = node->own;
    const mona_kernel *k = own->kernel;
    mona_file_op op = lower_begin_node(l, MONA_OP_KERNEL, node);
    const mona_array_kernel record = {.name = mona_writer_data(&l->w, k->name, strlen(k->name) + 1),
                                      .name_bytes = (uint32_t)strlen(k->name) + 1,
                                      .output = own->output};
    op.array.record = mona_writer_data(&l->w, &record, sizeof record);
    op.input_count = k->inputs;
    for (uint32_t i = 0, map = 0; i < k->inputs; i++) {
        const mona_kernel_operand *o = &k->operands[i];
        op.inputs[i] = own->tables[i] ? MONA_NONE : l->tensors[node->inputs[map++]];
        op.kernel.cell[i][0] = o->cell_rows;
        op.kernel.cell[i][1] = o->cell_columns;
        if (!own->tables[i])
            continue;
        op.array.offset[i] =
            mona_writer_data(&l->w, own->tables[i], o->elements * mona_type_size(o->type));
        op.array.elements[i] = o->elements;
        op.array.type[i] = (uint8_t)o->type;
    }
    return lower_end(l, &op, node->output);
}

static bool lower_pool(lowering *l, mona_op_kind kind, const graph_node *node, double scale)
{
    mona_file_op op = lower_begin_node(l, kind, node);
    op.pool = node->pool;
    op.pool.scale = (float)scale;
    return lower_end(l, &op, node->output);
}

/* It keeps its input's scale. */
bool lower_max_pool(lowering *l, const graph_node *node)
{
    return lower_pool(l, MONA_OP_MAX_POOL, node, 1);
}

/* A mean gets a scale of its own. Beyond these factors, which the engine takes, every result is 0
 * or saturated. */
bool lower_average_pool(lowering *l, const graph_node *node)
{
    const double in = (double)l->formats[node->inputs[0]].scale;
    const double scale = in / (double)l->formats[node->output].scale;
    return lower_pool(l, MONA_OP_AVERAGE_POOL, node, fmax(0x1p-30, fmin(scale, 0x1p30)));
}

/* In stored values: (x - mean) / sqrt(variance + epsilon) does not depend on the unit in which x
 * and the square root of epsilon are given. */
bool lower_normalise(lowering *l, const graph_node *node)
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
    return lower_end(l, &op, node->output);
}

bool lower_attention(lowering *l, const graph_node *node)
{
    mona_file_op op = lower_begin_node(l, MONA_OP_ATTENTION, node);
    double scale[3];
    for (uint32_t i = 0; i < 3; i++)
        scale[i] = (double)l->formats[node->inputs[i]].scale;
    op.attention.heads = node->attention.heads;
    op.attention.scale = (float)((double)node->attention.scale * scale[0] * scale[1]);
    op.attention.value_scale = (float)(scale[2] / (double)l->formats[node->output].scale);
    return lower_end(l, &op, node->output);
}

/* ---- the graph ---------------------------------------------------------------------------- */

void lower_mark_needed(graph *g, bool *needed)
{
    for (uint32_t i = 0; i < g->output_count; i++)
        needed[find_stored(g, g->outputs[i], false).value] = true;
    for (uint32_t i = g->node_count; i-- > 0;) {
        const graph_node *node = &g->nodes[i];
        const bool packs = graph_packs(g, node);
        const bool stores =
            kind_of(node)->format == FORMAT_CONVERTED && g->values[node->output].is_array;
        for (uint32_t k = 0; k < node->input_count && needed[node->output] && !packs; k++)
            needed[stores ? find_stored(g, node->inputs[k], false).value : node->inputs[k]] = true;
    }
}

static bool lower_node(lowering *l, const graph_node *node)
{
    const kind_row *row = kind_of(node);
    return row->lower ? row->lower(l, node) : graph_fail(node, l->error, "has no lowering");
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
    return kind_has_filter(node) && node->input_count == 1 && node->conv.weight_scales &&
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

static bool is_quantised(const graph *g, uint32_t value)
{
    return graph_is_prequantised(g, value) && !g->values[value].whole;
}

/* Logs inputs, and nodes that compute values with the model's own scales. */
static bool log_quantised(lowering *l, const bool *needed)
{
    const graph *g = l->g;
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->input_count; i++)
        if (is_quantised(g, g->inputs[i]))
            ok = log_prequantised(l, g->values[g->inputs[i]].name, "input", EXACTNESS_EXACT, 0);
    for (uint32_t i = 0; ok && i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        char text[160];
        if (!needed[node->output] || !is_quantised(g, node->output) || only_rounds(node))
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
        last[node->output] &= kind_of(node)->format == FORMAT_ARRAY;
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
