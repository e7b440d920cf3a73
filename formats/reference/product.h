// SPDX-License-Identifier: Apache-2.0
/* Matrix products, also used for convolutions. */
#ifndef MONA_REFERENCE_PRODUCT_H
#define MONA_REFERENCE_PRODUCT_H

#include "formats/reference/call.h"

/* Copies part of a row of the second matrix. */
typedef void op_row(const void *context, size_t row, size_t column, size_t count, float *to);
/* Stores elements index .. index + count - 1 of the result, row by row. */
typedef void op_store(void *to, size_t index, const double *sums, size_t count);

/* a [rows][depth] times b [depth][columns], which only `row` knows. */
typedef struct op_product {
    size_t rows, depth, columns;
    const float *a;
    op_row *row;
    const void *context;
    const float *start; /* a number for each row, to which its products are added; NULL: 0 */
    bool exact;         /* integers of at most 8 bits and a sign; else sums are rounded to fp32 */
    op_store *store;
    void *to;
    size_t index; /* of the first element */
} op_product;

/* alpha a b + beta c of a Gemm, of which a and b may be transposed; a b of other products. */
typedef struct op_gemm_form {
    bool turn_a, turn_b;
    float alpha, beta;
} op_gemm_form;
op_gemm_form op_gemm_read(const onnx_node *node);

bool op_multiply(op_call *c, const op_product *p);
/* An op_store of a tensor. */
void op_store_numbers(void *to, size_t index, const double *sums, size_t count);

#endif
