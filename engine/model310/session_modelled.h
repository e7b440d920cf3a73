// SPDX-License-Identifier: Apache-2.0
/* Sessions on model310, shared by session_modelled.c, session_order.c and session_program.c.
 * Private to engine/. */
#ifndef MONA_SESSION_MODELLED_H
#define MONA_SESSION_MODELLED_H

#include "engine/model310/modelled.h"
#include "engine/run/session.h"

/* In session_order.c: what orders the pipes between operators. left: what an operator has left in
 * them; with STORES, MTE3's writing of planes; with V, as mona_op_program.ends_in_v says. */
enum { MONA_BROUGHT = 3 };

typedef struct mona_brought {
    uint32_t op;      /* copies rows of a map to a ring */
    bool free, there; /* the flags that MTE1 has read the rows, and that they have come, are set */
    bool read_again;  /* since `free` was set, which must not be set twice */
} mona_brought;

typedef struct mona_unit_order {
    enum { MONA_LEFT_NOTHING, MONA_LEFT_STORES, MONA_LEFT_V, MONA_LEFT_ANY } left;
    mona_brought brought[MONA_BROUGHT];
    uint32_t count;
    bool first_tile; /* whose operators load their constants */
} mona_unit_order;

/* Of a unit, and of each of its operators. */
void mona_order_begin(const worker *w, const plan_group *g, mona_unit_order *order);
void mona_order_end(worker *w, mona_unit_order *order);
void mona_order_before(worker *w, uint32_t index, mona_unit_order *order);
void mona_order_after(worker *w, uint32_t index, mona_unit_order *order);

/* In session_program.c: a model's program, and planes for it or for a plan. The planes that cores
 * read and write have rows of whole blocks of 32 bytes, so that blocks are all that is copied. They
 * lie in the arena; copy_planes copies inputs from those of the caller, or outputs to them. */
mona_status mona_program_plan(mona_plan *plan); /* mona_ai_core.plan */
mona_buffer mona_program_planes(const mona_session *s, uint32_t tensor);
/* Points the session at them, instead of at those of the caller. */
void mona_program_see_planes(mona_session *s, mona_buffer planes[2 * MONA_MAX_IO]);
void mona_program_copy_planes(const mona_session *s, bool inputs);
/* Whether the chip's CPUs compute an operator: it is on arrays, and has no program. */
bool mona_program_on_cpus(const mona_plan *plan, uint32_t op);

#endif
