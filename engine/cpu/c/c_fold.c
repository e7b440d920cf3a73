// SPDX-License-Identifier: Apache-2.0
/* Rows of fp16 that are added up, or of which the largest are kept, in portable C. */
#include "engine/cpu/c/f16.h"
#include "engine/cpu/c/rows.h"

/* An integer that orders as the fp16 value does; both zeros are 0. */
static int16_t order_of(uint16_t bits)
{
    const int16_t magnitude = (int16_t)(bits & 0x7fff);
    const int16_t minus = (int16_t) - (bits >> 15); /* 0 or -1: all bits set */
    return (int16_t)((magnitude ^ minus) - minus);
}

void mona_c_fold_row(const mona_fold_row *r)
{
    const uint16_t *from = (const uint16_t *)(const void *)r->source;
    float *restrict sums = r->to;
    uint16_t *restrict largest = r->to;
    for (uint32_t i = 0; i < r->count && r->add; i++)
        sums[i] += mona_f32_from_f16(from[i]);
    for (uint32_t i = 0; i < r->count && !r->add; i++)
        largest[i] = order_of(largest[i]) > order_of(from[i]) ? largest[i] : from[i];
}
