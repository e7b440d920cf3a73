// SPDX-License-Identifier: Apache-2.0
/* Windows over 1 to 3 axes, shared by convolutions and pools on arrays. Private to ops/. */
#ifndef MONA_OPS_ARRAY_WINDOW_H
#define MONA_OPS_ARRAY_WINDOW_H

#include "ops/arrays/arrays.h"

/* The number of inputs, outputs or taps, of all axes together. They are counted in C order. */
uint32_t mona_window_inputs(const mona_array_window *w);
uint32_t mona_window_outputs(const mona_array_window *w);
uint32_t mona_window_taps(const mona_array_window *w);

/* The indices along the axes of output `i` or of tap `i`. */
typedef enum window_side { WINDOW_OUT, WINDOW_TAP } window_side;
void mona_window_indices(const mona_array_window *w, window_side side, uint32_t i,
                         uint32_t index[3]);

/* Reads what tap `tap` reads for outputs [first, first + count), in the plane that begins at
 * element `plane` of operand 0. Samples outside the plane are `outside`. to: float or int64_t, by
 * the window's arithmetic. */
void mona_window_samples(const mona_array_call *call, uint64_t plane, uint32_t tap, uint32_t first,
                         uint32_t count, array_number outside, void *to);

/* The parts of the operator for CONV and for pools. */
void mona_window_conv(const mona_array_call *call);
uint64_t mona_window_conv_items(const mona_bound_op *b);
void mona_window_pool(const mona_array_call *call);
uint64_t mona_window_pool_items(const mona_bound_op *b);

#endif
