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

#endif
