// SPDX-License-Identifier: Apache-2.0
/* The reference executor: runs an ONNX graph node by node, in the types of its tensors, with plain
 * loops that share nothing with the engine. Numbers of all float types are computed as doubles and
 * rounded once to the type of the result; the sums of products of floats are fp32. All other
 * execution is judged against it. */
#ifndef MONA_REFERENCE_EXECUTE_H
#define MONA_REFERENCE_EXECUTE_H

#include "formats/onnx/onnx_graph.h"

/* Called with every input and every value that something reads, once it is computed. Returning
 * false stops the run; then error must be set. */
typedef struct tensor_observer {
    bool (*see)(void *context, uint32_t value, const tensor *t, format_error *error);
    void *context;
} tensor_observer;

/* inputs: one for each of g->inputs, of the same type; it determines dimensions that the model
 * leaves open. outputs: one for each of g->outputs; release them with tensor_free. On failure they
 * are empty. observer may be NULL. */
bool reference_execute(const onnx_graph *g, const tensor *inputs, tensor *outputs,
                       const tensor_observer *observer, format_error *error);

/* Constant and shape propagation: removes nodes that no output depends on and those whose results
 * are constant; sets the shapes that the inputs' dimensions determine. */
bool onnx_graph_fold(onnx_graph *g, format_error *error);

typedef enum reference_result {
    REFERENCE_DONE,
    REFERENCE_UNKNOWN, /* only with shapes_only: the shapes depend on data that is missing */
    REFERENCE_FAILED,
} reference_result;

/* Runs one node. in: one for each of its inputs, NULL if left out. out: one for each output. With
 * shapes_only, inputs need no data and outputs get none. */
reference_result reference_node_run(const onnx_graph *g, const onnx_node *node,
                                    const tensor *const *in, bool shapes_only, tensor *out,
                                    format_error *error);

#endif
