// SPDX-License-Identifier: Apache-2.0
/* Imports ONNX into a graph. */
#ifndef MONA_COMPILER_IMPORT_H
#define MONA_COMPILER_IMPORT_H

#include "formats/onnx/onnx_graph.h"
#include "formats/compiler/graph/graph.h"

/* Whether this input becomes a map: [1, channels, height, width] or fewer dimensions, of floats. */
bool graph_input_is_map(const onnx_input *input);
/* Fills *g, which must be zeroed except for the rules that are off, with everything in the model
 * that its outputs depend on. Constants are decoded; shapes of computed values are known as far as
 * the inputs determine them. What the engine can never run is refused here, with the node's name.
 * On failure *g is empty. */
bool graph_import(graph *g, const onnx_graph *model, format_error *error);

#endif
