// SPDX-License-Identifier: Apache-2.0
/* The operators of the reference executor: their table and their functions, some shared by similar
 * operators. */
#ifndef MONA_REFERENCE_OPERATORS_H
#define MONA_REFERENCE_OPERATORS_H

#include "formats/reference/call.h"

enum { OPERATOR_ANY_COUNT = 255 };

typedef struct reference_row { /* columns of operators.inc */
    const char *name;
    int64_t since;
    uint8_t min_inputs, max_inputs; /* OPERATOR_ANY_COUNT: any number */
    uint32_t types;                 /* bit t: input 0 may be of element type t */
    op_function *function;
    bool whole_tensors;
    const char *attributes; /* names, with spaces between */
} reference_row;

/* NULL: there is no such operator. */
const reference_row *reference_find(const char *name);
/* Whether an attribute of the node is none of its operator's, or of another kind; text says which,
 * to follow the node's name. */
bool reference_attribute_fault(const reference_row *row, const onnx_node *node, char *text,
                               size_t size);
/* Runs a kernel of the user's own, which has code; fills out like an operator's function. */
bool reference_kernel(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                      tensor *out, format_error *error);
/* "float32, float16, ..." for a set of types. */
void reference_types(uint32_t types, char *text, size_t size);

/* The functions of all operators. */
#define ROW(name, since, min, max, types, function, whole, map, maps, array, arrays, attributes,   \
            images, integers, code)                                                                \
    op_function op_##function;
#include "formats/operators.inc"
#undef ROW

#endif
