// SPDX-License-Identifier: Apache-2.0
/* What elementwise.c, elementwise_instructions.c and elementwise_mixed.c share. Private to ops/. */
#ifndef MONA_OPS_ELEMENTWISE_H
#define MONA_OPS_ELEMENTWISE_H

#include "ops/helpers.h"

/* ADD and MUL as an AI Core program, with the arguments of mona_op_class.some_rows. */
void mona_elementwise_by_instructions(const mona_row_call *calls, uint32_t count);
/* The same where elements of the rows do not agree in number and order. */
void mona_elementwise_mixed(const mona_row_call *calls, uint32_t count);
bool mona_elementwise_mixed_has_program(const mona_bound_op *bound);

#endif
