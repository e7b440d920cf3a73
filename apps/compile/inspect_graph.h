// SPDX-License-Identifier: Apache-2.0
/* The graphs of models, for mona inspect --svg. */
#ifndef MONA_INSPECT_GRAPH_H
#define MONA_INSPECT_GRAPH_H

#include "apps/plot/drawing.h"
#include "formats/onnx/onnx_reader.h"
#include "mona.h"

/* Fills *d, which is released with drawing_free. */
void inspect_graph_mona(drawing *d, const mona_model *model);
void inspect_graph_onnx(drawing *d, const Onnx__GraphProto *graph);

#endif
