// SPDX-License-Identifier: Apache-2.0
/* The scales and zero points of quantised tensors. */
#ifndef MONA_REFERENCE_QUANTIZE_H
#define MONA_REFERENCE_QUANTIZE_H

#include "formats/reference/call.h"

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

#endif
