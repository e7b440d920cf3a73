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
} reference_row;

/* NULL: there is no such operator. */
const reference_row *reference_find(const char *name);
/* "float32, float16, ..." for a set of types. */
void reference_types(uint32_t types, char *text, size_t size);

/* unary.c */
op_function op_unary;
/* elementwise.c */
op_function op_binary, op_variadic, op_prelu, op_compare, op_where, op_clip;
/* cast.c */
op_function op_cast;
/* conv.c, deconv.c */
op_function op_conv, op_conv_integer, op_qlinear_conv, op_conv_transpose;
/* pool.c */
op_function op_pool, op_global_pool;
/* matmul.c */
op_function op_matmul, op_gemm, op_matmul_integer, op_qlinear_matmul;
/* arrange.c, pick.c */
op_function op_identity, op_if, op_dropout, op_reshape, op_flatten, op_squeeze, op_unsqueeze,
    op_transpose, op_concat, op_expand, op_tile, op_move_depth, op_slice, op_split, op_pad,
    op_gather;
/* make.c */
op_function op_shape, op_size, op_constant_of_shape, op_range;
/* reduce.c */
op_function op_reduce, op_arg, op_softmax;
/* attention.c */
op_function op_attention;
/* normalize.c */
op_function op_batch_norm, op_instance_norm, op_layer_norm, op_group_norm;
/* grid.c */
op_function op_grid_sample;
/* sort.c */
op_function op_top_k;
/* suppress.c */
op_function op_non_max_suppression;
/* resize.c */
op_function op_resize;
/* quantize.c */
op_function op_quantize, op_dequantize, op_dynamic_quantize;

#endif
