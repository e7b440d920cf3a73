#include "compiler.h"

#include <math.h>
#include <stdlib.h>

#include "../reference/fold.h"
#include "import.h"
#include "lower.h"
#include "passes.h"

struct compiler {
    graph g;
    bool passed; /* the passes have run */
};

compiler *compiler_open_graph(onnx_graph *model, format_error *error)
{
    compiler *c = calloc(1, sizeof *c);
    if (!c)
        format_fail(error, "out of memory");
    else if (onnx_graph_fold(model, error) && graph_import(&c->g, model, error))
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
    if (c)
        graph_free(&c->g);
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
    return reference_run(&c->g, inputs, outputs, NULL, error);
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

bool compiler_emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size,
                   format_error *error)
{
    if (!c->passed)
        pass_fold_pads(&c->g);
    if (!c->passed && (!pass_fold_affine(&c->g, error) || !pass_reorder_depth(&c->g, error) ||
                       !pass_fuse(&c->g, error)))
        return false;
    c->passed = true;
    return lower_graph(&c->g, options, bytes, size, error);
}
