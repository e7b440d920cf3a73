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
    uint16_t rings[AC_OPERANDS]; /* of the program, counted from 1, that operands lie in; 0: none */
    uint32_t at[AC_OPERANDS];
    ac_motion motion;
} token;

/* Items of one type, which free() releases. */
typedef struct item_list {
    void *items;
    size_t count, room;
} item_list;

typedef struct recorder recorder;

/* NULL: no memory. */
recorder *recorder_new(void);
void recorder_free(recorder *r);

/* The first parameters are recorders, so that these are members of mona_program_recorder
 * (engine/model310/modelled.h). Begins a segment, whose constants these are. */
void recorder_segment(void *recorder, const ac_segment *places);
/* One of the segment's rings. */
void recorder_ring(void *recorder, ac_ring ring);
void recorder_take(void *recorder, uint32_t core, const ac_instruction *i);

/* 1 + an operator that has no program, but took AC_OP_WORK; 0: all have one. */
uint32_t recorder_without(const recorder *r);

/* The program's bytes, which free() releases. places: a program without instructions, that is, its
 * constants, its buffers and what it takes of L1. NULL: *why says what is in the way. */
void *recorder_finish(recorder *r, const ac_program *places, size_t *size, const char **why);

/* Adds an item; or returns the index of an equal one, which is added if there is none. False,
 * UINT16_MAX: no memory, or too many. */
bool list_add(item_list *l, const void *item, size_t bytes);
uint16_t list_index(item_list *l, const void *item, size_t bytes);

/* loops.c. Writes the tokens as records, in which what repeats is a loop; `motions` gathers the
 * motions of records. rings: of the program. False: no memory. */
bool loops_find(const item_list *tokens, const ac_form *forms, const ac_ring *rings,
                item_list *records, item_list *motions);

#endif
