// SPDX-License-Identifier: Apache-2.0
/* Curves over luma, one sample at a time. Every other version must equal this one. */
#include "engine/libc.h"
#include "engine/cpu/c/rows.h"

static uint32_t sample_at(const uint8_t *plane, uint32_t x, uint32_t bits)
{
    uint16_t word;
    if (bits == 8)
        return plane[x];
    memcpy(&word, plane + (size_t)x * 2, sizeof word);
    return word & ((1u << bits) - 1);
}

static void put_sample(uint8_t *plane, uint32_t x, uint32_t bits, int32_t value)
{
    const int32_t max = (1 << bits) - 1;
    const uint16_t word = (uint16_t)(value < 0 ? 0 : value > max ? max : value);
    if (bits == 8)
        plane[x] = (uint8_t)word;
    else
        memcpy(plane + (size_t)x * 2, &word, sizeof word);
}

/* a * b / 2^15, halves rounded up. */
static int32_t scaled(int32_t a, int32_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

static int32_t value_at(const mona_curve *c, uint32_t y, uint32_t bits)
{
    const uint32_t segment = y >> (bits - 4), rest = y & ((1u << (bits - 4)) - 1);
    const int32_t value =
        c->start[segment] + scaled(c->rise[segment], (int32_t)rest << (19 - bits));
    return value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value;
}

void mona_c_luma_row(const mona_luma_row *r)
{
    const uint32_t steps = 15 - r->bits; /* curve values have this many bits more than samples */
    for (uint32_t x = 0; x < r->pixels; x++) {
        const int32_t value = value_at(r->curve, sample_at(r->from, x, r->bits), r->bits);
        put_sample(r->to, x, r->bits, (value + (1 << (steps - 1))) >> steps);
    }
}

/* d enters with 15 - b bits below the sample's units, 15 bits in all. d * gain has 13 - b. */
void mona_c_chroma_row(const mona_chroma_row *r)
{
    const uint32_t steps = 13 - r->bits;
    const int32_t grey = 1 << (r->bits - 1);
    for (uint32_t x = 0; x < r->pixels; x++) {
        const uint32_t y = r->luma[x] & ((1u << r->bits) - 1);
        const int32_t d = (int32_t)sample_at(r->from, x, r->bits) - grey;
        const int32_t product = scaled(d * (1 << (15 - r->bits)), value_at(r->gain, y, r->bits));
        const int32_t sum = product + value_at(r->offset, y, r->bits) + (1 << (steps - 1));
        put_sample(r->to, x, r->bits, (sum >> steps) + grey);
    }
}
