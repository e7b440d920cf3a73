// SPDX-License-Identifier: Apache-2.0
#include "formats/reference/execute.h"

#include <stdlib.h>
#include <string.h>

#include "formats/reference/operators.h"

/* Limit on the elements of all folded results together, so that the cost of a model stays in
 * proportion to its file. */
enum { MAX_FOLDED = 1 << 26 };

typedef struct folding {
    onnx_graph *g;
    size_t left; /* until MAX_FOLDED is reached */
    const tensor **in;
    tensor *out;
    format_error *error;
} folding;

/* ---- dead code ---------------------------------------------------------------------------- */

static bool remove_unused(onnx_graph *g)
{
    bool *used = calloc(g->value_count + 1, sizeof *used);
    bool *keep = calloc(g->node_count + 1, sizeof *keep);
    for (uint32_t i = 0; used && keep && i < g->output_count; i++)
        used[g->outputs[i]] = true;
    for (uint32_t i = g->node_count; used && keep && i-- > 0;) {
        const onnx_node *node = &g->nodes[i];
        for (uint32_t k = 0; k < node->output_count; k++)
            keep[i] = keep[i] || (node->outputs[k] != ONNX_NONE && used[node->outputs[k]]);
        for (uint32_t k = 0; keep[i] && k < node->input_count; k++)
            if (node->inputs[k] != ONNX_NONE)
                used[node->inputs[k]] = true;
    }
    if (used && keep)
        onnx_graph_keep(g, keep);
    const bool ok = used && keep;
    free(used);
    free(keep);
    return ok;
}

/* ---- constants and shapes ----------------------------------------------------------------- */

typedef enum known { KNOWN_NOTHING, KNOWN_SHAPES, KNOWN_DATA } known;

/* The knowledge about all inputs of a node. */
static known read_inputs(folding *f, const onnx_node *node)
{
    known all = KNOWN_DATA;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const onnx_value *v = node->inputs[i] == ONNX_NONE ? NULL : &f->g->values[node->inputs[i]];
        f->in[i] = v ? &v->tensor : NULL;
        if (v && !v->shaped)
            return KNOWN_NOTHING;
        if (v && !v->tensor.data)
            all = KNOWN_SHAPES;
    }
    return all;
}

/* Whether the operator needs only shapes. */
static bool reads_shapes(const onnx_node *node)
{
    return !strcmp(node->op_type, "Shape") || !strcmp(node->op_type, "Size");
}

static void take_results(folding *f, const onnx_node *node)
{
    for (uint32_t i = 0; i < node->output_count; i++)
        if (node->outputs[i] != ONNX_NONE)
            onnx_value_set(f->g, node->outputs[i], &f->out[i]);
        else
            tensor_free(&f->out[i]);
}

/* Records the integers of a dequantised constant, so that the compiler can use them as weights
 * unchanged. */
static void note_dequantised(onnx_graph *g, const onnx_node *node)
{
    if (strcmp(node->op_type, "DequantizeLinear") || node->outputs[0] == ONNX_NONE)
        return;
    onnx_value *v = &g->values[node->outputs[0]];
    v->dequantised = node->inputs;
    v->dequantised_count = node->input_count;
    v->dequantised_axis = onnx_int(node, "axis", 1);
}

/* *folded: the node's results are now constants. */
static bool fold_node(folding *f, const onnx_node *node, bool *folded)
{
    const reference_row *row = reference_find(node->op_type);
    const mona_kernel *kernel = row ? NULL : onnx_kernel_of(f->g, node);
    const known all = row || kernel ? read_inputs(f, node) : KNOWN_NOTHING;
    *folded = false;
    if (all == KNOWN_NOTHING)
        return true;
    if (kernel) {
        memset(f->out, 0, node->output_count * sizeof *f->out);
        if (!onnx_kernel_shapes(kernel, node, f->in, f->out, f->error))
            return false;
        take_results(f, node);
        return true;
    }
    reference_result result = reference_node_run(f->g, node, f->in, true, f->out, f->error);
    if (result != REFERENCE_DONE)
        return result == REFERENCE_UNKNOWN;
    size_t count = 0;
    for (uint32_t i = 0; i < node->output_count; i++)
        count += f->out[i].count;
    for (uint32_t i = 0; i < node->input_count; i++)
        count += f->in[i] && f->in[i]->data ? f->in[i]->count : 0;
    *folded = (all == KNOWN_DATA || reads_shapes(node)) && !row->whole_tensors && count <= f->left;
    if (*folded) {
        f->left -= count;
        result = reference_node_run(f->g, node, f->in, false, f->out, f->error);
    }
    if (result == REFERENCE_DONE)
        take_results(f, node);
    if (result == REFERENCE_DONE && *folded)
        note_dequantised(f->g, node);
    return result == REFERENCE_DONE;
}

static const tensor *data_of(const void *context, uint32_t value)
{
    return &((const onnx_graph *)context)->values[value].tensor;
}

/* Makes an If whose condition is known the branch's result under another name. */
static void choose(const onnx_graph *g, onnx_node *node)
{
    const tensor *t = strcmp(node->op_type, "If") ? NULL : &g->values[node->inputs[0]].tensor;
    if (!t || !t->data || t->count != 1)
        return;
    node->op_type = "Identity";
    node->inputs[0] = node->inputs[tensor_int(t, 0) ? 1 : 2];
    node->input_count = 1;
}

static bool fold_all(folding *f)
{
    onnx_graph *g = f->g;
    bool *keep = calloc(g->node_count + 1, sizeof *keep), ok = keep;
    for (uint32_t i = 0; ok && i < g->node_count; i++) {
        bool folded = onnx_is_left_out(&g->nodes[i], data_of, g);
        choose(g, &g->nodes[i]);
        ok = folded || fold_node(f, &g->nodes[i], &folded);
        keep[i] = !folded;
    }
    if (ok)
        onnx_graph_keep(g, keep);
    else if (!keep)
        format_fail(f->error, "out of memory");
    free(keep);
    return ok;
}

bool onnx_graph_fold(onnx_graph *g, format_error *error)
{
    folding f = {.g = g, .left = MAX_FOLDED, .error = error};
    const uint32_t max = onnx_graph_arguments(g);
    f.in = calloc(max, sizeof *f.in);
    f.out = calloc(max, sizeof *f.out);
    const bool ok = f.in && f.out && remove_unused(g) ? fold_all(&f) && remove_unused(g)
                                                      : format_fail(error, "out of memory");
    free(f.in);
    free(f.out);
    return ok;
}
