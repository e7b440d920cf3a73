// SPDX-License-Identifier: Apache-2.0
/* Models and plans, for mona inspect. */
#ifndef MONA_INSPECT_H
#define MONA_INSPECT_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "engine/model_format.h"
#include "formats/onnx/onnx_reader.h"
#include "mona.h"

/* "file", "model", "producer", "version", "bytes"; the arrays "inputs", "outputs", "operators",
 * "programs". */
cJSON *describe_model(const char *path, const mona_model *model);

/* Adds "plan" and the arrays "frames" (inputs and outputs with their size) and "buffers" to a
 * document of describe_model. */
void describe_plan(cJSON *document, const mona_plan *plan);

/* The name of an operator's kind. */
const char *describe_op_name(const mona_file_op *op);

/* The vendor's compiled models (formats/om.h): "file", "format", "model", "version", "encrypted",
 * "platform", "bytes"; "soc_version" and "command_line" if the file has them; the arrays
 * "partitions", "attributes", "kernels". NULL: one line was printed. */
cJSON *inspect_om(const char *path);
void inspect_om_print(const cJSON *document);

/* The graphs of models in Graphviz's language, for --dot. False: out of memory. */
bool inspect_graph_mona(FILE *f, const mona_model *model);
bool inspect_graph_onnx(FILE *f, const Onnx__GraphProto *graph);

#endif
