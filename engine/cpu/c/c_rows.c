// SPDX-License-Identifier: Apache-2.0
/* Resampling in portable C, one element at a time. */
#include "engine/cpu/c/epilogue.h"
#include "engine/cpu/c/rows.h"

static int32_t nearest_inside(int32_t column, uint32_t columns)
{
    return column < 0 ? 0 : column >= (int32_t)columns ? (int32_t)columns - 1 : column;
}

void mona_c_resize_row(const mona_resize_row *r)
{
    const size_t size = mona_type_size(r->type);
    for (size_t i = 0; i < (size_t)r->in_columns * r->c0; i++) {
        float sum = mona_element(r->rows[0] + i * size, r->type) * r->weight_y[0];
        for (uint32_t t = 1; t < r->taps_y; t++)
            sum += mona_element(r->rows[t] + i * size, r->type) * r->weight_y[t];
        r->scratch[i] = sum;
    }
    for (uint32_t x = 0; x < r->out_columns; x++) {
        const float *weight = r->weight_x + (size_t)x * r->taps_x;
        for (uint32_t c = 0; c < r->c0; c++) {
            float sum = 0;
            for (uint32_t t = 0; t < r->taps_x; t++) {
                const int32_t column = nearest_inside(r->first[x] + (int32_t)t, r->in_columns);
                const float product = r->scratch[(size_t)column * r->c0 + c] * weight[t];
                sum = t ? sum + product : product;
            }
            mona_put_element(r->out + ((size_t)x * r->c0 + c) * size, r->type, sum, 255);
        }
    }
}
