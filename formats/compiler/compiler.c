#include "compiler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../reference/fold.h"
#include "import.h"
#include "lower.h"
#include "passes.h"

struct compiler {
    graph g;     /* as imported, with the ranges that calibration saw */
    graph fused; /* as last emitted; before that it is empty */
};

/* Notes which of the nodes before folding are gone: those whose results are constants now, and
 * those nothing depends on. The order of the others is what it was. */
static bool log_folded(graph *g, const onnx_graph *model, const onnx_node *before, uint32_t count)
{
    for (uint32_t i = 0, kept = 0; i < count; i++) {
        const onnx_node *node = &before[i];
        if (kept < model->node_count && model->nodes[kept].outputs == node->outputs) {
            kept++;
            continue;
        }
        const uint32_t out = node->output_count ? node->outputs[0] : ONNX_NONE;
        const bool constant = out != ONNX_NONE && model->values[out].tensor.data;
        const graph_node gone = {.name = graph_strdup(g, node->name),
                                 .op_type = graph_strdup(g, node->op_type)};
        if (!gone.name || !gone.op_type)
            return false;
        graph_log(g, constant ? FUSION_CONSTANTS : FUSION_DEAD_CODE, &gone, NULL);
    }
    return true;
}

static bool import_model(compiler *c, onnx_graph *model, format_error *error)
{
    const uint32_t count = model->node_count;
    onnx_node *before = malloc((count + 1) * sizeof *before);
    if (!before)
        return format_fail(error, "out of memory");
    if (count)
        memcpy(before, model->nodes, count * sizeof *before);
    bool ok = onnx_graph_fold(model, error) && graph_import(&c->g, model, error);
    if (ok && !log_folded(&c->g, model, before, count)) {
        graph_free(&c->g);
        ok = format_fail(error, "out of memory");
    }
    free(before);
    return ok;
}

compiler *compiler_open_graph(onnx_graph *model, format_error *error)
{
    compiler *c = calloc(1, sizeof *c);
    if (!c)
        format_fail(error, "out of memory");
    else if (import_model(c, model, error))
        return c;
    free(c);
    return NULL;
}

compiler *compiler_open(const void *onnx, size_t size, const onnx_read_options *options,
                        format_error *error)
{
    onnx_graph model;
    if (!onnx_graph_read(&model, onnx, size, options, error))
        return NULL;
    compiler *c = compiler_open_graph(&model, error);
    onnx_graph_free(&model);
    return c;
}

void compiler_close(compiler *c)
{
    if (c) {
        graph_free(&c->fused);
        graph_free(&c->g);
    }
    free(c);
}

unsigned compiler_input_count(const compiler *c)
{
    return c->g.input_count;
}

unsigned compiler_output_count(const compiler *c)
{
    return c->g.output_count;
}

static compiler_tensor describe(const compiler *c, uint32_t value)
{
    const graph_value *v = &c->g.values[value];
    return (compiler_tensor){v->name, v->channels, v->height, v->width};
}

compiler_tensor compiler_input(const compiler *c, unsigned index)
{
    return describe(c, c->g.inputs[index]);
}

compiler_tensor compiler_output(const compiler *c, unsigned index)
{
    return describe(c, c->g.outputs[index]);
}

bool compiler_reference(const compiler *c, const reference_array *inputs, reference_array *outputs,
                        format_error *error)
{
    return reference_run(c->fused.node_count ? &c->fused : &c->g, inputs, outputs, NULL, error);
}

/* Keeps the ranges seen so far where this sample stays inside of them. */
static bool merge_ranges(graph *g, const reference_range *seen, format_error *error)
{
    for (uint32_t i = 0; i < g->value_count; i++) {
        graph_value *v = &g->values[i];
        const reference_range r = seen[i];
        if (r.low > r.high)
            continue;
        if (!isfinite(r.low) || !isfinite(r.high))
            return format_fail(error, "value '%s' becomes infinite or not a number in calibration",
                               v->name);
        const bool first = v->low > v->high;
        v->low = first || r.low < v->low ? r.low : v->low;
        v->high = first || r.high > v->high ? r.high : v->high;
    }
    return true;
}

bool compiler_calibrate(compiler *c, const reference_array *inputs, format_error *error)
{
    reference_array outputs[MONA_MAX_IO];
    reference_range *seen = malloc(c->g.value_count * sizeof *seen);
    if (!seen)
        return format_fail(error, "out of memory");
    for (uint32_t i = 0; i < c->g.value_count; i++)
        seen[i] = (reference_range){1, -1};
    bool ok = reference_run(&c->g, inputs, outputs, seen, error);
    for (uint32_t i = 0; ok && i < c->g.output_count; i++)
        free(outputs[i].data);
    ok = ok && merge_ranges(&c->g, seen, error);
    free(seen);
    return ok;
}

static bool run_passes(graph *g, format_error *error)
{
    pass_merge_common(g);
    pass_fold_pads(g);
    return pass_fold_affine(g, error) && pass_reorder_depth(g, error) && pass_fuse(g, error);
}

bool compiler_emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size,
                   format_error *error)
{
    graph_free(&c->fused);
    if (!graph_copy(&c->fused, &c->g))
        return format_fail(error, "out of memory");
    c->fused.fusion = options->fusion;
    if (run_passes(&c->fused, error) && lower_graph(&c->fused, options, bytes, size, error))
        return true;
    graph_free(&c->fused);
    return false;
}

const fusion_log *compiler_log(const compiler *c)
{
    return &c->fused.log;
}
