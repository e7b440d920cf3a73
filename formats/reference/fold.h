// SPDX-License-Identifier: Apache-2.0
/* Constant and shape propagation: computes everything that does not depend on the contents of
 * inputs before the model is compiled. */
#ifndef MONA_REFERENCE_FOLD_H
#define MONA_REFERENCE_FOLD_H

#include "formats/onnx/onnx_graph.h"

/* Removes nodes that no output depends on and those whose results are constant; sets the shapes
 * that the inputs' dimensions determine. */
bool onnx_graph_fold(onnx_graph *g, format_error *error);

#endif
