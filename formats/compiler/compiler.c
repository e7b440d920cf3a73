// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "formats/reference/execute.h"
#include "formats/compiler/quantize/quantize.h"
#include "formats/compiler/import/import.h"
#include "formats/compiler/import/patterns.h"
#include "formats/compiler/import/unbatch.h"
#include "formats/compiler/lower/lower.h"
#include "formats/compiler/quantize/observation.h"
#include "formats/compiler/precision/layers.h"
#include "formats/compiler/passes/passes.h"

struct compiler {
    onnx_graph model; /* what the reference runs */
    graph g;          /* as imported, with what calibration has seen */
    graph fused;      /* as the passes left it for these options; empty before that */
    compiler_options options;
    layers layers;      /* of the fused graph */
    size_t pass_events; /* length of its log after the passes */
    int64_t images;     /* of the batch that became one image; 1: none did */
    bool equalised;     /* the fused graph is equalised, and is the one that is calibrated */
};

/* Logs which nodes folding removed: those whose results are now constants, and those that no output
 * depends on. The others are still in the same order. */
static bool log_folded(graph *g, const onnx_graph *model, const onnx_node *before, uint32_t count)
{
    for (uint32_t i = 0, kept = 0; i < count; i++) {
        const onnx_node *node = &before[i];
        if (kept < model->node_count && model->nodes[kept].name == node->name) {
            kept++;
            continue;
        }
        const uint32_t out = node->output_count ? node->outputs[0] : ONNX_NONE;
        const bool constant = out != ONNX_NONE && model->values[out].tensor.data;
        if (!graph_log_named(g, constant ? FUSION_CONSTANTS : FUSION_DEAD_CODE, node->name,
                             node->op_type, NULL))
            return false;
    }
    return true;
}

static bool warn(graph *g, const char *name, const char *op_type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool warn(graph *g, const char *name, const char *op_type, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const bool ok = graph_warn(g, name, op_type, format, arguments);
    va_end(arguments);
    return ok;
}

/* Of images that could not be taken apart. */
static bool warn_of_batches(graph *g, const onnx_graph *model)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < model->input_count; i++) {
        const onnx_input *input = &model->inputs[i];
        if (input->rank == 4 && input->dims[0] > 1 && input->type == ELEMENT_FLOAT32)
            ok = warn(g, model->values[input->value].name, "input",
                      "is a batch of %lld, which runs on arrays, several times slower than one "
                      "image after another: export the model for a batch of 1",
                      (long long)input->dims[0]);
    }
    return ok;
}

/* Afterwards the model has its nodes as they are before patterns are found in them. */
static bool import_model(compiler *c, bool one_image, format_error *error)
{
    onnx_graph *model = &c->model;
    const uint32_t count = model->node_count;
    const onnx_node *read = onnx_graph_copy_nodes(model), *folded = NULL;
    if (!read)
        return format_fail(error, "out of memory");
    c->images = 1;
    if (!onnx_graph_fold(model, error) ||
        (one_image && !onnx_graph_unbatch(model, &c->images, error)))
        return false;
    const uint32_t folded_count = model->node_count, known = model->value_count;
    folded = onnx_graph_copy_nodes(model);
    fusion_log calls = {0};
    if (!folded || !patterns_find(model, &c->g.fusion, &calls)) {
        fusion_log_free(&calls);
        return format_fail(error, "out of memory");
    }
    bool ok = onnx_graph_fold(model, error) && graph_import(&c->g, model, error);
    for (size_t i = 0; ok && i < calls.count; i++)
        ok = graph_log_named(&c->g, FUSION_KERNEL, calls.events[i].node, calls.events[i].op_type,
                             calls.events[i].why_not) ||
             format_fail(error, "out of memory");
    fusion_log_free(&calls);
    if (!ok)
        return false;
    if (!log_folded(&c->g, model, read, count) ||
        (one_image && c->images == 1 && !warn_of_batches(&c->g, model)))
        return format_fail(error, "out of memory");
    memcpy(model->nodes, folded, folded_count * sizeof *folded);
    model->removed_count -= folded_count - model->node_count;
    model->node_count = folded_count;
    /* The reference does not compute what patterns added, so calibration cannot see it. */
    for (uint32_t i = 0; i < c->g.value_count; i++)
        if (c->g.values[i].source != UINT32_MAX && c->g.values[i].source >= known)
            c->g.values[i].source = UINT32_MAX;
    return true;
}

static compiler *open_graph(onnx_graph *model, const fusion_switches *fusion, bool one_image,
                            format_error *error)
{
    compiler *c = calloc(1, sizeof *c);
    if (!c) {
        onnx_graph_free(model);
        format_fail(error, "out of memory");
        return NULL;
    }
    c->model = *model;
    *model = (onnx_graph){0};
    if (fusion)
        c->g.fusion = *fusion;
    if (import_model(c, one_image, error))
        return c;
    compiler_close(c);
    return NULL;
}

compiler *compiler_open_graph(onnx_graph *model, const fusion_switches *fusion, format_error *error)
{
    return open_graph(model, fusion, false, error);
}

compiler *compiler_open_image(onnx_graph *model, const fusion_switches *fusion, format_error *error)
{
    return open_graph(model, fusion, true, error);
}

compiler *compiler_open(const void *onnx, size_t size, const onnx_read_options *options,
                        format_error *error)
{
    onnx_graph model;
    if (!onnx_graph_read(&model, onnx, size, options, error))
        return NULL;
    return compiler_open_graph(&model, NULL, error);
}

void compiler_close(compiler *c)
{
    if (c) {
        graph_free(&c->fused);
        graph_free(&c->g);
        onnx_graph_free(&c->model);
    }
    free(c);
}

int64_t compiler_images(const compiler *c)
{
    return c->images;
}

bool compiler_has_arrays(const compiler *c)
{
    return c->g.has_arrays;
}

unsigned compiler_input_count(const compiler *c)
{
    return c->g.input_count;
}

unsigned compiler_output_count(const compiler *c)
{
    return c->g.output_count;
}

const char *compiler_warning(const compiler *c, unsigned index, unsigned *more)
{
    const uint32_t count = c->g.warning_count;
    *more = count > GRAPH_MAX_WARNINGS ? count - GRAPH_MAX_WARNINGS : 0;
    return index < count && index < GRAPH_MAX_WARNINGS ? c->g.warnings[index] : NULL;
}

static compiler_tensor describe(const compiler *c, uint32_t value)
{
    const graph_value *v = &c->g.values[value];
    return (compiler_tensor){.name = v->name,
                             .channels = v->channels,
                             .height = v->height,
                             .width = v->width,
                             .array = v->is_array,
                             .integers = v->whole,
                             .low = v->low,
                             .high = v->high};
}

compiler_tensor compiler_input(const compiler *c, unsigned index)
{
    compiler_tensor input = describe(c, c->g.inputs[index]);
    input.type = c->model.inputs[index].type;
    return input;
}

compiler_tensor compiler_output(const compiler *c, unsigned index)
{
    const tensor *t = &c->model.values[c->model.outputs[index]].tensor;
    compiler_tensor output = describe(c, c->g.outputs[index]);
    output.integers = !element_is_float(t->type);
    output.last = output.array && t->rank ? (uint32_t)t->dims[t->rank - 1] : output.array;
    output.computed = t;
    if (onnx_output_contradicts(&c->model, index))
        output.declared = &c->model.declared[index];
    return output;
}

bool compiler_reference(const compiler *c, const reference_array *inputs, reference_array *outputs,
                        format_error *error)
{
    return reference_run(&c->model, &c->g, inputs, outputs, NULL, error);
}

graph *compiler_graph(compiler *c, bool fused)
{
    return fused ? &c->fused : &c->g;
}

static bool run_passes(graph *g, const compiler_options *options, format_error *error)
{
    if (!pass_merge_common(g, error))
        return false;
    pass_fold_pads(g);
    if (!pass_tabulate(g, error) || !pass_focus(g, error) || !pass_gather_shifts(g, error) ||
        !pass_fold_affine(g, options, error) || !pass_fuse(g, error) ||
        !pass_absorb_quantize(g, options, error) || !pass_reorder_depth(g, error) ||
        !pass_use_arrays(g, error) || !pass_split(g, error) || !pass_widen(g, options, error))
        return false;
    quantize_join(g);
    return true;
}

/* Copies what calibration saw to the fused graph, where values have the same numbers. */
static void share_observations(compiler *c)
{
    for (uint32_t i = 0; i < c->g.value_count && c->fused.node_count && !c->equalised; i++) {
        c->fused.values[i].seen = c->g.values[i].seen;
        c->fused.values[i].low = c->g.values[i].low;
        c->fused.values[i].high = c->g.values[i].high;
    }
}

/* Whether the passes produce the same graph for both. */
static bool same_options(const compiler_options *a, const compiler_options *b)
{
    return a->input_type == b->input_type && a->output_type == b->output_type &&
           a->input_range == b->input_range && a->range == b->range && a->bits == b->bits &&
           !memcmp(&a->fusion, &b->fusion, sizeof a->fusion);
}

/* Makes the fused graph, unless it already exists for the same options. */
static bool prepare(compiler *c, const compiler_options *options, format_error *error)
{
    if (c->fused.node_count && same_options(&c->options, options))
        return true;
    graph_free(&c->fused);
    c->equalised = false;
    if (!graph_copy(&c->fused, &c->g))
        return format_fail(error, "out of memory");
    c->fused.fusion = options->fusion;
    c->options = *options;
    if (run_passes(&c->fused, options, error) && layers_find(&c->layers, &c->fused, error) &&
        (!c->fused.memory.refused || format_fail(error, "out of memory"))) {
        c->pass_events = c->fused.log.count;
        return true;
    }
    graph_free(&c->fused);
    c->layers = (layers){0};
    return false;
}

static bool see(void *context, uint32_t value, const reference_array *a, format_error *error)
{
    return observation_add(context, value, a, error);
}

bool compiler_calibrate(compiler *c, const reference_array *inputs, format_error *error)
{
    graph *g = c->equalised ? &c->fused : &c->g;
    const reference_observer observer = {see, g};
    if (!reference_run(&c->model, g, inputs, NULL, &observer, error))
        return false;
    share_observations(c);
    return true;
}

double compiler_movement(compiler *c, range_rule rule)
{
    return observation_movement(c->equalised ? &c->fused : &c->g, rule);
}

bool compiler_equalise(compiler *c, const compiler_options *options, unsigned *pairs,
                       format_error *error)
{
    if (!prepare(c, options, error) || !equalise_graph(&c->fused, pairs, error))
        return false;
    observation_clear(&c->fused);
    c->equalised = true;
    return true;
}

typedef struct lesson {
    graph *g;
    layers *l;
    bool held_out;
} lesson;

static bool learn(void *context, uint32_t value, const reference_array *a, format_error *error)
{
    const lesson *s = context;
    bool ok = true;
    for (unsigned i = 0; ok && i < s->l->count; i++) {
        graph_node *node = &s->g->nodes[s->l->items[i].node];
        if (node->inputs[0] == value)
            ok = learn_from(s->g, node, a, s->held_out, error);
    }
    return ok;
}

bool compiler_learn(compiler *c, const compiler_options *options, const reference_array *inputs,
                    bool held_out, format_error *error)
{
    lesson s = {&c->fused, &c->layers, held_out};
    const reference_observer observer = {learn, &s};
    return prepare(c, options, error) &&
           reference_run(&c->model, &c->fused, inputs, NULL, &observer, error);
}

bool compiler_learn_rounding(compiler *c, const compiler_options *options, format_error *error)
{
    bool ok = prepare(c, options, error);
    for (unsigned i = 0; ok && i < c->layers.count; i++)
        ok = learn_rounding(&c->fused, &c->fused.nodes[c->layers.items[i].node],
                            options->correct_bias, error);
    return ok;
}

unsigned compiler_layer_count(const compiler *c)
{
    return c->layers.count;
}

compiler_layer compiler_layer_at(const compiler *c, unsigned index)
{
    return c->layers.items[index].about;
}

bool compiler_pin(compiler *c, const compiler_options *options, const char *name, bool int8,
                  format_error *error)
{
    return prepare(c, options, error) && layers_pin(&c->layers, &c->fused, name, int8, error);
}

bool compiler_set_precision(compiler *c, const compiler_options *options, bool int8,
                            format_error *error)
{
    if (!prepare(c, options, error))
        return false;
    layers_set(&c->layers, &c->fused, int8);
    return true;
}

bool compiler_measure_layers(compiler *c, const compiler_options *options,
                             const reference_array *inputs, format_error *error)
{
    return prepare(c, options, error) &&
           layers_measure(&c->layers, &c->model, &c->fused, options, inputs, error);
}

/* The value with this name; NULL: none. */
static const graph_value *find_value(const graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->value_count; i++)
        if (!strcmp(g->values[i].name, name))
            return &g->values[i];
    return NULL;
}

bool compiler_adopt(compiler *c, const compiler *other, const compiler_options *options,
                    format_error *error)
{
    for (uint32_t i = 0; i < c->g.value_count; i++) {
        graph_value *v = &c->g.values[i];
        const graph_value *from = find_value(&other->g, v->name);
        if (from && !v->data) {
            v->seen = from->seen;
            v->low = from->low;
            v->high = from->high;
        }
    }
    share_observations(c);
    for (unsigned i = 0; i < other->layers.count; i++) {
        const compiler_layer *layer = &other->layers.items[i].about;
        if ((!layer->prequantised || layer->pinned) &&
            !compiler_pin(c, options, layer->name, layer->int8, error))
            return false;
    }
    return true;
}

bool compiler_choose(compiler *c, const compiler_options *options, const char *target,
                     double max_drop, const compiler_judge *judge, compiler_choice *choice,
                     format_error *error)
{
    const cost_target *costs = cost_find(target);
    compiler_options mixed = *options;
    mixed.int8 = true;
    if (!costs)
        return format_fail(error, "no target is called '%s'; expected host or ascend310", target);
    return prepare(c, options, error) &&
           layers_choose(&c->layers, &c->fused, &mixed, costs, max_drop, judge, choice, error);
}

bool compiler_emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size,
                   format_error *error)
{
    if (!prepare(c, options, error))
        return false;
    c->fused.log.count = c->pass_events;
    return layers_note_made(&c->layers, &c->fused, options, error) &&
           lower_graph(&c->fused, options, bytes, size, error);
}

const char *compiler_why_array(const compiler *c, const char *name)
{
    for (uint32_t i = 0; i < c->fused.node_count; i++) {
        const graph_node *node = &c->fused.nodes[i];
        if (kind_of(node)->format == FORMAT_ARRAY && node->why_array && !strcmp(node->name, name))
            return node->why_array;
    }
    return NULL;
}

const fusion_log *compiler_log(const compiler *c)
{
    return &c->fused.log;
}
