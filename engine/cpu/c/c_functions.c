// SPDX-License-Identifier: Apache-2.0
/* Functions of activations in portable C. */
#include "engine/arith.h"
#include "engine/cpu/c/c_vector.h"
#include "engine/cpu/c/rows.h"
#include "engine/cpu/c/scalar_vector.h"
#include "engine/cpu/c/functions.h"

static void apply_f16(const mona_function_row *f, uint8_t *p, size_t count)
{
    for (size_t i = 0; i < count; i++, p += 2) {
        const float x = mona_f32_from_f16(mona_wide(p));
        const uint16_t wide =
            mona_half_of_finite(function_of((mona_activation)f->function, x, f->alpha));
        memcpy(p, &wide, sizeof wide);
    }
}

static void apply_table(const mona_function_row *f, uint8_t *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        p[i] = f->table[p[i]];
}

void mona_c_function_row(const mona_function_row *f)
{
    const mona_row *r = &f->row;
    const size_t count = (size_t)f->pixels * r->c0;
    for (uint32_t c = 0; c < f->channels; c += r->c0) {
        uint8_t *block = r->data + c / r->c0 * r->block_stride;
        if (f->function == MONA_ACT_TABLE)
            apply_table(f, block, count);
        else
            apply_f16(f, block, count);
    }
    mona_fill_up(r, f->channels, f->pixels);
}
