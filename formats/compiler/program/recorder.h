// SPDX-License-Identifier: Apache-2.0
/* Records AI Core instructions as a program (engine/aicore/program.h). */
#ifndef MONA_RECORDER_H
#define MONA_RECORDER_H

#include "engine/aicore/program.h"
#include "formats/blocks.h"

/* An instruction or a change of operator, as recorded. Offsets are of its operands, steps of the
 * loops around it. */
typedef struct token {
    uint16_t form;               /* or AC_RECORD_OPERATOR, whose operator is at[0] */
    uint16_t rings[AC_OPERANDS]; /* ring that the operand lies in, counted from 1; 0: none */
    uint32_t at[AC_OPERANDS];
    ac_motion motion;
} token;

typedef struct token_list {
    token *items;
    size_t count, room;
} token_list;

typedef struct recorder recorder;

/* NULL: no memory. */
recorder *recorder_new(void);
void recorder_free(recorder *r);

/* Begins a segment, whose rings and constants these are. */
void recorder_segment(recorder *r, const ac_segment *places, const ac_ring *rings);
/* Later instructions on this core belong to operator op of the model. */
void recorder_operator(recorder *r, uint32_t core, uint32_t op);
/* i: not AC_OP_WORK, which is no instruction. */
void recorder_take(recorder *r, uint32_t core, const ac_instruction *i);

/* The program's bytes, which free() releases. places: a program without instructions, that is, its
 * constants, its buffers and what it takes of L1. NULL: *why says what is in the way. */
void *recorder_finish(recorder *r, const ac_program *places, size_t *size, const char **why);

/* loops.c. Writes the tokens as records, in which what repeats is a loop; `motions` gathers the
 * motions of records. False: no memory. */
typedef struct record_list {
    ac_record *items;
    size_t count, room;
} record_list;
typedef struct motion_list {
    ac_motion *items;
    size_t count, room;
} motion_list;
bool loops_find(const token_list *tokens, const ac_form *forms, const ac_ring *rings,
                record_list *records, motion_list *motions);

#endif
