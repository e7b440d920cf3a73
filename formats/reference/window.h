// SPDX-License-Identifier: Apache-2.0
/* Sliding windows of convolutions and pools in one to three dimensions; fewer are led by 1s. */
#ifndef MONA_REFERENCE_WINDOW_H
#define MONA_REFERENCE_WINDOW_H

#include "formats/reference/call.h"

enum { WINDOW_DIMS = 3, WINDOW_MAX = 1 << 24 /* of any of its numbers */ };

typedef struct op_window {
    uint32_t spatial_dims; /* of the tensor; the last so many of the arrays count */
    int64_t in[WINDOW_DIMS], out[WINDOW_DIMS];
    int64_t kernel[WINDOW_DIMS], stride[WINDOW_DIMS], dilation[WINDOW_DIMS];
    int64_t begin[WINDOW_DIMS], end[WINDOW_DIMS]; /* padding */
} op_window;

/* The list of an attribute with one number an axis, in [min, WINDOW_MAX]; fill: without it. */
bool op_window_list(op_call *c, const char *name, uint32_t spatial_dims, int64_t fill, int64_t min,
                    int64_t *out);

/* Reads strides, dilations, pads and auto_pad, and finds the outputs. x is [batch, channels,
 * dims...]; kernel: one number an axis, or NULL: that of kernel_shape. round_up: as ceil_mode. */
bool op_window_read(op_call *c, const tensor *x, const int64_t *kernel, bool round_up,
                    op_window *w);

/* The window of a ConvTranspose: the sizes of its input and result, and what is cut off each side
 * of the result. */
bool op_window_read_transposed(op_call *c, op_window *w);

/* Samples along an axis from the first kernel sample to the last. */
int64_t op_window_extent(const op_window *w, uint32_t axis);

/* [batch, channels, outputs...] */
void op_window_shape(const op_window *w, int64_t batch, int64_t channels, int64_t *dims);

/* Of the kernel positions along an axis at output `at`: those inside of the samples. */
typedef struct window_range {
    int64_t first, last; /* first > last: none */
} window_range;
window_range op_window_inside(const op_window *w, uint32_t axis, int64_t at);

#endif
