// SPDX-License-Identifier: Apache-2.0
/* Normalisation of the channels of each pixel. Included after a vector type, see vector_rows.h. */
#ifndef AC_VECTOR_NORMALISE_H
#define AC_VECTOR_NORMALISE_H

#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/vector_rows.h"

INLINE float sum_of_lanes(vf v)
{
    float sums[LANES];
    vf_store(sums, v);
    return ac_sum_of(sums);
}

/* Pixel x; keep: a mask of the channels in the last block. */
INLINE void normalise_pixel(const ac_normalise_row *n, const mona_type type, uint32_t x, vf keep)
{
    const uint32_t last = (n->channels - 1) / LANES;
    const size_t stride = n->source.block_stride, to = mona_type_size(n->output.type);
    const uint8_t *from = n->source.data + (size_t)x * LANES * mona_type_size(type);
    uint8_t *out = n->output.data + (size_t)x * LANES * to;
    const float part = 1 / (float)n->channels;
    vf sums = vf_set1(0), squares = sums;
    for (uint32_t b = 0; b < last; b++)
        sums = vf_add(sums, vf_from(type, from + b * stride));
    const vf rest = vf_from(type, from + last * stride);
    const vf mean = vf_set1(sum_of_lanes(vf_add(sums, vf_and(rest, keep))) * part);
    for (uint32_t b = 0; b < last; b++) {
        const vf d = vf_sub(vf_from(type, from + b * stride), mean);
        squares = vf_add(squares, vf_mul(d, d));
    }
    const vf d = vf_and(vf_sub(rest, mean), keep);
    squares = vf_add(squares, vf_mul(d, d));
    const vf r = vf_set1(ac_inverse_root(sum_of_lanes(squares) * part + n->epsilon));
    for (uint32_t b = 0; b <= last; b++) {
        const vf normal = vf_mul(vf_sub(vf_from(type, from + b * stride), mean), r);
        const vf t =
            vf_add(vf_mul(normal, vf_load(n->gain + b * LANES)), vf_load(n->shift + b * LANES));
        vf_to(n->output.type, out + b * n->output.block_stride, vf_half(t));
    }
}

INLINE void normalise_pixels(const ac_normalise_row *n, const mona_type type)
{
    float mask[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        mask[i] = ac_float(i <= (n->channels - 1) % LANES ? UINT32_MAX : 0);
    const vf keep = vf_load(mask);
    for (uint32_t x = 0; x < n->pixels; x++)
        normalise_pixel(n, type, x, keep);
}

static void normalise_row(const ac_normalise_row *n)
{
    if (n->source.c0 != LANES || n->output.c0 != LANES)
        ac_c_normalise_row(n);
    else if (n->source.type == MONA_U8)
        normalise_pixels(n, MONA_U8);
    else if (n->source.type == MONA_S8)
        normalise_pixels(n, MONA_S8);
    else
        normalise_pixels(n, MONA_F16);
}

#endif
