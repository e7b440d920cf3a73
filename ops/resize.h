// SPDX-License-Identifier: Apache-2.0
/* What resize.c and resize_instructions.c share. Private to ops/. */
#ifndef MONA_OPS_RESIZE_H
#define MONA_OPS_RESIZE_H

#include "ops/helpers.h"

/* Taps of each axis: 1, 2 or 4. */
uint32_t mona_resize_taps(const mona_bound_op *bound);
/* First tap of output row y, and the weights of all. */
int64_t mona_resize_row(const mona_bound_op *bound, int64_t y, float weights[4]);
/* Of every output column: the first tap; the weights of all. Bound. */
const int32_t *mona_resize_first(const mona_bound_op *bound);
const float *mona_resize_weights(const mona_bound_op *bound);
/* Input rows or columns, inside the tensor, of output rows or columns `out`. */
mona_span mona_resize_rows(const mona_bound_op *bound, mona_span out);
mona_span mona_resize_columns(const mona_bound_op *bound, mona_span out);

/* RESIZE as an AI Core program, where columns repeat: n output columns further on the same weights
 * meet the input d columns further on. */
void mona_resize_by_instructions(const mona_row_call *calls, uint32_t count);

#endif
