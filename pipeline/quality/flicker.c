// SPDX-License-Identifier: Apache-2.0
#include "pipeline/quality/compare.h"

#include <math.h>
#include <stdlib.h>

/* Sum of the absolute differences in the block at column x, row y of both planes. */
static inline uint64_t block_change(const plane_pair *p, uint32_t x, uint32_t y, const bool wide)
{
    const uint32_t size = wide ? 2 : 1;
    const uint8_t *before = p->a + y * p->a_stride + x * size;
    const uint8_t *now = p->b + y * p->b_stride + x * size;
    uint64_t sum = 0;
    for (int row = 0; row < FLICKER_BLOCK; row++, before += p->a_stride, now += p->b_stride)
        for (uint32_t i = 0; i < FLICKER_BLOCK; i++)
            sum += (uint64_t)abs(plane_sample(now, i, wide) - plane_sample(before, i, wide));
    return sum;
}

static flicker_sums plane_flicker(const plane_pair *a, const plane_pair *b, uint64_t step)
{
    const uint64_t samples = FLICKER_BLOCK * FLICKER_BLOCK;
    flicker_sums s = {0};
    for (uint32_t y = 0; y + FLICKER_BLOCK <= a->height; y += FLICKER_BLOCK)
        for (uint32_t x = 0; x + FLICKER_BLOCK <= a->width; x += FLICKER_BLOCK) {
            const uint64_t change = block_change(a, x, y, a->wide);
            s.all += samples;
            if (change > FLICKER_STILL * step * samples)
                continue;
            s.still += samples;
            s.a += change;
            s.b += block_change(b, x, y, b->wide);
        }
    return s;
}

static void add(flicker_sums *to, const flicker_sums *s)
{
    to->a += s->a;
    to->b += s->b;
    to->still += s->still;
    to->all += s->all;
}

/* A step of 8 bits, in steps of the samples. */
static uint64_t step_of(int pix_fmt)
{
    return UINT64_C(1) << (av_pix_fmt_desc_get(pix_fmt)->comp[0].depth - 8);
}

void flicker_add(flicker *f, const AVFrame *a_before, const AVFrame *a, const AVFrame *b_before,
                 const AVFrame *b)
{
    const unsigned planes = av_pix_fmt_desc_get(a->format)->nb_components;
    for (unsigned p = 0; p < planes; p++) {
        const plane_pair of_a = plane_pair_of(a_before, a, p), of_b = plane_pair_of(b_before, b, p);
        const flicker_sums s = plane_flicker(&of_a, &of_b, step_of(a->format));
        add(&f->rows[p], &s);
        add(&f->rows[QUALITY_ALL], &s);
    }
}

double flicker_of(const flicker_sums *s, uint64_t differences, int pix_fmt)
{
    return s->still ? (double)differences / (double)(s->still * step_of(pix_fmt)) : NAN;
}
