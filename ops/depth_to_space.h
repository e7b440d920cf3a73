// SPDX-License-Identifier: Apache-2.0
/* What depth_to_space.c and depth_to_space_instructions.c share. Private to ops/. */
#ifndef MONA_OPS_DEPTH_TO_SPACE_H
#define MONA_OPS_DEPTH_TO_SPACE_H

#include "ops/helpers.h"

/* DEPTH_TO_SPACE as an AI Core program, with the arguments of mona_op_class.some_rows. */
void mona_depth_to_space_by_instructions(const mona_row_call *calls, uint32_t count);

#endif
