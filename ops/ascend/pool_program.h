// SPDX-License-Identifier: Apache-2.0
/* The AI Core program of a pool: what pool_instructions.c, which explains it, and pool_columns.c
 * share. Private to ops/. */
#ifndef MONA_OPS_POOL_PROGRAM_H
#define MONA_OPS_POOL_PROGRAM_H

#include "ops/ascend/pixels.h"
#include "ops/ascend/ub.h"
#include "ops/pool.h"

typedef struct program {
    const mona_bound_op *bound;
    ac_core *core;
    bool mean, two_parts; /* two_parts: what a sum in fp32 has lost is summed in `low` */
    uint32_t in_c0, out_c0;
    uint32_t in_wide, out_wide;   /* blocks of a column as fp16 */
    uint32_t in_units, out_units; /* blocks of a column as summands or fp16 to compare */
    /* A piece: outputs [x, x + outputs), and channel blocks. */
    uint32_t outputs, in_blocks, out_blocks;
    uint32_t in_columns, out_columns; /* from one channel block to the next, in UB */
    uint32_t most_columns;            /* of a window at a time, a multiple of AC_BLOCK */
    int64_t x, first, end;            /* input columns [first, end) are in UB */
    ac_address stored[2], packed, spread, turned, wide, best, result, low, error, half, packed_out,
        out;
} program;

static inline uint32_t pool_lanes(const program *p)
{
    return p->mean ? FLOAT_LANES : HALF_LANES;
}

/* In pool_columns.c:
 *   across  combines p->result, for every output, with the maximum or sum over p->best
 *   join    adds p->low to p->result */
void mona_pool_across(const program *p);
void mona_pool_join(const program *p);

#endif
