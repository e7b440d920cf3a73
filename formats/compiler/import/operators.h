// SPDX-License-Identifier: Apache-2.0
/* Which forms of each operator the engine runs: on maps, which are fast and take frames of any
 * size, or on arrays. An operator without either form is computed at compile time if its inputs are
 * constant, and refused otherwise. mona ops prints the table. */
#ifndef MONA_COMPILER_OPERATORS_H
#define MONA_COMPILER_OPERATORS_H

#include "formats/compiler/import/unbatch.h"

/* Imports a node into the compiler's graph (importer.h). */
struct importer;
typedef bool operator_import(struct importer *im);

/* What a map of integers, which stand for other numbers, is to an operator. */
typedef enum operator_integers {
    INTEGERS_none,
    INTEGERS_keeps, /* passes them on as they are */
    INTEGERS_reads, /* a quantised operator */
    INTEGERS_makes, /* another quantised operator, which does not read them on maps */
    INTEGERS_casts, /* reads those that stand for themselves */
} operator_integers;

typedef struct operator_row { /* columns of operators.inc */
    const char *name;
    bool whole_tensors;
    operator_import *import; /* on maps; NULL: no such form */
    const char *maps;        /* describes that form */
    operator_import *array;  /* on arrays; NULL: no such form */
    const char *arrays;
    images_rule *images; /* NULL: may mix the images of a batch */
    operator_integers integers;
    uint32_t code; /* a mona_array_function, mona_reduction and so on; MONA_NONE: none */
} operator_row;

/* Any kernel of the user's own (onnx_kernels.c). */
extern const operator_row operator_kernel;

/* NULL: there is no such operator. */
const operator_row *operator_find(const char *name);
/* In alphabetical order; NULL after the last one. */
const operator_row *operator_at(size_t index);

#endif
