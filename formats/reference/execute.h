// SPDX-License-Identifier: Apache-2.0
/* The reference executor: runs an ONNX graph node by node, in the types that its tensors have, with
 * plain loops that share nothing with the engine. Numbers of every float type are computed as
 * doubles and rounded once to the type of the result. It is the judge of everything else. */
#ifndef MONA_REFERENCE_EXECUTE_H
#define MONA_REFERENCE_EXECUTE_H

#include "formats/onnx/onnx_graph.h"

/* inputs: one for each of g->inputs, of its type; dimensions that the model leaves open are the
 * tensor's. outputs: one for each of g->outputs, released with tensor_free; on failure empty. */
bool reference_execute(const onnx_graph *g, const tensor *inputs, tensor *outputs,
                       format_error *error);

typedef enum reference_result {
    REFERENCE_DONE,
    REFERENCE_UNKNOWN, /* only with shapes_only: the shapes depend on data that is not there */
    REFERENCE_FAILED,
} reference_result;

/* One node; in: one for each of its inputs, NULL where it is left out. out: one for each output.
 * With shapes_only, inputs need no data and outputs get none. */
reference_result reference_node_run(const onnx_graph *g, const onnx_node *node,
                                    const tensor *const *in, bool shapes_only, tensor *out,
                                    format_error *error);

#endif
