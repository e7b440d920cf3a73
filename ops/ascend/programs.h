// SPDX-License-Identifier: Apache-2.0
/* The operators as AI Core programs: the functions of mona_op_program. Row kernels give the same
 * bits. */
#ifndef MONA_OPS_PROGRAMS_H
#define MONA_OPS_PROGRAMS_H

#include "engine/op/programs.h"
#include "ops/helpers.h"

/* LOAD: `dense` is for tensors whose rows are rows of one plane. */
void mona_load_program(const mona_row_call *calls, uint32_t count);
bool mona_load_is_dense(const mona_bound_op *bound);
void mona_load_dense(const mona_row_call *calls, uint32_t count);

/* STORE. */
void mona_store_program(const mona_row_call *calls, uint32_t count);

void mona_conv_program(const mona_row_call *calls, uint32_t count);
uint32_t mona_conv_together(const mona_bound_op *bound);
bool mona_conv_stores(const mona_bound_op *bound);
size_t mona_conv_program_tables(const mona_bound_op *bound);
size_t mona_conv_program_constants(const mona_bound_op *bound);
void mona_conv_program_bind(const mona_bound_op *bound, void *constants);

/* ADD and MUL. */
void mona_elementwise_program(const mona_row_call *calls, uint32_t count);
const char *mona_elementwise_program_missing(const mona_bound_op *bound);

/* RESIZE: by copies to the nearest; phase by phase for scales at which columns repeat, so that the
 * weights of an output column apply again n output columns further on, to the input d columns
 * further on; else column by column. */
void mona_resize_program(const mona_row_call *calls, uint32_t count);
void mona_resize_columns_program(const mona_row_call *calls, uint32_t count);
bool mona_resize_is_nearest(const mona_bound_op *bound);
void mona_resize_nearest_program(const mona_row_call *calls, uint32_t count);

/* NORMALISE. */
void mona_normalise_program(const mona_row_call *calls, uint32_t count);
const char *mona_normalise_program_missing(const mona_bound_op *bound);
size_t mona_normalise_program_constants(const mona_bound_op *bound);
void mona_normalise_program_bind(const mona_bound_op *bound, void *constants);

/* ATTENTION. */
void mona_attention_program(const mona_row_call *calls, uint32_t count);
const char *mona_attention_program_missing(const mona_bound_op *bound);
size_t mona_attention_program_constants(const mona_bound_op *bound);
void mona_attention_program_bind(const mona_bound_op *bound, void *constants);

/* MAX_POOL and AVERAGE_POOL. */
void mona_pool_program(const mona_row_call *calls, uint32_t count);

void mona_depth_to_space_program(const mona_row_call *calls, uint32_t count);

/* CONCAT and SLICE. In lanes: the parts of these inputs, a bit each, if all rows lie at blocks. */
void mona_channels_program(const mona_row_call *calls, uint32_t count);
bool mona_channels_are_blocks(const mona_bound_op *bound);
bool mona_channels_lie_at_blocks(const mona_row_call *call, uint32_t parts);
void mona_channels_in_lanes(const mona_row_call *calls, uint32_t count, uint32_t parts);

void mona_pad_program(const mona_row_call *calls, uint32_t count);

/* ARRAY_KERNEL: from the steps that came with the kernel (engine/op/kernel_program.h). */
const char *mona_kernel_program_missing(const mona_bound_op *bound);
void mona_kernel_emit(const mona_array_places *call);
size_t mona_kernel_l1_bytes(const mona_bound_op *bound);

#endif
