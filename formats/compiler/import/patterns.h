// SPDX-License-Identifier: Apache-2.0
/* Activations that exporters write as several operators. */
#ifndef MONA_COMPILER_PATTERNS_H
#define MONA_COMPILER_PATTERNS_H

#include "formats/onnx/onnx_graph.h"

/* Replaces products x * gate(x) by Swish, HardSwish, Mish and Gelu. What they were made of remains
 * until the graph is folded. False: out of memory. */
bool patterns_find(onnx_graph *g);

#endif
