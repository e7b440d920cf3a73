// SPDX-License-Identifier: Apache-2.0
/* The graphs of models in Graphviz's language, for mona inspect --dot. */
#ifndef MONA_INSPECT_GRAPH_H
#define MONA_INSPECT_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "formats/onnx/onnx_reader.h"
#include "mona.h"

/* False: out of memory. */
bool inspect_graph_mona(FILE *f, const mona_model *model);
bool inspect_graph_onnx(FILE *f, const Onnx__GraphProto *graph);

#endif
