// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/temporal.h"

#include "engine/arith.h"

#include "pipeline/stages/sample.h"

/* Computes the steps for all d, rounded to nearest, with d = 0 in the middle; returns L. `one` is
 * one step of 8 bits. In integers: g d (L^2 - d^2) / L^2 with g = 4 (sigma - one) / (5 sigma). */
static int make_steps(int16_t *step, unsigned sigma, unsigned one)
{
    unsigned limit = sigma + 4 * one;
    limit = limit < TEMPORAL_MAX_LIMIT ? limit : TEMPORAL_MAX_LIMIT;
    const uint64_t square = (uint64_t)limit * limit, whole = 5 * (uint64_t)sigma * square;
    for (uint64_t d = 0; d <= limit; d++) {
        const uint64_t size = (8 * (sigma - one) * d * (square - d * d) + whole) / (2 * whole);
        step[TEMPORAL_MAX_LIMIT + d] = (int16_t)size;
        step[TEMPORAL_MAX_LIMIT - d] = (int16_t)-size;
    }
    return (int)limit;
}

/* Filters columns [from, to) of a row. With noise, the sign and size of d are unpredictable, so
 * there are no branches. */
static inline void filter_row(uint8_t *made, const uint8_t *previous, uint32_t from, uint32_t to,
                              const int16_t *step, int limit, const bool wide)
{
    for (uint32_t x = from; x < to; x++) {
        const int s = plane_sample(made, x, wide), d = plane_sample(previous, x, wide) - s;
        const int near = d < -limit ? -limit : d > limit ? limit : d;
        put_plane_sample(made, x, s + step[TEMPORAL_MAX_LIMIT + near], wide);
    }
}

/* Filters block (x, y), whose side in this plane is `side`. */
static void filter_block(const frame *made, const frame *previous, unsigned plane, uint32_t x,
                         uint32_t y, uint32_t side, const int16_t *step, int limit)
{
    const mona_size size = frame_plane_size(&made->format, plane);
    const uint32_t from = x * side, to = min_u32(from + side, size.width);
    for (uint32_t row = y * side; row < min_u32((y + 1) * side, size.height); row++) {
        uint8_t *m = made->data[plane] + (ptrdiff_t)row * made->stride[plane];
        const uint8_t *p = previous->data[plane] + (ptrdiff_t)row * previous->stride[plane];
        if (made->format.bits > 8)
            filter_row(m, p, from, to, step, limit, true);
        else
            filter_row(m, p, from, to, step, limit, false);
    }
}

void temporal_filter(const frame *made, const frame *now, const frame *previous, unsigned planes,
                     unsigned sigma, unsigned enlarged, temporal_work *work)
{
    const unsigned one = 1u << (made->format.bits - 8);
    if (sigma <= one)
        return;
    const mona_size count = motion_mask_measure(work->blocks, now, previous);
    const uint64_t still = motion_mask_limit(&now->format, sigma, enlarged);
    const int limit = make_steps(work->step, sigma, one);
    for (uint32_t y = 0; y < count.height; y++)
        for (uint32_t x = 0; x < count.width; x++)
            if (motion_mask_is_still(work->blocks, count, x, y, still))
                for (unsigned p = 0; p < planes; p++)
                    filter_block(made, previous, p, x, y, MOTION_MASK_BLOCK >> (p > 0), work->step,
                                 limit);
}
