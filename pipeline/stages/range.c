// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/range.h"

#include <math.h>

#include "pipeline/stages/sample.h"

enum { VALUES = 1 << MONA_MAX_DEPTH };

/* Studio range lies at zero + step * (sample - full_zero). */
typedef struct mapping {
    double full_zero, zero, step;
} mapping;

static mapping mapping_of(unsigned plane, unsigned full_bits, unsigned bits)
{
    const double steps = 1u << (bits - 8), most = (1u << full_bits) - 1;
    if (plane == 3)
        return (mapping){0, 0, steps / (1u << (full_bits - 8))};
    if (plane == 0)
        return (mapping){0, 16 * steps, 219 * steps / most};
    return (mapping){1u << (full_bits - 1), 128 * steps, 224 * steps / most};
}

static uint16_t rounded(double value, unsigned bits)
{
    return (uint16_t)lrint(fmin(fmax(value, 0), (1u << bits) - 1));
}

typedef struct samples {
    uint8_t *data;
    ptrdiff_t stride;
    unsigned bits;
} samples;

static void translate(samples to, samples from, mona_size size, const uint16_t *table)
{
    const int mask = (1 << from.bits) - 1;
    for (uint32_t y = 0; y < size.height; y++) {
        const uint8_t *in = from.data + (ptrdiff_t)y * from.stride;
        uint8_t *out = to.data + (ptrdiff_t)y * to.stride;
        for (uint32_t x = 0; x < size.width; x++)
            put_plane_sample(out, x, table[plane_sample(in, x, from.bits > 8) & mask], to.bits > 8);
    }
}

void range_enter(frame *to, unsigned plane, const uint8_t *source, ptrdiff_t stride, unsigned bits)
{
    const mapping m = mapping_of(plane, bits, to->format.bits);
    uint16_t table[VALUES];
    for (unsigned v = 0; v < 1u << bits; v++)
        table[v] = rounded(m.zero + m.step * (v - m.full_zero), to->format.bits);
    translate((samples){to->data[plane], to->stride[plane], to->format.bits},
              (samples){(uint8_t *)source, stride, bits}, frame_shown_size(&to->format, plane),
              table);
    frame_pad_plane(to, plane);
}

void range_leave(uint8_t *to, ptrdiff_t stride, const frame *from, unsigned plane, unsigned bits)
{
    const mapping m = mapping_of(plane, bits, from->format.bits);
    uint16_t table[VALUES];
    for (unsigned v = 0; v < 1u << from->format.bits; v++)
        table[v] = rounded(m.full_zero + (v - m.zero) / m.step, bits);
    translate((samples){to, stride, bits},
              (samples){from->data[plane], from->stride[plane], from->format.bits},
              frame_shown_size(&from->format, plane), table);
}
