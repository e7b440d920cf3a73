// SPDX-License-Identifier: Apache-2.0
/* What nodes ask for, as their attributes and constants say it. Sides of inputs may be open, -1. */
#ifndef MONA_REFERENCE_FORMS_H
#define MONA_REFERENCE_FORMS_H

#include "formats/onnx/onnx_graph.h"
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

/* The equation of an Einsum, such as bchw,dc->bdhw. */
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

/* What an Attention asks for: queries, keys and values. */
typedef struct op_heads {
    int64_t batch, heads, rows, size; /* rows may be open, -1 */
} op_heads;

typedef struct op_attending {
    op_heads part[3];
    double scale; /* of the products of queries and keys */
} op_attending;

/* Fails if it is more than attention alone: with a mask, earlier keys, or limits. */
bool op_attention_read(op_call *c, op_attending *a);

/* A function of one number. */
typedef struct op_unary_form {
    uint32_t row;        /* of functions.inc */
    bool on_ints;        /* takes integers as they are */
    bool approximate;    /* Gelu by tanh */
    float parameters[2]; /* the attributes of the row */
} op_unary_form;

/* operators.inc names only functions that exist. */
op_unary_form op_unary_read(const onnx_node *node);

#endif
