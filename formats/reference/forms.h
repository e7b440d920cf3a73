// SPDX-License-Identifier: Apache-2.0
/* What nodes ask for, as their attributes and constants say it. Sides of inputs may be open, -1. */
#ifndef MONA_REFERENCE_FORMS_H
#define MONA_REFERENCE_FORMS_H

#include "formats/onnx/onnx_graph.h"
#include "formats/reference/call.h"

/* Of each axis: what a Slice takes, in which negative bounds count from the end. */
typedef struct op_taken {
    int64_t start, end, step;
} op_taken;
/* taken: TENSOR_MAX_RANK of them; of axes that are not named all is taken. */
bool op_slice_read(op_call *c, op_taken *taken);

/* The bounds of what is taken of a dimension. */
typedef struct op_span {
    int64_t first, step, count;
} op_span;
op_span op_taken_of(const op_taken *t, int64_t dim);

typedef enum op_pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP } op_pad_mode;
typedef struct op_padding {
    op_pad_mode mode;
    int64_t begin[TENSOR_MAX_RANK], end[TENSOR_MAX_RANK];
} op_padding;
bool op_pad_read(op_call *c, op_padding *p);

/* The axis and the sizes of a Split's parts. sizes: room for one for each output. */
bool op_split_read(op_call *c, uint32_t *axis, int64_t *sizes);

/* The axes of a MeanVarianceNormalization, as a mask. */
bool op_mean_variance_axes(op_call *c, uint32_t *mask);

/* The equation of an Einsum, such as bchw,dc->bdhw. */
enum { EINSUM_LABELS = 3 * TENSOR_MAX_RANK }; /* of two operands and the result */

/* Labels are numbered: those of the result first, in its order, then those that are summed over. */
typedef struct op_equation {
    uint32_t operands, rank, labels; /* rank: of the result */
    char letters[EINSUM_LABELS];
    int64_t dims[EINSUM_LABELS];
    int axis[2][EINSUM_LABELS]; /* of the operand; -1: it does not have the label */
} op_equation;

/* Reads it for the operands' shapes. */
bool op_equation_read(op_call *c, op_equation *e);

/* What an Attention asks for: queries, keys and values. */
typedef struct op_heads {
    int64_t batch, heads, rows, size; /* rows may be open, -1 */
} op_heads;

typedef struct op_attending {
    op_heads part[3];
    double scale; /* of the products of queries and keys */
} op_attending;

/* Fails if it is more than attention alone: with a mask, earlier keys, or limits. */
bool op_attention_read(op_call *c, op_attending *a);

/* A function of one number. */
typedef struct op_unary_form {
    uint32_t row;        /* of functions.inc */
    bool on_ints;        /* takes integers as they are */
    bool approximate;    /* Gelu by tanh */
    float parameters[2]; /* the attributes of the row */
} op_unary_form;

/* operators.inc names only functions that exist. */
op_unary_form op_unary_read(const onnx_node *node);

/* The scales and zero points of quantised tensors. */

/* One scale for all, one for each index of an axis, or one for each block along it. */
typedef struct op_scales {
    const tensor *scale, *zero; /* zero: NULL for none */
    tensor_dims dims;
    size_t blocks, block; /* along the axis */
    bool blocked;
} op_scales;

/* Reads them from inputs 1 and 2, for input 0. */
bool op_scales_read(op_call *c, op_scales *s);
/* The index of the scale of element i. */
size_t op_scale_at(const op_scales *s, size_t i);

/* ---- QLinearConv, QLinearMatMul and the ...Integer operators ---- */
/* Input i minus its zero point, input `zero` (left out: 0), as floats with integer values. There is
 * one zero point for all, or one for each index of the first axis. NULL: failed. */
const float *requantize_centred(op_call *c, uint32_t i, uint32_t zero);

/* out = (sum + bias) * (x scale * w scale / y scale) + y zero point, rounded to nearest, halves to
 * even. */
typedef struct requantize {
    const tensor *x_scale, *w_scale, *y_scale, *y_zero;
    bool per_channel;         /* w_scale has one number per channel */
    const tensor *bias;       /* one number per channel; NULL: none */
    size_t channels, samples; /* each channel has this many after each other */
    tensor *out;
} requantize;

/* Scales and zero points are the node's inputs 1, 4, 6 and 7. */
bool requantize_read(op_call *c, size_t channels, requantize *r);
/* An op_store (product.h) of a requantize. */
void requantize_store(void *to, size_t index, const double *sums, size_t count);

/* The attributes of a Resize, and the weights of each output sample along one axis. */

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
