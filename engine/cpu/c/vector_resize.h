// SPDX-License-Identifier: Apache-2.0
/* Resampling of a tensor row. Included after a vector type, see vector_rows.h. */
#ifndef MONA_VECTOR_RESIZE_H
#define MONA_VECTOR_RESIZE_H

#include "engine/cpu/c/vector_rows.h"

/* Sums input rows to one row of floats. */
INLINE vf column_sum(const mona_resize_row *r, size_t at, uint32_t count)
{
    vf sum = vf_set1(0);
    for (uint32_t t = 0; t < r->taps_y; t++) {
        const uint8_t *p = r->rows[t] + at;
        const vf v = count == LANES ? vf_from(r->type, p) : vf_from_some(r->type, p, count);
        const vf product = vf_mul(v, vf_set1(r->weight_y[t]));
        sum = t ? vf_add(sum, product) : product;
    }
    return sum;
}

static void resize_rows(const mona_resize_row *r)
{
    const size_t size = mona_type_size(r->type), count = (size_t)r->in_columns * r->c0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        vf_store(r->scratch + i, column_sum(r, i * size, LANES));
    if (i < count)
        vf_store(r->scratch + i, column_sum(r, i * size, (uint32_t)(count - i)));
}

/* Computes output columns [x, end) one by one, with taps clamped to the row. Rows of several
 * channels are taken 16 lanes at a time, of which only the pixel's c0 are stored. */
static void resize_columns(const mona_resize_row *r, uint32_t x, uint32_t end)
{
    const size_t size = mona_type_size(r->type);
    const int32_t last = (int32_t)r->in_columns - 1;
    for (; x < end; x++)
        for (uint32_t c = 0; c < r->c0; c += LANES) {
            vf sum = vf_set1(0);
            for (uint32_t t = 0; t < r->taps_x; t++) {
                int32_t column = r->first[x] + (int32_t)t;
                column = column < 0 ? 0 : column > last ? last : column;
                const float *p = r->scratch + (size_t)column * r->c0 + c;
                const vf product = vf_mul(vf_load(p), vf_set1(r->weight_x[x * r->taps_x + t]));
                sum = t ? vf_add(sum, product) : product;
            }
            const uint32_t left = r->c0 - c < LANES ? r->c0 - c : LANES;
            vf_to_some(r->type, r->out + ((size_t)x * r->c0 + c) * size, sum, left);
        }
}

/* Whether, in a row of a single channel, the 2 * LANES output columns from x on double the input:
 * two outputs for each input column, each of the two always with the same four weights, and all
 * taps inside the row. This is the case of chroma planes. */
INLINE bool doubles(const mona_resize_row *r, uint32_t x)
{
    const int32_t *first = r->first + x;
    const float *w = r->weight_x + (size_t)x * 4;
    if (first[2 * LANES - 1] - first[1] != LANES - 1 || first[0] < 0 || first[1] < 0 ||
        first[2 * LANES - 1] + 4 > (int32_t)r->in_columns ||
        first[2 * LANES - 2] + 4 > (int32_t)r->in_columns)
        return false;
    int32_t steps_differ = 0;
    for (uint32_t i = 0; i + 2 < 2 * LANES; i++)
        steps_differ |= first[i + 2] - first[i] - 1;
    uint32_t weights_differ = 0;
    for (uint32_t i = 8; i < 8 * LANES; i += 8)
        for (uint32_t k = 0; k < 8; k++)
            weights_differ |= mona_bits(w[i + k]) ^ mona_bits(w[k]);
    return !steps_differ && !weights_differ;
}

INLINE vf four_taps(const float *p, const float *weight)
{
    vf sum = vf_mul(vf_load(p), vf_set1(weight[0]));
    sum = vf_add(sum, vf_mul(vf_load(p + 1), vf_set1(weight[1])));
    sum = vf_add(sum, vf_mul(vf_load(p + 2), vf_set1(weight[2])));
    return vf_add(sum, vf_mul(vf_load(p + 3), vf_set1(weight[3])));
}

INLINE void store_alternating(mona_type type, uint8_t *out, vf even, vf odd)
{
    const size_t size = mona_type_size(type);
    uint8_t e[2 * LANES], o[2 * LANES];
    vf_to(type, e, even);
    vf_to(type, o, odd);
    for (size_t i = 0; i < size; i++) {
        const v16 a = load16(e + 16 * i), b = load16(o + 16 * i);
        const bool wide = size == 2;
        store16(out + 32 * i, wide ? zip16_low(a, b) : zip8_low(a, b));
        store16(out + 32 * i + 16, wide ? zip16_high(a, b) : zip8_high(a, b));
    }
}

static void resize_row(const mona_resize_row *r)
{
    resize_rows(r);
    uint32_t x = 0;
    if (r->c0 == 1 && r->taps_x == 4) {
        const size_t size = mona_type_size(r->type);
        while (x + 2 * LANES <= r->out_columns) {
            if (!doubles(r, x)) {
                resize_columns(r, x, x + 1);
                x++;
                continue;
            }
            const float *w = r->weight_x + (size_t)x * 4;
            store_alternating(r->type, r->out + x * size, four_taps(r->scratch + r->first[x], w),
                              four_taps(r->scratch + r->first[x + 1], w + 4));
            x += 2 * LANES;
        }
    }
    resize_columns(r, x, r->out_columns);
}

#endif
