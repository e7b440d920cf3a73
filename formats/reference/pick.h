// SPDX-License-Identifier: Apache-2.0
/* What operators that select elements ask for. Sides of input 0 may be open, -1. */
#ifndef MONA_REFERENCE_PICK_H
#define MONA_REFERENCE_PICK_H

#include "formats/reference/call.h"

/* Of each axis: what a Slice takes, in which negative bounds count from the end. */
typedef struct op_taken {
    int64_t start, end, step;
} op_taken;
/* taken: TENSOR_MAX_RANK of them; of axes that are not named all is taken. */
bool op_slice_read(op_call *c, op_taken *taken);

/* The bounds of what is taken of a dimension. */
typedef struct op_span {
    int64_t first, step, count;
} op_span;
op_span op_taken_of(const op_taken *t, int64_t dim);

typedef enum op_pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP } op_pad_mode;
typedef struct op_padding {
    op_pad_mode mode;
    int64_t begin[TENSOR_MAX_RANK], end[TENSOR_MAX_RANK];
} op_padding;
bool op_pad_read(op_call *c, op_padding *p);

/* The axis and the sizes of a Split's parts. sizes: room for one for each output. */
bool op_split_read(op_call *c, uint32_t *axis, int64_t *sizes);

#endif
