// SPDX-License-Identifier: Apache-2.0
/* Models and plans as JSON, for mona inspect. */
#ifndef MONA_DESCRIBE_H
#define MONA_DESCRIBE_H

#include <cjson/cJSON.h>

#include "engine/model_format.h"
#include "mona.h"

/* "file", "model", "producer", "version", "bytes"; the arrays "inputs", "outputs", "operators",
 * "programs". */
cJSON *describe_model(const char *path, const mona_model *model);

/* Adds "plan" and the arrays "frames" (inputs and outputs with their size) and "buffers" to a
 * document of describe_model. */
void describe_plan(cJSON *document, const mona_plan *plan);

/* The name of an operator's kind. */
const char *describe_op_name(const mona_file_op *op);

#endif
