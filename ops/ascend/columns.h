// SPDX-License-Identifier: Apache-2.0
/* Pieces of rows in UB whose columns are blocks, which programs combine column by column: pools,
 * and resizes whose columns do not repeat. Private to ops/.
 *
 * A piece is a run of outputs of some rows, in as many channel blocks as UB holds. In UB every
 * column of a channel block is one or two blocks of 16 fp16 values; pixels of fewer than 16
 * channels are spread to blocks (pixels.h). So the columns that outputs need are blocks at a
 * stride. Summands in fp32 take twice as many blocks. */
#ifndef MONA_OPS_COLUMNS_H
#define MONA_OPS_COLUMNS_H

#include "ops/ascend/pixels.h"
#include "ops/ascend/ub.h"

typedef struct mona_columns mona_columns;
struct mona_columns {
    const mona_bound_op *bound;
    ac_core *core;
    ac_pipe reader; /* of rows: MTE1 from L1, MTE2 from global memory */
    /* Columns of the input that p->outputs outputs side by side need at most. */
    uint32_t (*reach)(const mona_columns *p);
    /* Combines blocks of the input, at strides b, with results, at those of dst. */
    void (*combine)(const mona_columns *p, ac_address result, ac_address best, ac_vector v);
    float weight;    /* that it multiplies by, in resizes */
    bool floats;     /* columns are combined in fp32, else in fp16 */
    bool two_parts;  /* of sums in fp32: spare[0] is the sum of what they have lost */
    uint32_t spares; /* buffers of the size of `result` that the program needs besides */
    uint32_t rows;   /* output rows of a piece: channel blocks of `best` and `result` are those of
                        the first row, then those of the next */
    uint32_t in_c0, out_c0;
    uint32_t in_wide, out_wide;   /* blocks of a column as fp16 */
    uint32_t in_units, out_units; /* blocks of a column as combined */
    /* A piece: outputs [x, x + outputs), and channel blocks. */
    uint32_t outputs, in_blocks, out_blocks;
    uint32_t in_columns, out_columns; /* from one channel block to the next, in UB */
    uint32_t most_columns;            /* of the input at a time, a multiple of AC_BLOCK */
    int64_t x, first, end;            /* input columns [first, end) are in UB */
    ac_address stored[2], packed, spread, turned, wide, best, result, spare[2], half, packed_out,
        out;
};

static inline uint32_t mona_columns_lanes(const mona_columns *p)
{
    return p->floats ? FLOAT_LANES : HALF_LANES;
}

mona_columns mona_columns_of(const mona_bound_op *bound, bool floats);
/* Input columns begin at one that lies at a block of 32 bytes; these are the columns of a block. */
uint32_t mona_columns_aligned(const mona_columns *p);
void mona_columns_set_reach(mona_columns *p, uint32_t reach);
/* Chooses the largest pieces that fit, of at most p->outputs outputs, and lays out UB for them.
 * Returns the channels of a piece; 0: so many rows do not fit. One row always fits. */
uint32_t mona_columns_choose(mona_columns *p);
/* Writes zeros to what is read before it is written. */
void mona_columns_clear(const mona_columns *p);
/* Works on `rows` times the calls of p->rows output rows, piece by piece, of `channels` channels.
 * Flags between pieces: V -> reader of either row in UB, and MTE3 -> V. */
typedef void mona_columns_work(mona_columns *p, const mona_row_call *calls, uint32_t channel);
void mona_columns_pieces(mona_columns *p, const mona_row_call *calls, uint32_t rows,
                         uint32_t channels, mona_columns_work *work);
/* Copies the piece's columns of a row to p->stored[e], from its column `first` at `from` on. */
void mona_columns_bring(const mona_columns *p, ac_address from, size_t block_stride, uint32_t e);
/* A row in p->stored[e] with every column in blocks of fp16. */
ac_address mona_columns_widen(const mona_columns *p, uint32_t e);
/* Converts p->result, in place of which p->half holds fp16 after sums in fp32, to the stored
 * type. */
void mona_columns_narrow(const mona_columns *p);
/* Stores row `row` of the piece from channel block `block` on. */
void mona_columns_store(const mona_columns *p, const mona_row_call *call, uint32_t row,
                        uint32_t block);

/* Columns of a piece: results to, to + to_step, ..., `count` of them, are combined, in all rows and
 * channel blocks, with columns from, from + from_step, ... of p->best. */
typedef struct mona_columns_run {
    uint32_t to, to_step, from, from_step, count;
} mona_columns_run;
void mona_columns_combine(const mona_columns *p, ac_address results, const mona_columns_run *run);

/* In pool_columns.c:
 *   across  combines p->result, for every output, with the maximum or sum over p->best
 *   combine p->combine
 *   join    adds what was lost to p->result */
void mona_pool_across(const mona_columns *p);
void mona_pool_combine(const mona_columns *p, ac_address result, ac_address best, ac_vector v);
void mona_pool_join(const mona_columns *p);

#endif
