// SPDX-License-Identifier: Apache-2.0
/* Every operator that mona knows: its inputs, how the reference computes it, and which forms of it
 * the engine runs: on maps, which are fast and take frames of any size, or on arrays. An operator
 * without either form is computed at compile time if its inputs are constant, and refused
 * otherwise. The executor and the compiler look operators up here, and mona ops prints the
 * table. */
#ifndef MONA_OPERATORS_H
#define MONA_OPERATORS_H

#include "formats/reference/call.h"

/* Imports a node into the compiler's graph (compiler/import/importer.h). */
struct importer;
typedef bool operator_import(struct importer *im, const onnx_node *node);

enum { OPERATOR_ANY_COUNT = 255 };

typedef struct operator_row {
    const char *name;
    int64_t since;                  /* the operator set that introduced it */
    uint8_t min_inputs, max_inputs; /* OPERATOR_ANY_COUNT: any number */
    uint32_t types;                 /* bit t: input 0 may be of element type t */
    op_function *reference;
    bool whole_tensors;      /* takes more than one pass over its tensors: never folded */
    operator_import *import; /* on maps; NULL: no such form */
    const char *maps;        /* describes that form */
    operator_import *array;  /* on arrays of any rank and fixed size; NULL: no such form */
    const char *arrays;      /* describes that form */
} operator_row;

/* NULL: there is no such operator. */
const operator_row *operator_find(const char *name);
/* In alphabetical order; NULL after the last one. */
const operator_row *operator_at(size_t index);

/* "float32, float16, ..." for a set of types. */
void operator_types(uint32_t types, char *text, size_t size);

#endif
