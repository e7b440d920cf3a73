// SPDX-License-Identifier: Apache-2.0
/* Normalisation of channels in portable C. */
#include "engine/cpu/c/epilogue.h"
#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/rows.h"

/* Channel c of pixel x. */
static uint8_t *at(const ac_row *row, uint32_t c, uint32_t x)
{
    return row->data + c / row->c0 * row->block_stride +
           ((size_t)x * row->c0 + c % row->c0) * mona_type_size(row->type);
}

static float element(const ac_normalise_row *n, uint32_t c, uint32_t x)
{
    return ac_element(at(&n->source, c, x), n->source.type);
}

static void normalise_pixel(const ac_normalise_row *n, uint32_t x)
{
    const float part = 1 / (float)n->channels;
    float sums[AC_SUMS] = {0}, squares[AC_SUMS] = {0};
    for (uint32_t c = 0; c < n->channels; c++)
        sums[c % AC_SUMS] += element(n, c, x);
    const float mean = ac_sum_of(sums) * part;
    for (uint32_t c = 0; c < n->channels; c++) {
        const float d = element(n, c, x) - mean;
        squares[c % AC_SUMS] += d * d;
    }
    const float r = ac_inverse_root(ac_sum_of(squares) * part + n->epsilon);
    for (uint32_t c = 0; c < n->channels; c++) {
        const float t = (element(n, c, x) - mean) * r * n->gain[c] + n->shift[c];
        ac_put_element(at(&n->output, c, x), n->output.type, ac_f16_round(t), 255);
    }
}

void ac_c_normalise_row(const ac_normalise_row *n)
{
    for (uint32_t x = 0; x < n->pixels; x++)
        normalise_pixel(n, x);
    ac_fill_up(&n->output, n->channels, n->pixels);
}
