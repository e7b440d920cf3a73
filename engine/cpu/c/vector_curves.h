// SPDX-License-Identifier: Apache-2.0
/* Curves over luma, with the arithmetic of c_curves.c. Included after a type `vw` of WORDS signed
 * words and its functions:
 *   vw_set(word), vw_load(p), vw_store(p, v)
 *   vw_load_bytes(p), vw_store_bytes(p, v)            unsigned bytes; values must fit a byte
 *   vw_add, vw_and, vw_min, vw_max, vw_add_saturated  of two vectors
 *   vw_scaled(a, b)               a * b / 2^15, halves rounded up; a and b are not both -2^15
 *   vw_left, vw_right, vw_right_signed                shift by a number of bits
 *   vw_table_of(words)            makes a `vw_table` of 16 words
 *   vw_look(table, v)             the words at indices v, 0 to 15 */
#ifndef MONA_VECTOR_CURVES_H
#define MONA_VECTOR_CURVES_H

#include "engine/libc.h"
#include "engine/cpu/c/rows.h"

typedef struct curve_tables {
    vw_table start, rise;
} curve_tables;

INLINE curve_tables tables_of(const mona_curve *c)
{
    return (curve_tables){vw_table_of(c->start), vw_table_of(c->rise)};
}

INLINE vw curve_value(const curve_tables *c, vw segment, vw rest)
{
    return vw_add_saturated(vw_look(c->start, segment), vw_scaled(vw_look(c->rise, segment), rest));
}

INLINE vw luma_rest(vw y, uint32_t bits)
{
    return vw_left(vw_and(y, vw_set((int16_t)((1 << (bits - 4)) - 1))), 19 - bits);
}

INLINE vw load_samples(const uint8_t *p, uint32_t bits)
{
    return bits == 8 ? vw_load_bytes(p) : vw_and(vw_load(p), vw_set((int16_t)((1 << bits) - 1)));
}

INLINE void store_samples(uint8_t *p, vw v, uint32_t bits)
{
    v = vw_min(vw_max(v, vw_set(0)), vw_set((int16_t)((1 << bits) - 1)));
    if (bits == 8)
        vw_store_bytes(p, v);
    else
        vw_store(p, v);
}

/* A value that saturates when rounded up is beyond the largest sample anyway. */
INLINE vw luma_after(vw y, const curve_tables *c, uint32_t bits)
{
    const vw value = curve_value(c, vw_right(y, bits - 4), luma_rest(y, bits));
    const uint32_t steps = 15 - bits;
    return vw_right_signed(vw_add_saturated(value, vw_set((int16_t)(1 << (steps - 1)))), steps);
}

INLINE vw chroma_after(vw sample, vw luma, const curve_tables *gain, const curve_tables *offset,
                       uint32_t bits)
{
    const vw grey = vw_set((int16_t)(1 << (bits - 1)));
    const vw y = vw_and(luma, vw_set((int16_t)((1 << bits) - 1)));
    const vw segment = vw_right(y, bits - 4), rest = luma_rest(y, bits);
    const vw d = vw_left(vw_add(sample, vw_set((int16_t) - (1 << (bits - 1)))), 15 - bits);
    const vw product = vw_scaled(d, curve_value(gain, segment, rest));
    const uint32_t steps = 13 - bits;
    const vw rounded =
        vw_add(curve_value(offset, segment, rest), vw_set((int16_t)(1 << (steps - 1))));
    return vw_add(vw_right_signed(vw_add(product, rounded), steps), grey);
}

INLINE void luma_row_of(const mona_luma_row *r, const uint32_t bits)
{
    const size_t size = bits == 8 ? 1 : 2;
    const curve_tables curve = tables_of(r->curve);
    uint32_t x = 0;
    for (; x + WORDS <= r->pixels; x += WORDS)
        store_samples(r->to + x * size,
                      luma_after(load_samples(r->from + x * size, bits), &curve, bits), bits);
    if (x < r->pixels) {
        uint8_t part[2 * WORDS] = {0};
        const size_t bytes = (r->pixels - x) * size;
        memcpy(part, r->from + x * size, bytes);
        store_samples(part, luma_after(load_samples(part, bits), &curve, bits), bits);
        memcpy(r->to + x * size, part, bytes);
    }
}

INLINE void chroma_row_of(const mona_chroma_row *r, const uint32_t bits)
{
    const size_t size = bits == 8 ? 1 : 2;
    const curve_tables gain = tables_of(r->gain), offset = tables_of(r->offset);
    uint32_t x = 0;
    for (; x + WORDS <= r->pixels; x += WORDS) {
        const vw sample = load_samples(r->from + x * size, bits);
        const vw luma = vw_load((const uint8_t *)(r->luma + x));
        store_samples(r->to + x * size, chroma_after(sample, luma, &gain, &offset, bits), bits);
    }
    if (x < r->pixels) {
        uint8_t part[2 * WORDS] = {0}, luma[2 * WORDS] = {0};
        const size_t bytes = (r->pixels - x) * size;
        memcpy(part, r->from + x * size, bytes);
        memcpy(luma, r->luma + x, (r->pixels - x) * sizeof *r->luma);
        const vw made = chroma_after(load_samples(part, bits), vw_load(luma), &gain, &offset, bits);
        store_samples(part, made, bits);
        memcpy(r->to + x * size, part, bytes);
    }
}

static void luma_row(const mona_luma_row *r)
{
    if (r->bits == 8)
        luma_row_of(r, 8);
    else
        luma_row_of(r, r->bits);
}

static void chroma_row(const mona_chroma_row *r)
{
    if (r->bits == 8)
        chroma_row_of(r, 8);
    else
        chroma_row_of(r, r->bits);
}

#endif
