// SPDX-License-Identifier: Apache-2.0
/* The equation of an Einsum, such as bchw,dc->bdhw. */
#ifndef MONA_REFERENCE_EINSUM_H
#define MONA_REFERENCE_EINSUM_H

#include "formats/reference/call.h"

enum { EINSUM_LABELS = 3 * TENSOR_MAX_RANK }; /* of two operands and the result */

/* Labels are numbered: those of the result first, in its order, then those that are summed over. */
typedef struct op_equation {
    uint32_t operands, rank, labels; /* rank: of the result */
    char letters[EINSUM_LABELS];
    int64_t dims[EINSUM_LABELS];
    int axis[2][EINSUM_LABELS]; /* of the operand; -1: it does not have the label */
} op_equation;

/* Reads it for the operands' shapes. */
bool op_equation_read(op_call *c, op_equation *e);

#endif
