// SPDX-License-Identifier: Apache-2.0
/* Element by element operations on two tensor rows. Included after a vector type, see
 * vector_rows.h. */
#ifndef AC_VECTOR_ELEMENTWISE_H
#define AC_VECTOR_ELEMENTWISE_H

#include "engine/cpu/c/vector_rows.h"

/* Computes 16 lanes. c0 divides 16, so in a channel block, as a flat array, a lane always has the
 * same channel. */
INLINE vf elementwise_lanes(const ac_elementwise_row *e, vf a, vf b, vf slope)
{
    const ac_epilogue *ep = &e->epilogue;
    const vf sa = vf_half(vf_mul(vf_add(a, vf_set1(-e->zero_a)), vf_set1(e->scale_a)));
    const vf sb = vf_half(vf_mul(vf_add(b, vf_set1(-e->zero_b)), vf_set1(e->scale_b)));
    vf t = vf_half(e->multiply ? vf_mul(sa, sb) : vf_add(sa, sb));
    t = activate(t, ep->activation, ep, slope);
    t = activate(t, ep->activation_after_add, ep, slope);
    t = ep->output_scale != 1 ? vf_half(vf_mul(t, vf_set1(ep->output_scale))) : t;
    return e->zero != 0 ? vf_add(t, vf_set1(e->zero)) : t;
}

/* The pixel of a channel block at p, as often as 16 lanes hold it. */
INLINE vf repeated(const ac_row *row, const uint8_t *p)
{
    float values[LANES];
    if (row->c0 == LANES)
        return vf_from(row->type, p);
    for (uint32_t i = 0; i < LANES; i++)
        values[i] = ac_element(p + i % row->c0 * mona_type_size(row->type), row->type);
    return vf_load(values);
}

static void elementwise_block(const ac_elementwise_row *e, uint32_t block, const float *mask,
                              vf slope)
{
    const uint8_t *a = e->a.data + block * e->a.block_stride;
    const uint8_t *b = e->b.data + block * e->b.block_stride;
    uint8_t *out = e->output.data + block * e->output.block_stride;
    const size_t sa = mona_type_size(e->a.type), sb = mona_type_size(e->b.type);
    const size_t so = mona_type_size(e->output.type), count = (size_t)e->pixels * e->output.c0;
    const vf keep = vf_load(mask), pixel = e->one_pixel_b ? repeated(&e->b, b) : keep;
    for (size_t i = 0; i < count; i += LANES) {
        const uint32_t n = count - i < LANES ? (uint32_t)(count - i) : LANES;
        const vf va =
            n == LANES ? vf_from(e->a.type, a + i * sa) : vf_from_some(e->a.type, a + i * sa, n);
        const vf vb = e->one_pixel_b ? pixel
                      : n == LANES   ? vf_from(e->b.type, b + i * sb)
                                     : vf_from_some(e->b.type, b + i * sb, n);
        const vf t = vf_and(elementwise_lanes(e, va, vb, slope), keep);
        if (n == LANES)
            vf_to(e->output.type, out + i * so, t);
        else
            vf_to_some(e->output.type, out + i * so, t, n);
    }
}

static void elementwise_row(const ac_elementwise_row *e)
{
    const uint32_t c0 = e->output.c0;
    if (e->broadcast_b || c0 > LANES || e->a.c0 != c0 || e->b.c0 != c0) {
        ac_c_elementwise_row(e);
        return;
    }
    const uint32_t filled = e->channels / c0; /* blocks, whose masks are the same */
    float mask[LANES], slope[LANES];
    for (uint32_t block = 0; block * c0 < e->channels; block++) {
        const bool differs = block == 0 || block == filled || e->epilogue.slope;
        for (uint32_t i = 0; i < LANES && differs; i++) {
            const uint32_t c = block * c0 + i % c0;
            mask[i] = ac_float(c < e->channels ? UINT32_MAX : 0);
            slope[i] = e->epilogue.slope && c < e->channels ? e->epilogue.slope[c] : 0;
        }
        elementwise_block(e, block, mask, vf_load(slope));
    }
}

#endif
