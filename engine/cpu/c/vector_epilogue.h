// SPDX-License-Identifier: Apache-2.0
/* The epilogue of convolutions by way of memory, for all vector instruction sets. Included after a
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
INLINE vf scaled(bool whole, const int32_t *acc, vf scale)
{
    return whole ? vf_mul(vf_from_s32(acc), scale) : vf_load((const float *)(const void *)acc);
}

INLINE vf apply(clamp c, vf v)
{
    return vf_clamp(v, c.low, c.high);
}

/* Of an epilogue that consists of clamps and an output scale: all but the rounding and saturation
 * of the result. For bytes a subnormal of fp16 may not be rounded before it is scaled: the result
 * is 0 anyway. */
INLINE vf clamped(const mona_epilogue *e, const clamps *limits, const bool half, vf t,
                  const float *residual)
{
    t = apply(limits->stage[0], t);
    if (limits->add)
        t = apply(limits->stage[1], vf_add(vf_round(t), vf_load(residual)));
    if (e->output_scale != 1)
        t = vf_mul(half ? vf_round(t) : round_11_bits(t), vf_set1(e->output_scale));
    return t;
}

/* Applies such an epilogue. half: the type is F16. */
INLINE void finish_quickly(const mona_epilogue *e, uint32_t channel, const clamps *limits,
                           mona_type type, const bool half, uint32_t count, const int32_t *acc,
                           const float *residual, uint8_t *out)
{
    const size_t pixel = half ? AC_FRACTAL * 2 : AC_FRACTAL;
    const bool whole = e->scale;
    const vf scale = whole ? vf_load(e->scale + channel) : vf_set1(1);
    uint32_t i = 0;
    for (; FOUR_PAY && !half && i + 4 <= count;
         i += 4, acc += 4 * AC_FRACTAL, residual += 4 * AC_FRACTAL) {
        vf v[4];
        UNROLL
        for (uint32_t k = 0; k < 4; k++)
            v[k] = clamped(e, limits, half, scaled(whole, acc + k * AC_FRACTAL, scale),
                           residual + k * AC_FRACTAL);
        vf_half_to_four(type, out + i * pixel, v);
    }
    for (; i < count; i++, acc += AC_FRACTAL, residual += AC_FRACTAL)
        vf_half_to(type, out + i * pixel,
                   clamped(e, limits, half, scaled(whole, acc, scale), residual));
}

static void finish_slowly(const mona_epilogue *e, uint32_t channel, mona_type type, uint32_t count,
                          const int32_t *acc, const float *residual, uint8_t *out)
{
    const size_t pixel_size = AC_FRACTAL * mona_type_size(type);
    const bool whole = e->scale;
    const vf scale = whole ? vf_load(e->scale + channel) : vf_set1(1);
    const vf slope = e->slope ? vf_load(e->slope + channel) : vf_set1(0);
    const vf output_scale = vf_set1(e->output_scale);
    for (uint32_t i = 0; i < count; i++, acc += AC_FRACTAL, out += pixel_size) {
        vf t = vf_half(scaled(whole, acc, scale));
        t = activate(t, e->activation, e, slope);
        if (e->add)
            t = vf_half(vf_add(t, vf_load(residual + (size_t)i * AC_FRACTAL)));
        t = activate(t, e->activation_after_add, e, slope);
        if (e->output_scale != 1)
            t = vf_half(vf_mul(t, output_scale));
        vf_to(type, out, t);
    }
}

/* Applies the epilogue to `count` pixels of block n. acc: their [count][16] accumulators, s32 or
 * fp32. residual: theirs, prepared, if there is one. */
static void finish_pixels(const mona_conv_row *row, const clamps *limits, uint32_t n,
                          uint32_t count, const int32_t *acc, const float *residual, uint8_t *out)
{
    const mona_epilogue *e = &row->conv->epilogue;
    const uint32_t channel = n * AC_FRACTAL;
    const mona_type type = row->output.type;
    const float most = type == MONA_F16 ? 65504 : 0x1p13f; /* which makes 1/2 of 2^-14 */
    if (!limits->before_scale || e->output_scale > most || e->output_scale < -most)
        finish_slowly(e, channel, type, count, acc, residual, out);
    else if (type == MONA_F16)
        finish_quickly(e, channel, limits, type, true, count, acc, residual, out);
    else
        finish_quickly(e, channel, limits, type, false, count, acc, residual, out);
}

#endif
