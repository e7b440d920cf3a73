// SPDX-License-Identifier: Apache-2.0
/* The scaled residual, which the epilogues of all vector instruction sets share. Included after a
 * vector type, see vector_rows.h. */
#ifndef MONA_VECTOR_EPILOGUE_H
#define MONA_VECTOR_EPILOGUE_H

#include "engine/arith.h"
#include "engine/cpu/c/clamps.h"
#include "engine/cpu/c/vector_rows.h"

/* A residual of one channel, which all 16 get. It is scaled 16 pixels at a time. */
static void broadcast_residual(const mona_conv_row *row, uint32_t x, uint32_t count, float *to)
{
    const mona_row *r = &row->residual;
    const vf scale = vf_set1(row->conv->epilogue.residual_scale);
    const uint32_t pixel = r->c0 * (uint32_t)mona_type_size(r->type);
    _Alignas(64) float values[LANES];
    for (uint32_t i = 0; i < count; i++) {
        if (i % LANES == 0) {
            const uint8_t *from = r->data + (size_t)(x + i) * pixel;
            for (uint32_t k = 0; k < LANES && r->c0 > 1; k++)
                values[k] = i + k < count ? mona_element(from + (size_t)k * pixel, r->type) : 0;
            const vf v = r->c0 > 1 ? vf_load(values) : vf_from(r->type, from);
            vf_store(values, vf_half(vf_mul(v, scale)));
        }
        vf_store(to + (size_t)i * AC_FRACTAL, vf_set1(values[i % LANES]));
    }
}

/* Writes the scaled residual of block n and pixels x to x + count - 1 as [count][16] floats. In a
 * smaller channel block, channels beyond it become zero. */
static void prepare_residual(const mona_conv_row *row, uint32_t n, uint32_t x, uint32_t count,
                             float *to)
{
    const mona_row *r = &row->residual;
    const size_t element = mona_type_size(r->type);
    const uint32_t first = n * AC_FRACTAL;
    if (row->conv->epilogue.broadcast) {
        broadcast_residual(row, x, count, to);
        return;
    }
    const uint8_t *from =
        r->data + first / r->c0 * r->block_stride + ((size_t)x * r->c0 + first % r->c0) * element;
    const float scale = row->conv->epilogue.residual_scale;
    const size_t pixel = r->c0 * element;
    /* The common cases: bytes that are not scaled, or not nearly up to fp16's limit. */
    const bool bytes = r->type == MONA_U8 && r->c0 >= AC_FRACTAL;
    for (uint32_t i = 0; i < count && bytes && scale == 1; i++)
        vf_store(to + (size_t)i * AC_FRACTAL, vf_u8(load16(from + i * pixel)));
    if (bytes && scale == 1)
        return;
    if (bytes && scale >= -256 && scale <= 256) {
        for (uint32_t i = 0; i < count; i++)
            vf_store(to + (size_t)i * AC_FRACTAL,
                     vf_round(vf_mul(vf_u8(load16(from + i * pixel)), vf_set1(scale))));
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        vf v = vf_half(vf_mul(vf_from(r->type, from + i * pixel), vf_set1(scale)));
        if (r->c0 < AC_FRACTAL)
            v = vf_first(v, r->c0); /* last: a negative scale would make -0 of the zeros */
        vf_store(to + (size_t)i * AC_FRACTAL, v);
    }
}

/* 16 accumulators as floats: s32, which are scaled, or fp32. */
INLINE vf scaled(const mona_epilogue *e, const int32_t *acc, vf scale)
{
    return e->scale ? vf_mul(vf_from_s32(acc), scale) : vf_load((const float *)(const void *)acc);
}

#endif
