// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/frame.h"

#include <math.h>

#include "pipeline/stages/sample.h"

enum { VALUES = 1 << RANGE_BITS };

static double studio_of(double full)
{
    return 16 + 219.0 / 255 * full;
}

static double full_of(double studio)
{
    return 255.0 / 219 * (studio - 16);
}

static void fill_table(uint16_t *table, const frame *to, const frame *from, double (*rule)(double))
{
    const double from_one = 1u << (from->format.bits - 8), to_one = 1u << (to->format.bits - 8);
    const double max = (1u << to->format.bits) - 1;
    for (unsigned v = 0; v < 1u << from->format.bits; v++)
        table[v] = (uint16_t)lrint(fmin(fmax(to_one * rule(v / from_one), 0), max));
}

static void convert(const frame *to, const frame *from, double (*rule)(double))
{
    const mona_size size = frame_plane_size(&from->format, 0);
    const bool to_wide = to->format.bits > 8, from_wide = from->format.bits > 8;
    const int mask = (1 << from->format.bits) - 1;
    uint16_t table[VALUES];
    fill_table(table, to, from, rule);
    for (uint32_t y = 0; y < size.height; y++) {
        const uint8_t *in = frame_row(from, 0, y);
        uint8_t *out = frame_row(to, 0, y);
        for (uint32_t x = 0; x < size.width; x++)
            put_plane_sample(out, x, table[plane_sample(in, x, from_wide) & mask], to_wide);
    }
}

void range_to_studio(const frame *to, const frame *from)
{
    convert(to, from, studio_of);
}

void range_to_full(const frame *to, const frame *from)
{
    convert(to, from, full_of);
}
