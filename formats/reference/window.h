// SPDX-License-Identifier: Apache-2.0
/* Sliding windows of convolutions and pools in one to three dimensions; with fewer than three, the
 * first ones are 1. */
#ifndef MONA_REFERENCE_WINDOW_H
#define MONA_REFERENCE_WINDOW_H

#include "formats/reference/call.h"

enum { WINDOW_DIMS = 3, WINDOW_MAX = 1 << 24 /* limit of each of its numbers */ };

typedef struct op_window {
    uint32_t spatial_dims; /* of the tensor: only the last ones of the arrays below are used */
    int64_t in[WINDOW_DIMS], out[WINDOW_DIMS];
    int64_t kernel[WINDOW_DIMS], stride[WINDOW_DIMS], dilation[WINDOW_DIMS];
    int64_t begin[WINDOW_DIMS], end[WINDOW_DIMS]; /* padding */
    /* Of a pool: a last window may be incomplete, padding counts in a mean, and positions of maxima
     * are counted column by column. */
    bool round_up, counts_padding, by_columns;
} op_window;

/* A convolution of input 0, [batch, channels, dims...], and the window of its weights. */
typedef struct op_convolution {
    op_window w;
    int64_t batch, inputs, outputs, groups;
} op_convolution;

/* Reads an attribute with one number per axis, in [min, WINDOW_MAX]; fill: used if it is absent. */
bool op_window_list(op_call *c, const char *name, uint32_t spatial_dims, int64_t fill, int64_t min,
                    int64_t *out);

/* Reads strides, dilations, pads and auto_pad, and computes the number of outputs. x is [batch,
 * channels, dims...]; dims that are open, -1, have open outputs. kernel: one number per axis;
 * NULL: a pool, whose kernel_shape and other attributes are read. */
bool op_window_read(op_call *c, const tensor *x, const int64_t *kernel, op_window *w);

/* With the weights of input i: [outputs, inputs / groups, kernel...]. */
bool op_convolution_read(op_call *c, uint32_t i, op_convolution *v);
/* A ConvTranspose, whose weights are [inputs, outputs / groups, kernel...]: the sizes of its input
 * and result, and how much is cut off at each side of the result. */
bool op_convolution_read_transposed(op_call *c, op_convolution *v);

/* Samples along an axis from the first position of the kernel to the last. */
int64_t op_window_extent(const op_window *w, uint32_t axis);

/* [batch, channels, outputs...] */
void op_window_shape(const op_window *w, int64_t batch, int64_t channels, int64_t *dims);

/* The positions of the kernel along an axis that lie inside the samples, for output `at`. */
typedef struct window_range {
    int64_t first, last; /* first > last: none */
} window_range;
window_range op_window_inside(const op_window *w, uint32_t axis, int64_t at);

#endif
