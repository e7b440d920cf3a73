// SPDX-License-Identifier: Apache-2.0
/* Attention in portable C. */
#include "engine/cpu/c/epilogue.h"
#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/rows.h"
#include "engine/cpu/c/scalar_vector.h"
#include "engine/cpu/c/functions.h"

/* Where channel c lies behind its row's first pixel. */
static size_t place(const mona_row *row, uint32_t c, uint32_t x)
{
    return c / row->c0 * row->block_stride +
           ((size_t)x * row->c0 + c % row->c0) * mona_type_size(row->type);
}

static float element(const mona_row *row, const uint8_t *first, uint32_t c, uint32_t x)
{
    return mona_element(first + place(row, c, x), row->type);
}

/* The scores of pixel x in head h; returns the largest. */
static float find_scores(const mona_attention_row *a, uint32_t h, uint32_t x, float *scores)
{
    float most = 0;
    for (uint32_t j = 0; j < a->rows * a->columns; j++) {
        const uint8_t *row = a->key_rows[j / a->columns];
        float sum = 0;
        for (uint32_t c = h * a->size; c < (h + 1) * a->size; c++)
            sum += element(&a->queries, a->queries.data, c, x) *
                   element(&a->keys, row, c, j % a->columns);
        scores[j] = sum * a->scale;
        most = !j || scores[j] > most ? scores[j] : most;
    }
    return most;
}

static void attend(const mona_attention_row *a, uint32_t h, uint32_t x)
{
    const uint32_t count = a->rows * a->columns;
    float sums[MONA_SUMS] = {0}, *scores = a->scratch;
    const float most = find_scores(a, h, x, scores);
    for (uint32_t j = 0; j < count; j++) {
        scores[j] = exp_of(scores[j] - most);
        sums[j % MONA_SUMS] += scores[j];
    }
    const float factor = a->value_scale / mona_sum_of(sums);
    for (uint32_t c = h * a->value_size; c < (h + 1) * a->value_size; c++) {
        float sum = 0;
        for (uint32_t j = 0; j < count; j++)
            sum +=
                scores[j] * element(&a->values, a->value_rows[j / a->columns], c, j % a->columns);
        mona_put_element(a->output.data + place(&a->output, c, x), a->output.type,
                         mona_f16_round(sum * factor), 255);
    }
}

void mona_c_attention_row(const mona_attention_row *a)
{
    for (uint32_t h = 0; h < a->heads; h++)
        for (uint32_t x = 0; x < a->pixels; x++)
            attend(a, h, x);
    mona_fill_up(&a->output, a->heads * a->value_size, a->pixels);
}
