// SPDX-License-Identifier: Apache-2.0
/* A kernel of the application's as operations of an AI Core's vector unit. mona.kernel writes them,
 * mona compile reads them, and ops/ascend/kernel_instructions.c makes instructions of them. */
#ifndef MONA_KERNEL_PROGRAM_H
#define MONA_KERNEL_PROGRAM_H

#include "engine/aicore/opcodes.h"
#include "engine/mona_op.h"

typedef enum mona_kernel_operation {
    MONA_KERNEL_VECTOR, /* + ac_vec2: to = a op b for `value` ones side by side */
    MONA_KERNEL_CONST = MONA_KERNEL_VECTOR + AC_VEC2_COUNT, /* to = the bits `value` */
    MONA_KERNEL_ENTRY,  /* to = entry `value` of table a: bits, or those of an f32 number */
    MONA_KERNEL_WIDTH,  /* to = the grid's, as f32 */
    MONA_KERNEL_HEIGHT, /* the same */
    MONA_KERNEL_ROW,    /* to = the cell's, as f32 */
    MONA_KERNEL_COLUMN, /* the same */
    MONA_KERNEL_SAMPLE, /* the next sample is that of input a at plane, row and column */
    MONA_KERNEL_HALF,   /* to = a, an f32 number, rounded to an f16 number; both are uniform */
    MONA_KERNEL_GATHER, /* to = entry a, an s32 number, of table `value` */
    MONA_KERNEL_SPREAD, /* `value` ones from `to` on, all samples of a cell in rows, are a's */
    MONA_KERNEL_STORE,  /* a plane of the output has the values side by side from a on: bits, or for
                           an 8-bit type f32 numbers, saturated; planes in order, each once */
    MONA_KERNEL_TERM,   /* a sample of the output, at plane, row and column of a cell, is a sum to
                          which sample a is added `value` times, an s32 number */
    MONA_KERNEL_SCALE,  /* and f16(f32(that sum) * a), a an f16 number, is stored as 8 bits */
    MONA_KERNEL_OPERATIONS,
} mona_kernel_operation;

/* `value` of STORE. The sum of HELD + 0x1.8p23 and a number is rounded, and its lower half has the
 * bits of the f16 number 1536 + n, n the rounded number: all of it in [-512, 511], beyond that one
 * that is beyond 8 bits, too, up to 5631 and down to -26112. */
enum { MONA_KERNEL_NUMBERS, MONA_KERNEL_HELD, MONA_KERNEL_HELD_AS = 0x6600 };

/* What is computed for each cell anew is full; uniform, what is the same in all of them. A sample
 * is one of those that SAMPLE names, in order; what is computed may take its place. */
enum { MONA_KERNEL_FULL, MONA_KERNEL_UNIFORM, MONA_KERNEL_SAMPLED };

typedef struct mona_kernel_value {
    uint16_t kind, index;
} mona_kernel_value;

typedef struct mona_kernel_step {
    uint16_t operation;
    uint8_t plane;
    int8_t row, column;
    mona_kernel_value to, a, b; /* a.index: an input of ENTRY and SAMPLE */
    uint32_t value;
} mona_kernel_step;

/* Of one output. full, uniform: how many values there are at a time. count 0: there is none.
 * halves: samples and other values of cells are f16 numbers, not of 32 bits, and the output is of
 * bytes. Each uniform value is of either kind, all over its 32 bytes.
 *
 * in_rows: a bit of each input whose samples stay as they lie, and rows: so do the results. The
 * samples of a plane's cells, or as many values side by side, are then all rows one after the
 * other, which only what is the same for all of them may be computed of: none of these values is
 * that of one sample.
 *
 * sums: what is computed for each cell are the sums of TERM alone, of one input of 8 or 16 bits
 * without a sign. */
typedef struct mona_kernel_program {
    const mona_kernel_step *steps;
    uint32_t count, full, uniform, samples;
    uint32_t in_rows;
    bool halves, rows, sums;
} mona_kernel_program;

#endif
