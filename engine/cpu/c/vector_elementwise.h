// SPDX-License-Identifier: Apache-2.0
/* Element by element operations on two tensor rows. Included after a vector type, see
 * vector_rows.h. */
#ifndef MONA_VECTOR_ELEMENTWISE_H
#define MONA_VECTOR_ELEMENTWISE_H

#include "engine/cpu/c/vector_rows.h"

/* Computes 16 lanes. c0 divides 16, so in a channel block, as a flat array, a lane always has the
 * same channel. */
INLINE vf elementwise_lanes(const mona_elementwise_row *e, vf a, vf b, vf slope)
{
    const mona_epilogue *ep = &e->epilogue;
    const vf sa = vf_half(vf_mul(vf_add(a, vf_set1(-e->zero_a)), vf_set1(e->scale_a)));
    const vf sb = vf_half(vf_mul(vf_add(b, vf_set1(-e->zero_b)), vf_set1(e->scale_b)));
    vf t = vf_half(e->multiply ? vf_mul(sa, sb) : vf_add(sa, sb));
    t = activate(t, ep->activation, ep, slope);
    t = activate(t, ep->activation_after_add, ep, slope);
    t = ep->output_scale != 1 ? vf_half(vf_mul(t, vf_set1(ep->output_scale))) : t;
    return e->zero != 0 ? vf_add(t, vf_set1(e->zero)) : t;
}

/* The pixel of a channel block at p, as often as 16 lanes hold it. */
INLINE vf repeated(const mona_row *row, const uint8_t *p)
{
    float values[LANES];
    if (row->c0 == LANES)
        return vf_from(row->type, p);
    for (uint32_t i = 0; i < LANES; i++)
        values[i] = mona_element(p + i % row->c0 * mona_type_size(row->type), row->type);
    return vf_load(values);
}

/* A tame row takes fewer steps. Its operands are fp16 values as they are, or bytes whose multiples
 * of the scale are 0 or normal fp16 values, below 65504. If the result is fp16, so are both, and it
 * is rounded once. Else it becomes an integer, with an output scale of 2^-7 to 2^12: a sum or
 * product from 65504 on is at least 511 then and saturates, one below 2^-14 is at most 1/4 and
 * becomes 0. */
static bool is_tame(const mona_elementwise_row *e)
{
    const mona_epilogue *ep = &e->epilogue;
    const bool halves[2] = {e->a.type == MONA_F16, e->b.type == MONA_F16};
    const float scales[2] = {e->scale_a, e->scale_b};
    bool tame =
        ep->activation <= MONA_ACT_RELU && ep->activation_after_add != MONA_ACT_CLIP &&
        (e->output.type == MONA_F16 ? halves[0] && halves[1] && ep->output_scale == 1
                                    : ep->output_scale >= 0x1p-7f && ep->output_scale <= 0x1p12f);
    for (int i = 0; i < 2 && tame; i++)
        tame = halves[i] ? scales[i] == 1 : scales[i] >= 0x1p-14f && scales[i] <= 256;
    return tame;
}

INLINE vf tame_operand(mona_type type, vf v, vf less_zero, factor scale)
{
    if (type == MONA_F16)
        return v;
    return times_11_bits(type == MONA_U8 ? vf_add(v, less_zero) : v, scale);
}

/* Computes `count` elements of a tame row, a multiple of 16. pixel: b's, if it has only one. */
INLINE void tame_elements(const mona_elementwise_row *e, const mona_type ta, const mona_type tb,
                          const mona_type to, const uint8_t *a, const uint8_t *b, uint8_t *out,
                          size_t count, vf pixel)
{
    const mona_epilogue *ep = &e->epilogue;
    const size_t sa = mona_type_size(ta), sb = mona_type_size(tb), so = mona_type_size(to);
    const vf zero_a = vf_set1(-e->zero_a), zero_b = vf_set1(-e->zero_b), zero = vf_set1(e->zero);
    const factor scale_a = factor_of(e->scale_a), scale_b = factor_of(e->scale_b);
    const factor output_scale = factor_of(ep->output_scale);
    const bool relu = ep->activation == MONA_ACT_RELU || ep->activation_after_add == MONA_ACT_RELU;
    const float high = to == MONA_U8 ? 255 : to == MONA_S8 ? 127 : 65504;
    const float low = relu ? e->zero : to == MONA_U8 ? 0 : to == MONA_S8 ? -128 : -65504;
    const bool multiply = e->multiply, one = e->one_pixel_b, rescale = ep->output_scale != 1;
    pixel = tame_operand(tb, pixel, zero_b, scale_b);
    for (size_t i = 0; i < count; i += LANES) {
        const vf x = tame_operand(ta, vf_from(ta, a + i * sa), zero_a, scale_a);
        const vf y = one ? pixel : tame_operand(tb, vf_from(tb, b + i * sb), zero_b, scale_b);
        vf t = multiply ? vf_mul(x, y) : vf_add(x, y);
        if (to == MONA_F16) {
            vf_to_f16(out + i * so, vf_clamp(t, low, high));
            continue;
        }
        t = round_11_bits(t);
        t = rescale ? times_11_bits(t, output_scale) : t;
        t = to == MONA_U8 ? vf_add(t, zero) : t;
        store16(out + i * so, vf_to_bytes(vf_clamp(t, low, high)));
    }
}

static void elementwise_block(const mona_elementwise_row *e, uint32_t block, vf slope)
{
    const uint8_t *a = e->a.data + block * e->a.block_stride;
    const uint8_t *b = e->b.data + block * e->b.block_stride;
    uint8_t *out = e->output.data + block * e->output.block_stride;
    const size_t sa = mona_type_size(e->a.type), sb = mona_type_size(e->b.type);
    const size_t so = mona_type_size(e->output.type), count = (size_t)e->pixels * e->output.c0;
    const vf pixel = e->one_pixel_b ? repeated(&e->b, b) : slope;
    size_t i = is_tame(e) ? count / LANES * LANES : 0;
    const mona_type type = e->a.type == e->b.type ? e->output.type : MONA_U16;
    if (e->a.type != type) /* types that the compiler knows are faster */
        tame_elements(e, e->a.type, e->b.type, e->output.type, a, b, out, i, pixel);
    else if (type == MONA_U8)
        tame_elements(e, MONA_U8, MONA_U8, MONA_U8, a, b, out, i, pixel);
    else if (type == MONA_S8)
        tame_elements(e, MONA_S8, MONA_S8, MONA_S8, a, b, out, i, pixel);
    else
        tame_elements(e, MONA_F16, MONA_F16, MONA_F16, a, b, out, i, pixel);
    for (; i < count; i += LANES) {
        const uint32_t n = count - i < LANES ? (uint32_t)(count - i) : LANES;
        const vf va =
            n == LANES ? vf_from(e->a.type, a + i * sa) : vf_from_some(e->a.type, a + i * sa, n);
        const vf vb = e->one_pixel_b ? pixel
                      : n == LANES   ? vf_from(e->b.type, b + i * sb)
                                     : vf_from_some(e->b.type, b + i * sb, n);
        const vf t = elementwise_lanes(e, va, vb, slope);
        if (n == LANES)
            vf_to(e->output.type, out + i * so, t);
        else
            vf_to_some(e->output.type, out + i * so, t, n);
    }
}

static void elementwise_row(const mona_elementwise_row *e)
{
    const uint32_t c0 = e->output.c0;
    if (e->broadcast_b || c0 > LANES || e->a.c0 != c0 || e->b.c0 != c0) {
        mona_c_elementwise_row(e);
        return;
    }
    float slope[LANES] = {0};
    for (uint32_t block = 0; block * c0 < e->channels; block++) {
        for (uint32_t i = 0; i < LANES && e->epilogue.slope; i++) {
            const uint32_t c = block * c0 + i % c0;
            slope[i] = c < e->channels ? e->epilogue.slope[c] : 0;
        }
        elementwise_block(e, block, vf_load(slope));
    }
    mona_fill_up(&e->output, e->channels, e->pixels);
}

#endif
