// SPDX-License-Identifier: Apache-2.0
/* Shared by resize.c and its AI Core program. Private to ops/. */
#ifndef MONA_OPS_RESIZE_H
#define MONA_OPS_RESIZE_H

#include "ops/helpers.h"

/* Taps along each axis: 1, 2 or 4. */
uint32_t mona_resize_taps(const mona_bound_op *bound);
/* The first tap of output row y; sets the weights of all its taps. */
int64_t mona_resize_source(const mona_bound_op *bound, int64_t y, float weights[4]);
/* The first tap of every output column, and the weights of all its taps. bound: after bind(). */
const int32_t *mona_resize_first(const mona_bound_op *bound);
const float *mona_resize_weights(const mona_bound_op *bound);
/* The input rows or columns, inside the tensor, that output rows or columns `out` need. */
mona_span mona_resize_sources(const mona_bound_op *bound, mona_span out);
mona_span mona_resize_columns(const mona_bound_op *bound, mona_span out);

#endif
