// SPDX-License-Identifier: Apache-2.0
/* What a device asks of AI Core programs; ops/ascend has them. */
#ifndef MONA_OP_PROGRAMS_H
#define MONA_OP_PROGRAMS_H

#include "engine/op/op.h"

extern const mona_op_program mona_programs[MONA_OP_COUNT]; /* by mona_op_kind */

/* How many of these STOREs of one tensor, counted from the first, one call may run
 * (mona_row_call.stores); at least 1. */
uint32_t mona_store_together(const mona_bound_op *const *stores, uint32_t count);

/* Fills the part of UB from which mona_padding_rows copies. padding: what mona_padding() gives. */
void mona_padding_fill(ac_core *core, uint64_t padding);

/* Writes it to the same piece of `rows` rows of a ring. */
void mona_padding_rows(ac_core *core, ac_address at, size_t bytes, uint32_t rows, size_t row_bytes,
                       uint64_t padding);

#endif
