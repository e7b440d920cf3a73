// SPDX-License-Identifier: Apache-2.0
/* Lowering of single nodes. Private to lower*.c. */
#ifndef MONA_COMPILER_LOWERING_H
#define MONA_COMPILER_LOWERING_H

#include "formats/mona_writer.h"
#include "formats/compiler/quantize/quantize.h"

enum { HALF_ONE = 0x3c00, MAX_BLOCK = GRAPH_MAX_BLOCK };

typedef struct lowering {
    graph *g;
    const compiler_options *options;
    const value_format *formats; /* of each value */
    uint32_t *tensors;           /* for each value, its tensor in the file, once made */
    mona_writer w;
    format_error *error;
} lowering;

/* Returns an operator with a neutral epilogue, to be filled in. The caller then adds its output
 * tensor, for this value, and the operator itself. */
mona_file_op lower_begin(lowering *l, mona_op_kind kind, const char *name);
/* The same with the name and inputs of a node. */
mona_file_op lower_begin_node(lowering *l, mona_op_kind kind, const graph_node *node);
/* Always returns true. */
bool lower_end(lowering *l, mona_file_op *op, uint32_t value);

/* Adds an array as a tensor of the file and returns its index. */
uint32_t lower_array_tensor(lowering *l, uint32_t value);
/* The tensor of an array that a node computes: an output of the model, or a new one. */
uint32_t lower_result(lowering *l, uint32_t value);

/* Planes of an input, or what node, a CONCAT or SPACE_TO_DEPTH, packs of some. */
bool lower_load(lowering *l, const graph_node *node, uint32_t value);

#endif
