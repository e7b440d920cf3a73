// SPDX-License-Identifier: Apache-2.0
/* Row kernels one element at a time, exactly as cpu.h defines them: what checkops compares the
 * kernels of every instruction set with. Convolutions are compared with the AI Core program
 * instead. */
#include "engine/cpu/c/epilogue.h"
#include "engine/cpu/c/rows.h"

/* Channel c of pixel x. */
static uint8_t *element_of(const mona_row *row, uint32_t c, uint32_t x)
{
    return row->data + (size_t)(c / row->c0) * row->block_stride +
           ((size_t)x * row->c0 + c % row->c0) * mona_type_size(row->type);
}

static uint32_t padded_channels(uint32_t channels, uint32_t c0)
{
    return (channels + c0 - 1) / c0 * c0;
}

static void reference_pack_row(const mona_pack_row *p)
{
    const bool scaled = p->output.type != p->source_type || p->output.type == MONA_F16;
    const uint32_t end = padded_channels(p->channels, p->output.c0);
    for (uint32_t c = 0; c < end; c++)
        for (uint32_t x = 0; x < p->pixels; x++) {
            float v = 0;
            if (c < p->channels) {
                v = mona_element(p->source[c] + (size_t)x * p->step[c], p->source_type);
                v = scaled ? v * p->scale[c] : v;
            }
            mona_put_element(element_of(&p->output, c, x), p->output.type, v, 255);
        }
}

static void reference_unpack_row(const mona_unpack_row *u)
{
    const mona_planes *planes = &u->planes;
    const uint32_t block = planes->block;
    const size_t size = mona_type_size(planes->type);
    const bool half = u->source.type == MONA_F16 || planes->type == MONA_F16;
    for (uint32_t c = 0; c < u->channels; c++)
        for (uint32_t x = 0; x < u->pixels; x++) {
            float v = mona_element(element_of(&u->source, u->first + c, x), u->source.type);
            if (half)
                v = mona_f16_round(v * planes->scale);
            uint8_t *to = planes->rows[c / block] + ((size_t)x * block + c % block) * size;
            mona_put_element(to, planes->type, v, planes->maximum);
        }
}

static void reference_elementwise_row(const mona_elementwise_row *e)
{
    const mona_epilogue *ep = &e->epilogue;
    const uint32_t end = padded_channels(e->channels, e->output.c0);
    for (uint32_t c = 0; c < end; c++)
        for (uint32_t x = 0; x < e->pixels; x++) {
            float t = 0;
            if (c < e->channels) {
                const uint32_t cb = e->broadcast_b ? 0 : c;
                const float a = mona_element(element_of(&e->a, c, x), e->a.type);
                const float b =
                    mona_element(element_of(&e->b, cb, e->one_pixel_b ? 0 : x), e->b.type);
                const float sa = mona_f16_round((a - e->zero_a) * e->scale_a);
                const float sb = mona_f16_round((b - e->zero_b) * e->scale_b);
                t = mona_f16_round(e->multiply ? sa * sb : sa + sb);
                t = mona_activate(t, ep->activation, ep, ep->slope ? ep->slope[c] : 0);
                t = mona_activate(t, ep->activation_after_add, ep, 0);
                t = mona_f16_round(t * ep->output_scale);
                t = e->zero > 0 ? t + e->zero : t;
            }
            mona_put_element(element_of(&e->output, c, x), e->output.type, t, 255);
        }
}

static const mona_isa reference_isa = {
    .name = "reference",
    .pack_row = reference_pack_row,
    .unpack_row = reference_unpack_row,
    .resize_row = mona_c_resize_row,
    .elementwise_row = reference_elementwise_row,
    .function_row = mona_c_function_row,
    .normalise_row = mona_c_normalise_row,
    .attention_row = mona_c_attention_row,
    .fold_row = mona_c_fold_row,
    .luma_row = mona_c_luma_row,
    .chroma_row = mona_c_chroma_row,
};
