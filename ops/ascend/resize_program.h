// SPDX-License-Identifier: Apache-2.0
/* The AI Core program that computes some output rows of a RESIZE, shared by resize_instructions.c,
 * which explains it, and resize_sums.c. Private to ops/. */
#ifndef MONA_OPS_RESIZE_PROGRAM_H
#define MONA_OPS_RESIZE_PROGRAM_H

#include "ops/ascend/lanes.h"
#include "ops/ascend/ub.h"
#include "ops/resize.h"

enum {
    HALO = 16,      /* columns on either side of a segment: a block of fp16 */
    BEFORE = 32,    /* columns in UB before column 0 of a row */
    ALIGNED = 32,   /* pieces begin at multiples of this many periods, rows at multiples of this
                       many columns */
    MAX_RATIO = 15, /* largest n and largest d */
};

typedef struct program {
    const mona_row_call *calls;
    const mona_bound_op *bound;
    ac_core *core;
    uint32_t rows, taps, n, d;  /* R output rows; the scale across is n / d */
    uint32_t segments, periods; /* Q segments of a piece, and periods of each */
    int64_t first_row;          /* first of the input rows that the calls need */
    uint32_t in_rows;           /* number of these input rows */
    int64_t period;             /* first period of the piece */
    int32_t lowest, highest;    /* columns read before a segment, and after it */
    size_t in_pitch, out_pitch; /* pixels from one row to the next in UB */
    mona_lanes in_lanes, out_lanes;
    ac_address in, samples, blocks;                               /* as stored */
    ac_address wide, columns, made, unused;                       /* fp16 */
    ac_address lane_weights, weights, tap, down, product, across; /* fp32 */
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
    ac_emit_sync(p->core, from, to, 0);
}

/* Row and segment of a lane. Lanes that no segment needs repeat the last one. */
static inline uint32_t row_of_lane(const program *p, uint32_t lane)
{
    return lane % p->rows;
}

static inline uint32_t segment_of_lane(const program *p, uint32_t lane)
{
    return lane / p->rows < p->segments ? lane / p->rows : p->segments - 1;
}

/* In resize_sums.c:
 *   bring_weights  writes the weight of every lane for each tap down, repeated four times
 *   down           sums over taps down: from rows of fp16 to columns in p->down, `lowest` first
 *   across         sums over taps across: from p->down to rows in p->wide */
void mona_resize_bring_weights(const program *p);
void mona_resize_down(const program *p, ac_address rows);
void mona_resize_across(const program *p);

#endif
