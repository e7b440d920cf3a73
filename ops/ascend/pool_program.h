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
    bool mean;
    uint32_t in_c0, out_c0;
    uint32_t in_wide, out_wide;   /* blocks of a column as fp16 */
    uint32_t in_units, out_units; /* blocks of a column as summands or fp16 to compare */
    /* A piece: outputs [x, x + outputs), and channel blocks. */
    uint32_t outputs, in_blocks, out_blocks;
    uint32_t in_columns, out_columns; /* from one channel block to the next, in UB */
    int64_t x, first;                 /* first: the input column in column 0 of UB */
    ac_address stored[2], packed, spread, turned, wide, best, result, half, packed_out, out;
} program;

static inline uint32_t pool_lanes(const program *p)
{
    return p->mean ? FLOAT_LANES : HALF_LANES;
}

/* p->result = for every output the maximum or sum over p->best (pool_columns.c). */
void mona_pool_across(const program *p);

#endif
