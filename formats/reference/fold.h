// SPDX-License-Identifier: Apache-2.0
/* Constant and shape propagation: what does not depend on the contents of inputs is computed before
 * the model is compiled. */
#ifndef MONA_REFERENCE_FOLD_H
#define MONA_REFERENCE_FOLD_H

#include "formats/onnx/onnx_graph.h"

/* Takes out nodes that no output depends on, and those whose results are constant; values get the
 * shapes that the dimensions of the inputs determine. */
bool onnx_graph_fold(onnx_graph *g, format_error *error);

#endif
