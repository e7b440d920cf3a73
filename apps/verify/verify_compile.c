// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/verify_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/compiler/compiler.h"
#include "formats/file.h"
#include "formats/reference/execute.h"

typedef struct compilation {
    case_model *model;
    const conformance_set *set;
    const case_way *way;
    onnx_graph graph;
    format_error *reason;
} compilation;

static bool read_graph(compilation *c, const char *folder)
{
    char path[4096];
    uint8_t *bytes;
    size_t size;
    const onnx_read_options options = {.folder = folder};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    const bool read = file_read(path, "an ONNX model", ONNX_MAX_BYTES, &bytes, &size, c->reason);
    const bool ok = read && onnx_graph_read(&c->graph, bytes, size, &options, c->reason);
    if (read)
        free(bytes);
    return ok;
}

/* ---- inputs ------------------------------------------------------------------------------- */

static bool freeze(compilation *c, uint32_t input, const tensor *from)
{
    tensor copy;
    if (!tensor_make(&copy, from->type, from->rank, from->dims))
        return format_fail(c->reason, "out of memory");
    memcpy(copy.data, from->data, tensor_bytes(from));
    onnx_graph_freeze(&c->graph, input, &copy);
    return true;
}

static bool is_live(const compilation *c, const tensor *t)
{
    const bool first = c->way->live != LIVE_FIRST || !c->model->live_count;
    const bool real = c->way->live != LIVE_FLOATS || element_is_float(t->type);
    return t->count && first && real && c->model->live_count < MONA_MAX_IO;
}

static bool freeze_inputs(compilation *c)
{
    uint32_t input = 0;
    if (c->set->input_count != c->graph.input_count)
        return format_fail(c->reason, "the data set does not have the model's inputs");
    for (uint32_t i = 0; i < c->set->input_count; i++)
        if (is_live(c, &c->set->inputs[i])) {
            c->model->live[c->model->live_count++] = i;
            input++;
        } else if (!freeze(c, input, &c->set->inputs[i])) {
            return false;
        }
    return true;
}

/* Inputs get the sizes of the data set. With frames, the first dimension is a batch, and the model
 * gets one frame of it at a time. */
static void set_sizes(compilation *c)
{
    case_model *m = c->model;
    m->frames = c->way->frames ? 0 : 1;
    for (uint32_t i = 0; c->way->frames && i < m->live_count; i++) {
        const tensor *t = &c->set->inputs[m->live[i]];
        const size_t frames = t->rank > 1 ? (size_t)t->dims[0] : 1;
        m->frames = !i || m->frames == frames ? frames : 1;
    }
    for (uint32_t i = 0; i < m->live_count; i++) {
        const tensor *t = &c->set->inputs[m->live[i]];
        for (uint32_t k = 0; k < t->rank && k < c->graph.inputs[i].rank; k++)
            onnx_graph_set_dim(&c->graph, i, k, k || m->frames == 1 ? t->dims[k] : 1);
    }
}

/* ---- what needs no engine ----------------------------------------------------------------- */

static bool same_constant(const compilation *c, const tensor *found, const tensor *expected)
{
    const conformance_tolerance none = {0, 0};
    conformance_difference difference = {0};
    return conformance_compare(found, expected, none, &difference, c->reason) && !difference.wrong;
}

/* Whether every output of the folded model is a constant or has no elements. *same: all are as
 * expected. */
static bool is_constant(const compilation *c, bool *same)
{
    *same = c->graph.output_count == c->set->output_count;
    for (uint32_t i = 0; i < c->graph.output_count; i++) {
        const onnx_value *v = &c->graph.values[c->graph.outputs[i]];
        const bool empty = v->shaped && !v->tensor.count;
        if (!v->tensor.data && !empty)
            return false;
        *same = *same && (empty ? tensor_same_shape(&v->tensor, &c->set->outputs[i])
                                : same_constant(c, &v->tensor, &c->set->outputs[i]));
    }
    return true;
}

/* ---- the model ---------------------------------------------------------------------------- */

static void look_at_nodes(compilation *c)
{
    c->model->nodes = c->graph.node_count;
    for (uint32_t i = 0; i < c->graph.node_count; i++)
        c->model->quantised = c->model->quantised ||
                              strstr(c->graph.nodes[i].op_type, "Quantize") ||
                              !strncmp(c->graph.nodes[i].op_type, "QLinear", 7);
}

static bool emit(compilation *c, compiler *made)
{
    const compiler_options halves = {COMPILER_FLOATS};
    if (c->way->maps && compiler_has_arrays(made))
        return format_fail(c->reason, "needs arrays");
    if (!compiler_emit(made, &halves, &c->model->bytes, &c->model->size, c->reason))
        return false;
    for (unsigned i = 0; i < compiler_input_count(made); i++) {
        const compiler_tensor t = compiler_input(made, i);
        c->model->sizes[i] = (mona_size){t.width, t.height};
    }
    return true;
}

/* Whether frames give the data set's outputs, one after another, as far as sizes tell: a slice of a
 * batch does not. */
static bool gives_outputs(const compilation *c)
{
    bool gives = c->graph.output_count == c->set->output_count;
    for (uint32_t i = 0; gives && i < c->graph.output_count; i++) {
        const onnx_value *v = &c->graph.values[c->graph.outputs[i]];
        gives = !v->shaped || v->tensor.count * c->model->frames == c->set->outputs[i].count;
    }
    return gives || c->model->frames == 1 || format_fail(c->reason, "mixes the images of a batch");
}

static bool compile(compilation *c, const char *folder, bool *constant)
{
    bool same;
    if (!read_graph(c, folder) || !freeze_inputs(c))
        return false;
    set_sizes(c);
    look_at_nodes(c);
    if (!onnx_graph_fold(&c->graph, c->reason))
        return false;
    *constant = is_constant(c, &same);
    if (*constant)
        return same || format_fail(c->reason, "folds to constants other than the data set expects");
    if (!gives_outputs(c))
        return false;
    compiler *made = compiler_open_graph(&c->graph, NULL, c->reason);
    const bool ok = made && emit(c, made);
    compiler_close(made);
    return ok;
}

bool case_compile(case_model *model, const char *folder, const conformance_set *set,
                  const case_way *way, bool *constant, format_error *reason)
{
    compilation c = {.model = model, .set = set, .way = way, .reason = reason};
    *model = (case_model){0};
    *constant = false;
    const bool ok = compile(&c, folder, constant);
    onnx_graph_free(&c.graph);
    if (!ok)
        case_model_free(model);
    return ok;
}

void case_model_free(case_model *model)
{
    free(model->bytes);
    *model = (case_model){0};
}
