// SPDX-License-Identifier: Apache-2.0
/* Normalisation of the channels of each pixel. Included after a vector type, see vector_rows.h. */
#ifndef AC_VECTOR_NORMALISE_H
#define AC_VECTOR_NORMALISE_H

#include "engine/arith.h"
#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/vector_rows.h"

/* What ac_sum_of() makes of the lanes of each of 16 vectors, after vf_sums(). */
INLINE void sum_lanes(float *to, float sums[LANES][4])
{
    for (uint32_t i = 0; i < LANES; i += 4) {
        const v16 a = load16(sums[i]), b = load16(sums[i + 1]);
        const v16 c = load16(sums[i + 2]), d = load16(sums[i + 3]);
        const v16 ab = add_floats(zip64_low(a, b), zip64_high(a, b));
        const v16 cd = add_floats(zip64_low(c, d), zip64_high(c, d));
        const v16 low = zip32_low(ab, cd), high = zip32_high(ab, cd);
        store16(to + i, add_floats(zip32_low(low, high), zip32_high(low, high)));
    }
}

/* Pixels of 16 channels a block that are normalised together, the first at `from`. */
typedef struct pixels {
    const uint8_t *from;
    size_t block, distance; /* bytes from one block, and from one pixel, to the next */
    uint32_t count, last;   /* pixels, at most 16; the last block */
    vf keep;                /* a mask of the channels in the last block */
} pixels;

/* Sums over the channels of each pixel; with means, of the squares of the distances from them. */
INLINE void sum_channels(const pixels *p, const mona_type type, const float *means, float *to)
{
    float sums[LANES][4] = {{0}};
    for (uint32_t i = 0; i < p->count; i++) {
        const vf mean = vf_set1(means ? means[i] : 0);
        vf sum = vf_set1(0);
        for (uint32_t b = 0; b <= p->last; b++) {
            vf v = vf_from(type, p->from + b * p->block + i * p->distance);
            v = means ? vf_sub(v, mean) : v;
            v = b == p->last ? vf_and(v, p->keep) : v;
            sum = vf_add(sum, means ? vf_mul(v, v) : v);
        }
        store16(sums[i], vf_sums(sum));
    }
    sum_lanes(to, sums);
}

/* Pixels p, which begin with pixel x of the row. */
INLINE void normalise_pixels(const ac_normalise_row *n, const mona_type type, const pixels *p,
                             uint32_t x)
{
    const mona_type to = n->output.type;
    const size_t distance = LANES * mona_type_size(to);
    const float part = 1 / (float)n->channels;
    float means[LANES], r[LANES];
    sum_channels(p, type, NULL, means);
    for (uint32_t i = 0; i < LANES; i++)
        means[i] *= part;
    sum_channels(p, type, means, r);
    for (uint32_t i = 0; i < LANES; i++)
        r[i] = ac_inverse_root(r[i] * part + n->epsilon);
    for (uint32_t b = 0; b <= p->last; b++) {
        const vf gain = vf_load(n->gain + b * LANES), shift = vf_load(n->shift + b * LANES);
        uint8_t *out = n->output.data + b * n->output.block_stride + x * distance;
        for (uint32_t i = 0; i < p->count; i++) {
            const vf v = vf_from(type, p->from + b * p->block + i * p->distance);
            const vf normal = vf_mul(vf_sub(v, vf_set1(means[i])), vf_set1(r[i]));
            const vf t = vf_add(vf_mul(normal, gain), shift);
            vf_half_to(to, out + i * distance, t);
        }
    }
}

INLINE void normalise_all(const ac_normalise_row *n, const mona_type type)
{
    float mask[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        mask[i] = ac_float(i <= (n->channels - 1) % LANES ? UINT32_MAX : 0);
    pixels p = {.from = n->source.data,
                .block = n->source.block_stride,
                .distance = LANES * mona_type_size(type),
                .last = (n->channels - 1) / LANES,
                .keep = vf_load(mask)};
    for (uint32_t x = 0; x < n->pixels; x += LANES, p.from += LANES * p.distance) {
        p.count = min_u32(LANES, n->pixels - x);
        normalise_pixels(n, type, &p, x);
    }
}

static void normalise_row(const ac_normalise_row *n)
{
    if (n->source.c0 != LANES || n->output.c0 != LANES)
        ac_c_normalise_row(n);
    else if (n->source.type == MONA_U8)
        normalise_all(n, MONA_U8);
    else if (n->source.type == MONA_S8)
        normalise_all(n, MONA_S8);
    else
        normalise_all(n, MONA_F16);
}

#endif
