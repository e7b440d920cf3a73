// SPDX-License-Identifier: Apache-2.0
/* What MAX_POOL and AVERAGE_POOL share: their windows. Private to ops/. */
#ifndef MONA_POOL_H
#define MONA_POOL_H

#include "ops/helpers.h"

/* The window of one output along an axis: samples first, first + dilation, ... of the map, `count`
 * of them; and how many the divisor of a mean counts. */
typedef struct pool_span {
    int32_t first, count, divisor;
} pool_span;

/* One call of a pool: its rows, the columns of the source it reads, and, of each output column, its
 * window. */
typedef struct pool_window {
    pool_span rows;
    mona_span columns;
    const pool_span *column; /* [0] is that of the call's first output */
    int64_t step;            /* from one column of a window to the next */
} pool_window;

pool_window mona_pool_window(const mona_row_call *call);
/* Row k < w->rows.count of the window, from column w->columns.begin, of a channel block. */
const uint8_t *mona_pool_row(const mona_row_call *call, const pool_window *w, int64_t k,
                             uint32_t block);
/* Elements of a row of a channel block that the call reads. */
static inline size_t pool_elements(const mona_row_call *call, const pool_window *w)
{
    return (size_t)(w->columns.end - w->columns.begin) * call->bound->input_c0[0];
}

/* mona_op_class functions; check knows the pool by its kind. */
mona_status mona_pool_check(const mona_file_op *op, const mona_shape *inputs,
                            const mona_shape *output, mona_data *data);
mona_status mona_pool_infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output);
mona_span mona_pool_row_span(const mona_bound_op *b, uint32_t i, mona_span out);
mona_span mona_pool_column_span(const mona_bound_op *b, uint32_t i, mona_span out);
size_t mona_pool_constants_bytes(const mona_bound_op *b);
void mona_pool_bind(const mona_bound_op *b);

#endif
