// SPDX-License-Identifier: Apache-2.0
/* Divides, fills and empties the unified buffer for AI Core programs. Private to ops/. */
#ifndef MONA_OPS_UB_H
#define MONA_OPS_UB_H

#include "ops/helpers.h"

/* Maps of so many rows are small. Only in these may a program join rows of a ring: where a ring
 * wraps around it could not, so that strips would differ and the program of a tall frame, in which
 * they are turns of a loop, would grow with its height. */
enum { SMALL_HEIGHT = 128 };

/* What programs divide. Behind it lies the room of the scalar unit. */
static inline uint32_t ub_room(const ac_target *target)
{
    return target->ub_bytes - AC_SCALAR_UB_BYTES;
}

/* The next `bytes` from *at on, rounded up to whole blocks. */
static inline ac_address take(ac_address *at, size_t bytes)
{
    const ac_address taken = *at;
    *at += round_up(bytes, AC_BLOCK);
    return taken;
}

/* Rows `step` bytes apart, the first of them at `at`. */
typedef struct mona_steps {
    ac_address at;
    ptrdiff_t step;
} mona_steps;

/* Blocks of 16 equal numbers of fp16 in UB: 0, and the bounds of CLIP. */
typedef struct mona_bounds {
    ac_address zero, low, high;
} mona_bounds;

mona_bounds mona_take_bounds(ac_address *at);
/* Writes all but 0. */
void mona_fill_bounds(ac_core *core, const mona_bounds *bounds, const mona_epilogue *e);
/* Applies RELU or CLIP to `count` numbers; any other activation leaves them. */
void ac_activate(ac_core *core, const mona_bounds *bounds, uint8_t activation, ac_address at,
                 uint32_t count);

/* Copies `bytes` of each row, a multiple of a block: all rows by one instruction if both sides
 * allow it. */
void mona_copy_rows(ac_core *core, mona_steps to, mona_steps from, uint32_t rows, uint32_t bytes);

/* Brings `bytes` of the operator's constants, a multiple of a block, to `to`, when V has used what
 * was there. V and MTE1 use event 0. */
void mona_bring_constants(ac_core *core, const mona_bound_op *b, ac_address to, size_t bytes);

/* Sets or awaits, before and after all rows, the flags of so many buffers, each with an event of
 * its own: V -> reader, what was brought has been used, and MTE3 -> V, what was made has been
 * stored. */
void mona_flag_buffers(ac_core *core, ac_pipe reader, uint32_t buffers,
                       void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t));

/* Stores rows that V has written to UB, of which V, MTE3 and the scalar unit use event 0: whole
 * blocks by MTE3, the rest by the scalar unit, as padding may follow. If there is a rest, there is
 * a single row. */
void mona_store_rows(ac_core *core, mona_steps to, mona_steps from, uint32_t rows, uint32_t bytes);

#endif
