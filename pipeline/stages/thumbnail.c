// SPDX-License-Identifier: Apache-2.0
/* Cell i of 64 along a side of n samples covers the samples from i n / 64 to (i + 1) n / 64,
 * rounded down. If n is below 64, cells share samples. A cell of the largest frame has 512 x 512
 * samples of 11 bits, whose sum fits 32 bits. */
#include "pipeline/stages/colour_grading.h"

#include <string.h>

#include "pipeline/stages/sample.h"

enum { SIDE = THUMBNAIL_SIDE, NEUTRAL = 128 };

static uint32_t cell_begin(uint32_t i, uint32_t n)
{
    return (uint32_t)((uint64_t)i * n / SIDE);
}

static uint32_t cell_end(uint32_t i, uint32_t n)
{
    const uint32_t begin = cell_begin(i, n), end = cell_begin(i + 1, n);
    return end > begin ? end : begin + 1;
}

static uint32_t sum_of(const uint8_t *row, uint32_t begin, uint32_t end, bool wide)
{
    uint32_t sum = 0;
    for (uint32_t x = begin; x < end; x++)
        sum += (uint32_t)plane_sample(row, x, wide);
    return sum;
}

/* Computes the means of row i of cells, in steps of 8 bits. */
static void average_row(uint8_t *to, const frame *f, unsigned plane, uint32_t i)
{
    const mona_size size = frame_shown_size(&f->format, plane);
    const uint32_t begin = cell_begin(i, size.height), end = cell_end(i, size.height);
    uint32_t sums[SIDE] = {0};
    for (uint32_t y = begin; y < end; y++) {
        const uint8_t *row = frame_row(f, plane, y);
        for (uint32_t x = 0; x < SIDE; x++)
            sums[x] += sum_of(row, cell_begin(x, size.width), cell_end(x, size.width),
                              frame_sample_bytes(&f->format) == 2);
    }
    for (uint32_t x = 0; x < SIDE; x++) {
        const uint32_t columns = cell_end(x, size.width) - cell_begin(x, size.width);
        const uint32_t area = ((end - begin) * columns) << (f->format.bits - 8);
        const uint32_t mean = (sums[x] + area / 2) / area;
        to[x] = (uint8_t)(mean > 255 ? 255 : mean);
    }
}

/* Maps a sample from a range that begins at `zero` and spans `range` steps to one of 255 that
 * begins at full_zero. */
static uint8_t widened(int32_t sample, int32_t zero, int32_t range, int32_t full_zero)
{
    const int32_t steps = (sample - zero) * 255, half = steps < 0 ? -range / 2 : range / 2;
    const int32_t value = (steps + half) / range + full_zero;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void widen(thumbnail *t)
{
    for (unsigned p = 0; p < 3; p++)
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            t->planes[p][i] = p ? widened(t->planes[p][i], NEUTRAL, 224, NEUTRAL)
                                : widened(t->planes[p][i], 16, 219, 0);
}

void thumbnail_make(thumbnail *t, const frame *f, bool full_range)
{
    memset(t->planes, NEUTRAL, sizeof t->planes);
    for (unsigned p = 0; p < (f->format.planes < 3 ? 1 : 3); p++)
        for (uint32_t i = 0; i < SIDE; i++)
            average_row(t->planes[p] + (size_t)i * SIDE, f, p, i);
    if (!full_range)
        widen(t);
}
