// SPDX-License-Identifier: Apache-2.0
/* Normalisation of the channels of each pixel. Included after a vector type, see vector_rows.h. */
#ifndef MONA_VECTOR_NORMALISE_H
#define MONA_VECTOR_NORMALISE_H

#include "engine/arith.h"
#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/vector_rows.h"

/* Pixels that are normalised together, so that a CPU has others to go on with while it waits for
 * the result of one. */
enum { NORMALISED = 4 * LANES };

/* What mona_sum_of() makes of the lanes of each of count vectors, a multiple of 4, after
 * vf_sums(). */
INLINE void sum_lanes(float *to, float sums[NORMALISED][4], uint32_t count)
{
    for (uint32_t i = 0; i < count; i += 4) {
        const v16 a = load16(sums[i]), b = load16(sums[i + 1]);
        const v16 c = load16(sums[i + 2]), d = load16(sums[i + 3]);
        const v16 ab = add_floats(zip64_low(a, b), zip64_high(a, b));
        const v16 cd = add_floats(zip64_low(c, d), zip64_high(c, d));
        const v16 low = zip32_low(ab, cd), high = zip32_high(ab, cd);
        store16(to + i, add_floats(zip32_low(low, high), zip32_high(low, high)));
    }
}

/* Pixels of 16 channels a block, the first at `from`. */
typedef struct pixels {
    const uint8_t *from;
    size_t block, distance; /* bytes from one block, and from one pixel, to the next */
    uint32_t count, fours;  /* pixels, at most NORMALISED; rounded up to a multiple of 4 */
    uint32_t last;          /* the last block */
    vf keep;                /* a mask of the channels in the last block */
} pixels;

/* Sums over the channels of each pixel, of which the last may be repeated; with means, of the
 * squares of the distances from them. */
INLINE void sum_channels(const pixels *p, const mona_type type, const float *means, float *to)
{
    float sums[NORMALISED][4];
    for (uint32_t i = 0; i < p->fours; i++) {
        const uint8_t *from = p->from + min_u32(i, p->count - 1) * p->distance;
        const vf mean = vf_set1(means ? means[i] : 0);
        vf sum = vf_set1(0);
        for (uint32_t b = 0; b <= p->last; b++) {
            vf v = vf_from(type, from + b * p->block);
            v = means ? vf_sub(v, mean) : v;
            v = b == p->last ? vf_and(v, p->keep) : v;
            sum = vf_add(sum, means ? vf_mul(v, v) : v);
        }
        store16(sums[i], vf_sums(sum));
    }
    sum_lanes(to, sums, p->fours);
}

INLINE vf normal_of(const mona_type type, const uint8_t *from, float mean, float r, vf gain,
                    vf shift)
{
    const vf normal = vf_mul(vf_sub(vf_from(type, from), vf_set1(mean)), vf_set1(r));
    return vf_add(vf_mul(normal, gain), shift);
}

/* Pixels p, which begin with pixel x of the row. */
INLINE void normalise_pixels(const mona_normalise_row *n, const mona_type type, const pixels *p,
                             uint32_t x)
{
    const mona_type to = n->output.type;
    const size_t distance = LANES * mona_type_size(to);
    const float part = 1 / (float)n->channels;
    float means[NORMALISED], r[NORMALISED];
    sum_channels(p, type, NULL, means);
    for (uint32_t i = 0; i < p->fours; i++)
        means[i] *= part;
    sum_channels(p, type, means, r);
    for (uint32_t i = 0; i < p->fours; i++)
        r[i] = mona_inverse_root(r[i] * part + n->epsilon);
    for (uint32_t b = 0; b <= p->last; b++) {
        const vf gain = vf_load(n->gain + b * LANES), shift = vf_load(n->shift + b * LANES);
        uint8_t *out = n->output.data + b * n->output.block_stride + x * distance;
        uint32_t i = 0;
        for (; i + 4 <= p->count; i += 4) {
            vf t[4];
            UNROLL
            for (uint32_t k = 0; k < 4; k++)
                t[k] = normal_of(type, p->from + b * p->block + (i + k) * p->distance, means[i + k],
                                 r[i + k], gain, shift);
            vf_half_to_four(to, out + i * distance, t);
        }
        for (; i < p->count; i++)
            vf_half_to(to, out + i * distance,
                       normal_of(type, p->from + b * p->block + i * p->distance, means[i], r[i],
                                 gain, shift));
    }
}

INLINE void normalise_all(const mona_normalise_row *n, const mona_type type)
{
    float mask[LANES];
    for (uint32_t i = 0; i < LANES; i++)
        mask[i] = mona_float(i <= (n->channels - 1) % LANES ? UINT32_MAX : 0);
    pixels p = {.from = n->source.data,
                .block = n->source.block_stride,
                .distance = LANES * mona_type_size(type),
                .last = (n->channels - 1) / LANES,
                .keep = vf_load(mask)};
    for (uint32_t x = 0; x < n->pixels; x += NORMALISED, p.from += NORMALISED * p.distance) {
        p.count = min_u32(NORMALISED, n->pixels - x);
        p.fours = (p.count + 3) / 4 * 4;
        normalise_pixels(n, type, &p, x);
    }
}

static void normalise_row(const mona_normalise_row *n)
{
    if (n->source.c0 != LANES || n->output.c0 != LANES)
        mona_c_normalise_row(n);
    else if (n->source.type == MONA_U8)
        normalise_all(n, MONA_U8);
    else if (n->source.type == MONA_S8)
        normalise_all(n, MONA_S8);
    else
        normalise_all(n, MONA_F16);
}

#endif
