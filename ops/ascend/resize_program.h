// SPDX-License-Identifier: Apache-2.0
/* What resize_instructions.c and resize_sums.c share: the program of some output rows of a RESIZE.
 * Private to ops/. */
#ifndef MONA_OPS_RESIZE_PROGRAM_H
#define MONA_OPS_RESIZE_PROGRAM_H

#include "ops/arrays/lanes.h"
#include "ops/resize.h"

enum {
    HALO = 16,    /* columns: a block of fp16 */
    BEFORE = 32,  /* columns in UB before a row's column 0 */
    ALIGNED = 32, /* pieces and rows begin at multiples of so many columns, or periods */
    MAX_RATIO = 15,
};

typedef struct program {
    const mona_row_call *calls;
    const mona_bound_op *bound;
    ac_core *core;
    const ac_isa *isa;
    uint32_t rows, taps, n, d;
    uint32_t segments, periods; /* Q, and of each */
    int64_t first_row;          /* of the input rows that any call wants, */
    uint32_t in_rows;           /* and how many they are */
    int64_t period;             /* the piece's first */
    int32_t lowest, highest;    /* columns that are read before a segment, and after it */
    size_t in_pitch, out_pitch; /* pixels from row to row */
    mona_lanes in_lanes, out_lanes;
    uint8_t *in, *samples, *blocks;
    uint16_t *wide, *columns, *made, *unused;
    float *lane_weights, *weights, *tap, *down, *product, *across;
} program;

static inline uint32_t element(const program *p)
{
    return (uint32_t)mona_type_size(p->bound->output.type);
}

static inline size_t columns_of(const program *p)
{
    return p->periods * p->d + 2 * HALO;
}

static inline void sync(const program *p, ac_pipe from, ac_pipe to)
{
    p->isa->set_flag(p->core, from, to, AC_EVENT0);
    p->isa->wait_flag(p->core, from, to, AC_EVENT0);
}

/* Lanes that are no segment's repeat the last. */
static inline uint32_t row_of_lane(const program *p, uint32_t lane)
{
    return lane % p->rows;
}

static inline uint32_t segment_of_lane(const program *p, uint32_t lane)
{
    return lane / p->rows < p->segments ? lane / p->rows : p->segments - 1;
}

/* resize_sums.c. weights: for every lane of each tap down, four times over. down: columns lowest ..
 * of every lane, from rows of fp16, to p->down. across: from there to rows of p->wide. */
void mona_resize_bring_weights(const program *p);
void mona_resize_down(const program *p, const uint16_t *rows);
void mona_resize_across(const program *p);

#endif
