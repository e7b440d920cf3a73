// SPDX-License-Identifier: Apache-2.0
/* ONNX -> graph. */
#ifndef MONA_COMPILER_IMPORT_H
#define MONA_COMPILER_IMPORT_H

#include "formats/onnx/onnx_graph.h"
#include "formats/compiler/graph.h"

/* Fills *g, which starts zeroed but for rules that are off, with everything of the model that its
 * outputs depend on; constants are decoded, shapes of computed values known as far as the inputs
 * give them. What the engine could never run is refused here, by node. On failure *g is empty. */
bool graph_import(graph *g, const onnx_graph *model, format_error *error);

#endif
