// SPDX-License-Identifier: Apache-2.0
/* Every operator mona knows: what it takes, how the reference computes it, and what of it the
 * engine runs: on maps, which is fast and takes frames of any size, or on arrays. Without either
 * form it is computed when the model is compiled, if its inputs are constant, and refused
 * otherwise. The executor and the compiler look operators up here, and mona ops prints it. */
#ifndef MONA_OPERATORS_H
#define MONA_OPERATORS_H

#include "formats/reference/call.h"

/* Brings a node into the compiler's graph (compiler/importer.h). */
struct importer;
typedef bool operator_import(struct importer *im, const onnx_node *node);

enum { OPERATOR_ANY_COUNT = 255 };

typedef struct operator_row {
    const char *name;
    int64_t since;                  /* the first operator set that has it */
    uint8_t min_inputs, max_inputs; /* inputs; OPERATOR_ANY_COUNT: any number */
    uint32_t types;                 /* bit t: input 0 may be of element type t */
    op_function *reference;
    bool whole_tensors;      /* costs more than a pass over its inputs and outputs: never folded */
    operator_import *import; /* on maps; NULL: there is no such form */
    const char *maps;        /* that form */
    operator_import *array;  /* on arrays of any rank and fixed size; NULL: there is no such form */
    const char *arrays;      /* that form */
} operator_row;

/* NULL: there is no such operator. */
const operator_row *operator_find(const char *name);
/* In alphabetical order; NULL past the last. */
const operator_row *operator_at(size_t index);

/* "float32, float16, ..." of a set of types. */
void operator_types(uint32_t types, char *text, size_t size);

#endif
