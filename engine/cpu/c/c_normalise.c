// SPDX-License-Identifier: Apache-2.0
/* Normalisation of channels in portable C. */
#include "engine/cpu/c/epilogue.h"
#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/rows.h"

/* Channel c of pixel x. */
static uint8_t *at(const mona_row *row, uint32_t c, uint32_t x)
{
    return row->data + c / row->c0 * row->block_stride +
           ((size_t)x * row->c0 + c % row->c0) * mona_type_size(row->type);
}

static float element(const mona_normalise_row *n, uint32_t c, uint32_t x)
{
    return mona_element(at(&n->source, c, x), n->source.type);
}

static void normalise_pixel(const mona_normalise_row *n, uint32_t x)
{
    const float part = 1 / (float)n->channels;
    float sums[MONA_SUMS] = {0}, squares[MONA_SUMS] = {0};
    for (uint32_t c = 0; c < n->channels; c++)
        sums[c % MONA_SUMS] += element(n, c, x);
    const float mean = mona_sum_of(sums) * part;
    for (uint32_t c = 0; c < n->channels; c++) {
        const float d = element(n, c, x) - mean;
        squares[c % MONA_SUMS] += d * d;
    }
    const float r = mona_inverse_root(mona_sum_of(squares) * part + n->epsilon);
    for (uint32_t c = 0; c < n->channels; c++) {
        const float t = (element(n, c, x) - mean) * r * n->gain[c] + n->shift[c];
        mona_put_element(at(&n->output, c, x), n->output.type, mona_f16_round(t), 255);
    }
}

void mona_c_normalise_row(const mona_normalise_row *n)
{
    for (uint32_t x = 0; x < n->pixels; x++)
        normalise_pixel(n, x);
    mona_fill_up(&n->output, n->channels, n->pixels);
}
