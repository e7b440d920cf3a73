// SPDX-License-Identifier: Apache-2.0
/* The table of all operators, by mona_op_kind. */
#include "engine/op/op.h"

const mona_op_class *const mona_ops[MONA_OP_COUNT] = {
    [MONA_OP_LOAD] = &mona_op_load,
    [MONA_OP_STORE] = &mona_op_store,
    [MONA_OP_CONV] = &mona_op_conv,
    [MONA_OP_ADD] = &mona_op_add,
    [MONA_OP_MUL] = &mona_op_mul,
    [MONA_OP_RESIZE] = &mona_op_resize,
    [MONA_OP_DEPTH_TO_SPACE] = &mona_op_depth_to_space,
    [MONA_OP_MAX_POOL] = &mona_op_max_pool,
    [MONA_OP_AVERAGE_POOL] = &mona_op_average_pool,
    [MONA_OP_ARRAY_MAP] = &mona_op_array_map,
    [MONA_OP_ARRAY_PICK] = &mona_op_array_pick,
    [MONA_OP_ARRAY_REDUCE] = &mona_op_array_reduce,
    [MONA_OP_ARRAY_MATMUL] = &mona_op_array_matmul,
    [MONA_OP_ARRAY_WINDOW] = &mona_op_array_window,
    [MONA_OP_ARRAY_RESAMPLE] = &mona_op_array_resample,
    [MONA_OP_ARRAY_GATHER] = &mona_op_array_gather,
    [MONA_OP_CONCAT] = &mona_op_concat,
    [MONA_OP_SLICE] = &mona_op_slice,
    [MONA_OP_NORMALISE] = &mona_op_normalise,
    [MONA_OP_ATTENTION] = &mona_op_attention,
    [MONA_OP_ARRAY_SORT] = &mona_op_array_sort,
    [MONA_OP_ARRAY_NORMALISE] = &mona_op_array_normalise,
    [MONA_OP_PAD] = &mona_op_pad,
    [MONA_OP_ARRAY_KERNEL] = &mona_op_array_kernel,
    [MONA_OP_KERNEL] = &mona_op_kernel,
};
