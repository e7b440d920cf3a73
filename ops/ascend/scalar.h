// SPDX-License-Identifier: Apache-2.0
/* What the scalar unit does for AI Core programs. It loads and stores nothing in global memory:
 * blocks of 32 bytes of that are copied to UB, where it works, and back. Nobody else may write to
 * these blocks meanwhile: rows of planes and maps share none. Private to ops/. */
#ifndef MONA_OPS_SCALAR_H
#define MONA_OPS_SCALAR_H

#include "ops/helpers.h"

/* ac_move and ac_fill with operands anywhere. Operands in global memory go through the room behind
 * what programs divide (ub.h), and all pipes are empty afterwards. */
void mona_scalar_move(ac_core *core, ac_address to, ac_address from, ac_move m);
void mona_scalar_fill(ac_core *core, ac_address to, ac_fill f);

/* The same for a program that keeps nothing in UB: through all of it, so that a row takes few
 * copies. */
void mona_scalar_move_through(ac_core *core, ac_address to, ac_address from, ac_move m);

/* Copies bytes, for where a copy of whole blocks would write too many. */
static inline void mona_scalar_copy(ac_core *core, ac_address to, ac_address from, uint32_t bytes)
{
    mona_scalar_move(core, to, from, (ac_move){bytes, 1, 1, 1});
}

/* Writes zeros to what fills up the last channel block of a row of `channels` channels. */
void mona_scalar_fill_up(ac_core *core, const mona_row_at *row, uint32_t channels, uint32_t pixels);

/* Writes a word of 2 bytes, again and again, to what lies behind the first `bytes` bytes of a block
 * of 32 bytes of UB, in `rows` rows `step` bytes apart, a multiple of 32. V does it, with a block
 * of the scalar unit's room. */
void mona_fill_tails(ac_core *core, ac_address block, uint32_t bytes, uint32_t rows, size_t step,
                     uint16_t word);

#endif
