// SPDX-License-Identifier: Apache-2.0
/* Functions of activations on a tensor row. Included after a vector type, see vector_rows.h, and
 *   apply_table(p, count, table)   replaces each of count bytes at p by that of the table
 * besides what functions.h needs. */
#ifndef MONA_VECTOR_FUNCTIONS_H
#define MONA_VECTOR_FUNCTIONS_H

#include "engine/cpu/c/functions.h"
#include "engine/cpu/c/vector_rows.h"

INLINE void each_f16(const mona_activation function, float alpha, uint8_t *p, size_t count)
{
    const vf a = vf_set1(alpha);
    for (size_t i = 0; i < count; i += LANES, p += 2 * LANES) {
        const uint32_t n = count - i < LANES ? (uint32_t)(count - i) : LANES;
        const vf x = n == LANES ? vf_f16(p) : vf_from_some(MONA_F16, p, n);
        const vf y = function_of(function, x, a);
        if (n == LANES)
            vf_to_f16(p, y);
        else
            vf_to_some(MONA_F16, p, y, n);
    }
}

static void apply_f16(const mona_function_row *f, uint8_t *p, size_t count)
{
    const float a = f->alpha;
    switch ((mona_activation)f->function) {
        CASE(MONA_ACT_SIGMOID, each_f16(MONA_ACT_SIGMOID, a, p, count));
        CASE(MONA_ACT_SILU, each_f16(MONA_ACT_SILU, a, p, count));
        CASE(MONA_ACT_HARD_SWISH, each_f16(MONA_ACT_HARD_SWISH, a, p, count));
        CASE(MONA_ACT_TANH, each_f16(MONA_ACT_TANH, a, p, count));
        CASE(MONA_ACT_GELU, each_f16(MONA_ACT_GELU, a, p, count));
        CASE(MONA_ACT_GELU_TANH, each_f16(MONA_ACT_GELU_TANH, a, p, count));
        CASE(MONA_ACT_MISH, each_f16(MONA_ACT_MISH, a, p, count));
        CASE(MONA_ACT_ELU, each_f16(MONA_ACT_ELU, a, p, count));
        CASE(MONA_ACT_SOFTPLUS, each_f16(MONA_ACT_SOFTPLUS, a, p, count));
    default:
        break;
    }
}

static void function_row(const mona_function_row *f)
{
    const mona_row *r = &f->row;
    const size_t count = (size_t)f->pixels * r->c0;
    for (uint32_t c = 0; c < f->channels; c += r->c0) {
        uint8_t *block = r->data + c / r->c0 * r->block_stride;
        if (f->function == MONA_ACT_TABLE)
            apply_table(block, count, f->table);
        else
            apply_f16(f, block, count);
    }
    mona_fill_up(r, f->channels, f->pixels);
}

#endif
