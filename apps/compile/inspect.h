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

/* mona inspect --firmware: what a network takes on a small CPU, before anything is linked. */

/* Name, target of mona compile, cycles of an instruction: estimates that no chip has confirmed. The
 * order is that of the columns in firmware_costs.inc. */
#define FIRMWARE_CPU_LIST(CPU, OR)                                                                 \
    CPU("cortex-m4", "armv7e-m", 1.3)                                                              \
    OR CPU("cortex-m33", "armv8-m", 1.2) OR CPU("cortex-m7", "armv7e-m", 1.0)                      \
        OR CPU("cortex-m55", "armv8.1-m", 1.8) OR CPU("cortex-a53", "armv8", 1.5)                  \
            OR CPU("cortex-a55", "armv8-dot", 1.5) OR CPU("cortex-a510", "armv8-i8mm", 1.5)        \
                OR CPU("rv32imafc", "c", 1.4) OR CPU("rv64gc", "c", 1.4)                           \
                    OR CPU("rv64gcv", "rv64gcv", 1.5)
#define FIRMWARE_CPU_NAME(name, target, cycles) name
#define FIRMWARE_CPUS FIRMWARE_CPU_LIST(FIRMWARE_CPU_NAME, "|")
#define FIRMWARE_ALL "all"

/* What a board has; 0: it is not asked. */
typedef struct firmware_board {
    const char *flash, *ram, *clock; /* as they were given, "512K" and "400M" */
    double fps;
} firmware_board;

/* Adds "firmware" to the document: an object, or for "all" an array with one of each CPU. name: of
 * the model, for messages. False: one line was printed. */
bool firmware_budget(cJSON *document, const char *name, const mona_model *model, const char *cpu,
                     mona_size size, const firmware_board *board);

/* Prints what it has added. */
void firmware_budget_print(const cJSON *document);

#endif
