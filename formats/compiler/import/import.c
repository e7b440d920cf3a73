// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/import/array.h"
#include "formats/compiler/graph/kinds.h"
#include "formats/onnx/onnx_graph.h"
#include "formats/reference/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants and inputs ----------------------------------------------------------------- */

static bool bind_constant(importer *im, uint32_t value)
{
    const onnx_value *from = &im->model->values[value];
    const tensor *t = &from->tensor;
    float *data = graph_alloc(im->g, t->count ? t->count : 1, sizeof *data);
    const uint32_t made = graph_add_value(im->g, from->name);
    if (!data || made == UINT32_MAX)
        return format_fail(im->error, "out of memory");
    for (size_t i = 0; i < t->count; i++)
        data[i] = (float)tensor_number(t, i);
    graph_value *v = &im->g->values[made];
    v->data = data;
    v->count = t->count;
    v->rank = t->rank;
    for (uint32_t i = 0; i < v->rank; i++)
        v->dims[i] = (uint64_t)t->dims[i];
    im->bindings[value].value = made;
    return true;
}

/* Binds the constants that nodes read. */
static bool bind_constants(importer *im)
{
    for (uint32_t i = 0; i < im->model->node_count; i++) {
        const onnx_node *node = &im->model->nodes[i];
        for (uint32_t k = 0; k < node->input_count; k++) {
            const uint32_t value = node->inputs[k];
            if (value != ONNX_NONE && im->model->values[value].tensor.data &&
                im->bindings[value].value == UINT32_MAX && !bind_constant(im, value))
                return false;
        }
    }
    return true;
}

/* Whether an input has the shape of a map: of one frame. Sides that it leaves open are 0, as some
 * exporters write them. */
static bool has_map_dims(const onnx_input *input, int64_t dims[3])
{
    tensor shape;
    int64_t fixed[TENSOR_MAX_RANK] = {0};
    for (uint32_t i = 0; i < input->rank; i++)
        fixed[i] = input->dims[i] < 0 ? 0 : input->dims[i];
    const bool known = onnx_input_shape(input, &shape) && shape.count;
    return fixed[0] <= 1 && fixed[1] && (known || input->rank == 4) &&
           array_map_dims(input->rank, fixed, dims);
}

bool graph_input_is_map(const onnx_input *input)
{
    int64_t dims[3];
    return element_is_float(input->type) && has_map_dims(input, dims);
}

static bool check_array(importer *im, const onnx_input *input, const char *name, tensor *shape)
{
    char text[128];
    if (!onnx_input_shape(input, shape))
        return format_fail(im->error,
                           "input '%s' is not [1, channels, height, width] of floats with a fixed "
                           "number of channels, so all of its dimensions must be known; set open "
                           "ones with --size or --dim",
                           name);
    tensor_text(shape, text, sizeof text);
    return (shape->count && array_type_of(shape->type) != MONA_TYPE_COUNT) ||
           format_fail(
               im->error,
               "input '%s' is %s, which is empty or of a type that the engine does not have", name,
               text);
}

static bool is_read_by_kernel(const importer *im, uint32_t value)
{
    for (uint32_t i = 0; i < im->model->node_count; i++) {
        const onnx_node *node = &im->model->nodes[i];
        for (uint32_t k = 0; onnx_kernel_of(im->model, node) && k < node->input_count; k++)
            if (node->inputs[k] == value)
                return true;
    }
    return false;
}

/* What is not 0 is true, whatever byte stands for it, such as 255 in a mask. */
static bool bind_truth(importer *im, const onnx_input *input, const tensor *shape)
{
    import_binding *b = &im->bindings[input->value];
    const onnx_node node = {.name = im->model->values[input->value].name, .op_type = "input"};
    im->node = &node;
    b->array = array_to_element(im, ELEMENT_BOOL, false,
                                array_of_value(im->g, b->array, shape->rank, shape->dims))
                   .value;
    im->node = NULL;
    return b->array != UINT32_MAX;
}

static bool bind_input(importer *im, const onnx_input *input)
{
    graph *g = im->g;
    const char *name = im->model->values[input->value].name;
    int64_t dims[3] = {0};
    tensor shape = {0};
    const bool floats = element_is_float(input->type);
    const bool map =
        has_map_dims(input, dims) &&
        (is_read_by_kernel(im, input->value) ? import_kernel_takes(im, input) : floats);
    if (!map && !check_array(im, input, name, &shape))
        return false;
    if (g->input_count == MONA_MAX_IO)
        return format_fail(im->error, "more than %d inputs", MONA_MAX_IO);
    const uint32_t value = map ? graph_add_value(g, name)
                               : graph_add_array(g, name, array_type_of(shape.type), shape.count);
    if (value == UINT32_MAX)
        return format_fail(im->error, "out of memory");
    graph_value *v = &g->values[value];
    v->rank = map ? 0 : shape.rank;
    for (uint32_t i = 0; i < v->rank; i++)
        v->dims[i] = (uint64_t)shape.dims[i];
    const bool sized = dims[1] && dims[2];
    if (map)
        graph_set_dims(g, value, (uint32_t)dims[0], sized ? (uint32_t)dims[1] : 0,
                       sized ? (uint32_t)dims[2] : 0);
    g->inputs[g->input_count++] = value;
    im->bindings[input->value] = (import_binding){
        .value = map ? value : UINT32_MAX, .rank = input->rank, .array = map ? UINT32_MAX : value};
    if (map && !floats) {
        const mona_type type = input->type == ELEMENT_UINT8 ? MONA_U8 : MONA_S8;
        im->g->values[value].prequantised = (value_format){type, 1, 0};
        im->g->values[value].whole = true;
        im->bindings[input->value].quantisation = (import_quantisation){1, 0, input->type};
    }
    return input->type != ELEMENT_BOOL || bind_truth(im, input, &shape);
}

/* ---- nodes and outputs -------------------------------------------------------------------- */

/* An operator that became no node only renames its input. */
static bool log_view(importer *im)
{
    const uint32_t made = im->node->outputs[0];
    const bool part = made != ONNX_NONE && im->bindings[made].shuffle.block;
    return graph_log_named(im->g, part ? FUSION_SHUFFLES : FUSION_VIEWS, im->node->name,
                           im->node->op_type, NULL) ||
           format_fail(im->error, "out of memory");
}

/* Whether a node reads maps of integers as the numbers they stand for. */
static bool import_takes_quantised(const operator_row *row)
{
    return row && (row->integers == INTEGERS_keeps || row->integers == INTEGERS_reads);
}

/* Whether a node of the model may be done on maps. */
static bool is_for_maps(const importer *im, const onnx_node *node)
{
    const operator_row *row = operator_find(node->op_type);
    return onnx_kernel_of(im->model, node) ? import_kernel_joins(im, node) : row && row->import;
}

/* Whether a node is better done on maps: either its computed inputs are maps, or it costs so much
 * more than one pass over them that converting them pays. */
static bool prefers_map(const importer *im, const operator_row *row)
{
    bool maps = true, computed = false, quantised = false;
    for (uint32_t i = 0; i < im->node->input_count; i++) {
        if (!import_has(im, i) || im->model->values[im->node->inputs[i]].tensor.data)
            continue;
        maps = maps && import_bound(im, i) != UINT32_MAX;
        quantised = quantised || import_quantisation_of(im, i).scale > 0;
        computed = true;
    }
    return row->import && computed &&
           (!quantised || import_takes_quantised(row) || row->integers == INTEGERS_casts) &&
           (maps || row->whole_tensors);
}

/* Keeps why an operator does not run on maps; without a text, that was not tried. */
static bool keep_reason(importer *im, const operator_row *row, const format_error *maps)
{
    im->why_array = graph_strdup(im->g, maps->text[0] ? maps->text + maps->reason
                                        : row->import ? "reads a value that is not a map"
                                                      : "has no form on maps");
    return im->why_array || format_fail(im->error, "out of memory");
}

/* Logs why an operator of a quantised model did not become the format of a map. */
static bool log_array(importer *im, const operator_row *row)
{
    const bool off = im->g->fusion.off[FUSION_QUANTISED];
    return (row->integers != INTEGERS_reads && row->integers != INTEGERS_makes) ||
           graph_log_named(im->g, FUSION_QUANTISED, im->node->name, im->node->op_type,
                           off ? FUSION_IS_OFF : im->why_array) ||
           format_fail(im->error, "out of memory");
}

/* What a node that runs on arrays wanted as a map stays an array. */
static void keep_arrays(importer *im)
{
    for (uint32_t i = 0; i < im->node->input_count; i++) {
        import_binding *b = import_has(im, i) ? &im->bindings[im->node->inputs[i]] : NULL;
        if (b && b->wanted)
            *b = (import_binding){.value = UINT32_MAX, .array = b->array};
    }
}

/* If sizes are known, folding has found those of the results, and so checked attributes and
 * inputs. */
static bool is_sized(importer *im)
{
    for (uint32_t i = 0; i < im->node->output_count; i++)
        if (array_wants(im, i) && !array_result(im, i))
            return false;
    return true;
}

/* Imports a node on arrays. If sizes are open, the error from maps is the better one. */
static bool add_array(importer *im, const operator_row *row, const format_error *reason)
{
    *im->error = (format_error){0};
    im->g->has_arrays = true;
    im->call.unknown = false;
    if (is_sized(im) && row->array(im))
        return true;
    const format_error second = *im->error;
    if (!reason->text[0] || !second.reason)
        return false;
    *im->error = (format_error){.reason = reason->reason};
    return format_fail(im->error, "%s; as an array it %s", reason->text,
                       second.text + second.reason);
}

/* What a node multiplies by. Infinities elsewhere may be meant, as those of masks. */
static bool warn_of_weights(importer *im, const operator_row *row)
{
    for (uint32_t i = 1; i < im->node->input_count && row->whole_tensors; i++) {
        const tensor *t = import_has(im, i) ? &im->model->values[im->node->inputs[i]].tensor : NULL;
        const bool numbers = t && t->data && element_is_float(t->type);
        for (size_t k = 0; numbers && k < t->count; k++)
            if (!isfinite(tensor_number(t, k)))
                return import_warn(im,
                                   "has a weight that is %s, and so are results; the file may be "
                                   "damaged, or training failed",
                                   isnan(tensor_number(t, k)) ? "NaN" : "infinite");
    }
    return true;
}

static bool add_node(importer *im)
{
    const bool own = onnx_kernel_of(im->model, im->node);
    const operator_row *row = own ? &operator_kernel : operator_find(im->node->op_type);
    const uint32_t nodes = im->g->node_count;
    char fault[128];
    im->why_array = NULL;
    if (!row)
        return import_fail(im, "is not supported by the engine; mona ops --engine lists what is");
    if (!own && reference_attribute_fault(reference_find(row->name), im->node, fault, sizeof fault))
        return import_fail(im, "%s", fault);
    if (!row->import && !row->array)
        return import_fail(
            im, "is run by the engine only where constants and sizes determine its result: "
                "give open sizes a number (--size WxH, --dim NAME=N), or end the model before it");
    const bool map = own || prefers_map(im, row) || !row->array;
    if (!warn_of_weights(im, row))
        return false;
    bool ok = map && row->import(im);
    if (!ok && row->array && im->g->node_count == nodes && !im->g->memory.refused) {
        const format_error reason = *im->error;
        keep_arrays(im);
        ok = keep_reason(im, row, &reason) && add_array(im, row, &reason) && log_array(im, row);
    }
    return ok && (im->g->node_count > nodes || log_view(im));
}

/* What is made from now on gets the output's name. */
static void name_output(importer *im, const char *name, const char *op_type)
{
    im->output = (onnx_node){.name = name, .op_type = op_type};
    im->node = &im->output;
    im->why_array = NULL;
}

/* Adds an output, as a copy of the value if necessary: a map that is an input or another output, or
 * an array that is also an input, constant, read or another output, since output arrays are only
 * written, and each separately. again: the value is another output too. */
static bool add_output(importer *im, uint32_t value, const char *name, bool again)
{
    graph *g = im->g;
    name_output(im, name, "Identity");
    graph_count_uses(g);
    const graph_value v = g->values[value];
    if (v.is_array && (again || v.elements || graph_is_input(g, value) || v.uses)) {
        value = array_copy(im, v.type, value).value;
        if (value == UINT32_MAX)
            return false;
    } else if (!v.is_array && (graph_is_input(g, value) || graph_is_output(g, value))) {
        if (!import_inner_affine(im, value, 1, 0, &value))
            return false;
    }
    /* After nodes that only pass it on, a value still has its earlier name. */
    g->values[value].name = graph_strdup(g, name);
    g->outputs[g->output_count++] = value;
    return g->values[value].name ? true : format_fail(im->error, "out of memory");
}

/* Whether an earlier output is the same array, under any name. */
static bool is_twice(const importer *im, uint32_t output)
{
    const uint32_t *outputs = im->model->outputs;
    for (uint32_t i = 0; i < im->model->output_count; i++)
        if (i != output && im->bindings[outputs[i]].array == im->bindings[outputs[output]].array)
            return true;
    return false;
}

/* The last dimensions of an output array become its rows and columns. */
static void shape_output(graph *g, uint32_t value, const tensor *t)
{
    graph_value *v = &g->values[value];
    const uint32_t p = graph_producer(g, value);
    if (p == UINT32_MAX || kind_of(&g->nodes[p])->format != FORMAT_ARRAY || t->count != v->count)
        return;
    v->width = t->rank ? (uint32_t)t->dims[t->rank - 1] : 1;
    v->height = t->rank > 1 ? (uint32_t)t->dims[t->rank - 2] : 1;
    v->channels = (uint32_t)(v->count / v->width / v->height);
}

/* Outputs that are arrays need no conversion; constants are arrays. */
static bool add_outputs(importer *im)
{
    const onnx_graph *o = im->model;
    if (o->output_count > MONA_MAX_IO)
        return format_fail(im->error, "the model has %u outputs; expected 1 to %d", o->output_count,
                           MONA_MAX_IO);
    for (uint32_t i = 0; i < o->output_count; i++) {
        const onnx_value *v = &o->values[o->outputs[i]];
        const import_binding *b = &im->bindings[o->outputs[i]];
        const bool open = !v->shaped && b->quantisation.scale == 1 && !b->quantisation.zero;
        const bool array = v->tensor.data || (b->quantisation.scale > 0 && !open) || b->last;
        uint32_t value = array ? UINT32_MAX : b->value;
        name_output(im, v->name, "output");
        if (value == UINT32_MAX || b->shuffle.block)
            value = array_value(im, o->outputs[i]);
        if (value == UINT32_MAX)
            return false;
        if (!add_output(im, value, v->name, is_twice(im, i)))
            return false;
        shape_output(im->g, im->g->outputs[i], &v->tensor);
    }
    return true;
}

/* Removes nodes that nothing depends on: parts of what importers recognised as a whole. */
static void remove_unused(graph *g)
{
    graph_count_uses(g);
    for (uint32_t i = g->node_count; i-- > 0;) {
        const graph_node *node = &g->nodes[i];
        if (g->values[node->output].uses)
            continue;
        graph_log(g, FUSION_DEAD_CODE, node, NULL);
        graph_remove_node(g, i);
    }
    graph_sweep(g);
}

/* Orders nodes so that maps come first, then the arrays made from them, then the maps made from
 * those, and so on: operators on maps run together, row by row, as long as no array comes between
 * them. */
static bool order_forms(importer *im)
{
    graph *g = im->g;
    uint32_t *turns = calloc(g->value_count + 1, sizeof *turns);
    /* Of each turn: the number of nodes in those before it, then where its next node belongs. */
    uint32_t *places = calloc(g->node_count + 2, sizeof *places);
    graph_node *ordered = malloc((g->node_count + 1) * sizeof *ordered);
    const bool ok = turns && places && ordered ? true : format_fail(im->error, "out of memory");
    for (uint32_t i = 0; ok && i < g->node_count; i++) {
        const graph_node *node = &g->nodes[i];
        uint32_t turn = 0; /* even: maps; odd: arrays */
        for (uint32_t k = 0; k < node->input_count; k++)
            turn = turns[node->inputs[k]] > turn ? turns[node->inputs[k]] : turn;
        turn += (kind_of(node)->format == FORMAT_ARRAY) != turn % 2;
        turns[node->output] = turn;
        places[turn + 1]++; /* there are no more turns than nodes */
    }
    for (uint32_t turn = 1; ok && turn <= g->node_count; turn++)
        places[turn] += places[turn - 1];
    for (uint32_t i = 0; ok && i < g->node_count; i++)
        ordered[places[turns[g->nodes[i].output]]++] = g->nodes[i];
    if (ok)
        memcpy(g->nodes, ordered, g->node_count * sizeof *ordered);
    graph_sweep(g);
    free(turns);
    free(places);
    free(ordered);
    return ok;
}

/* Notes which values of the model calibration sees as maps, whatever their shape there. */
static void note_sources(importer *im)
{
    graph *g = im->g;
    for (uint32_t i = 0; i < im->model->value_count; i++) {
        const import_binding *b = &im->bindings[i];
        graph_value *v = b->value == UINT32_MAX ? NULL : &g->values[b->value];
        if (!v || v->data || b->shuffle.block || v->source != UINT32_MAX ||
            b->quantisation.scale > 0)
            continue;
        v->source = i;
        v->channels_last = b->last;
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        graph_value *v = &g->values[g->outputs[i]];
        if (!v->is_array && v->source == UINT32_MAX)
            v->source = im->model->outputs[i];
    }
}

static void note_uses(importer *im)
{
    const onnx_graph *o = im->model;
    for (uint32_t i = 0; i < o->value_count; i++)
        im->uses[i] = (import_use){.maker = ONNX_NONE};
    for (uint32_t i = 0; i < o->output_count; i++)
        im->uses[o->outputs[i]].apart = im->uses[o->outputs[i]].kept = true;
    for (uint32_t i = 0; i < o->node_count; i++) {
        const onnx_node *node = &o->nodes[i];
        const bool apart = !import_takes_quantised(operator_find(node->op_type));
        for (uint32_t k = 0; k < node->input_count; k++)
            if (node->inputs[k] != ONNX_NONE)
                im->uses[node->inputs[k]].apart |= apart;
        for (uint32_t k = 0; k < node->output_count; k++)
            if (node->outputs[k] != ONNX_NONE)
                im->uses[node->outputs[k]].maker = i;
    }
    for (uint32_t i = o->node_count; i-- > 0;) { /* those that read a kernel's results before it */
        const bool kept = !is_for_maps(im, &o->nodes[i]);
        for (uint32_t k = 0; k < o->nodes[i].input_count; k++)
            if (o->nodes[i].inputs[k] != ONNX_NONE)
                im->uses[o->nodes[i].inputs[k]].kept |= kept;
    }
}

static bool import_all(importer *im)
{
    const onnx_graph *o = im->model;
    im->g->name = graph_strdup(im->g, o->name);
    im->bindings = malloc((o->value_count + 1) * sizeof *im->bindings);
    im->uses = malloc((o->value_count + 1) * sizeof *im->uses);
    if (!im->g->name || !im->bindings || !im->uses)
        return format_fail(im->error, "out of memory");
    note_uses(im);
    for (uint32_t i = 0; i < o->value_count; i++)
        im->bindings[i] = (import_binding){.value = UINT32_MAX, .rank = 4, .array = UINT32_MAX};
    if (!o->input_count)
        return format_fail(im->error, "the model has no inputs");
    if (!bind_constants(im))
        return false;
    for (uint32_t i = 0; i < o->input_count; i++)
        if (!bind_input(im, &o->inputs[i]))
            return false;
    for (uint32_t i = 0; i < o->node_count; i++) {
        if (!import_begin(im, &o->nodes[i]) || !add_node(im))
            return false;
    }
    if (!add_outputs(im))
        return false;
    note_sources(im);
    remove_unused(im->g);
    return order_forms(im) && (!im->g->memory.refused || format_fail(im->error, "out of memory"));
}

bool graph_import(graph *g, const onnx_graph *model, format_error *error)
{
    importer im = {.g = g, .model = model, .error = error};
    const bool ok = import_all(&im);
    free(im.bindings);
    free(im.uses);
    if (!ok)
        graph_free(g);
    return ok;
}
