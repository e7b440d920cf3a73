// SPDX-License-Identifier: Apache-2.0
/* Windows, shared by MAX_POOL and AVERAGE_POOL. Private to ops/. */
#ifndef MONA_POOL_H
#define MONA_POOL_H

#include "ops/helpers.h"

/* The window of one output along an axis: `count` samples of the map, at first, first + dilation
 * and so on. divisor: the number of samples that a mean divides by. */
typedef struct pool_span {
    int32_t first, count, divisor;
} pool_span;

/* The input of one call of a pool. */
typedef struct pool_window {
    pool_span rows;          /* rows of the window */
    mona_span columns;       /* columns of the source that any output needs */
    const pool_span *column; /* window of each output column, the call's first in [0] */
    int64_t step;            /* from one column of a window to the next */
} pool_window;

pool_window mona_pool_window(const mona_row_call *call);
/* Row k of the window, 0 <= k < w->rows.count, of a channel block, from column w->columns.begin
 * on. */
const uint8_t *mona_pool_row(const mona_row_call *call, const pool_window *w, int64_t k,
                             uint32_t block);
/* Elements that the call reads of one row of a channel block. */
static inline size_t pool_elements(const mona_row_call *call, const pool_window *w)
{
    return (size_t)(w->columns.end - w->columns.begin) * call->bound->input_c0[0];
}

/* Functions of mona_op_class for both pools. */
mona_status mona_pool_check(const mona_file_op *op, const mona_shape *inputs,
                            const mona_shape *output, mona_data *data);
mona_status mona_pool_infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output);
mona_span mona_pool_row_span(const mona_bound_op *b, uint32_t i, mona_span out);
mona_span mona_pool_column_span(const mona_bound_op *b, uint32_t i, mona_span out);
size_t mona_pool_constants_bytes(const mona_bound_op *b);
void mona_pool_bind(const mona_bound_op *b);
bool mona_pool_reads_maps(const mona_file_op *op);

#endif
