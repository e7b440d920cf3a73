// SPDX-License-Identifier: Apache-2.0
/* The attributes of a Resize, and the weights of each output sample along one axis. */
#ifndef MONA_REFERENCE_RESIZE_H
#define MONA_REFERENCE_RESIZE_H

#include "formats/reference/call.h"

enum { RESIZE_MAX_TAPS = 1 << 16 };

typedef struct op_resizing {
    bool cubic, linear; /* else nearest */
    const char *coordinates, *nearest;
    bool antialias, exclude_outside, crop;
    bool sized; /* to given sizes, not by scales */
    double a, extrapolation;
    double scale[TENSOR_MAX_RANK][2];                  /* a ratio */
    double from[TENSOR_MAX_RANK], to[TENSOR_MAX_RANK]; /* region of interest, 0 to 1 */
    int64_t out[TENSOR_MAX_RANK];
} op_resizing;

/* Sides that are open, -1, are resized by scales alone. */
bool op_resize_read(op_call *c, op_resizing *r);
/* Whether x is unchanged along this axis. */
bool op_resize_keeps(const op_resizing *r, const tensor *x, uint32_t axis);

typedef struct op_resize_axis {
    const op_resizing *r;
    double scale[2], from, to;
    int64_t in, out;
    int64_t first; /* position of the first tap, relative to the sample left of the coordinate */
    size_t taps;   /* more than RESIZE_MAX_TAPS is refused */
} op_resize_axis;
op_resize_axis op_resize_along(const op_resizing *r, const tensor *x, uint32_t axis);

/* Positions and weights of the taps of output sample i. False: it lies outside the region. */
bool op_resize_taps(const op_resize_axis *s, int64_t i, int64_t *places, double *weights);

#endif
