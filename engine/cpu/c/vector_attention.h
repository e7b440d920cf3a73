// SPDX-License-Identifier: Apache-2.0
/* Attention with heads of whole channel blocks. Included after a vector type, see vector_rows.h and
 * functions.h. Keys are transposed first, so that a vector holds the scores of 16 keys. Several
 * queries share what is read, and so many sums at once do not wait for each other: as many as there
 * are registers for. */
#ifndef MONA_VECTOR_ATTENTION_H
#define MONA_VECTOR_ATTENTION_H

#include "engine/cpu/c/functions.h"
#include "engine/cpu/c/normalise.h"
#include "engine/cpu/c/vector_rows.h"

#ifndef ATTENTION_QUERIES
#define ATTENTION_QUERIES 1 /* at most MONA_ATTENTION_QUERIES */
#endif

/* A head's keys and values in fp32. */
typedef struct attention_head {
    uint32_t count, padded; /* keys; padded: to whole vectors */
    float *keys;            /* [size][padded] */
    float *values;          /* [count][value_size] */
    float *scores;          /* [queries][padded] */
    float *query;           /* [queries][size] */
} attention_head;

INLINE const uint8_t *block_at(const mona_row *row, const uint8_t *first, uint32_t c, uint32_t x)
{
    return first + c / LANES * row->block_stride + (size_t)x * LANES * mona_type_size(row->type);
}

static void widen_head(const mona_attention_row *a, const attention_head *h, uint32_t head)
{
    for (uint32_t j = 0; j < h->padded; j++) {
        const uint32_t y = j / a->columns, x = j % a->columns;
        for (uint32_t c = 0; c < a->size; c += LANES) {
            float lanes[LANES] = {0};
            if (j < h->count)
                vf_store(lanes, vf_from(a->keys.type,
                                        block_at(&a->keys, a->key_rows[y], head * a->size + c, x)));
            for (uint32_t i = 0; i < LANES; i++)
                h->keys[(size_t)(c + i) * h->padded + j] = lanes[i];
        }
        for (uint32_t c = 0; j < h->count && c < a->value_size; c += LANES)
            vf_store(h->values + (size_t)j * a->value_size + c,
                     vf_from(a->values.type,
                             block_at(&a->values, a->value_rows[y], head * a->value_size + c, x)));
    }
}

/* Scores of `vectors` vectors of keys from j on. */
INLINE void score_keys(const mona_attention_row *a, const attention_head *h, uint32_t j,
                       const uint32_t queries, const uint32_t vectors)
{
    vf sums[4 * ATTENTION_QUERIES];
    UNROLL
    for (uint32_t i = 0; i < queries * vectors; i++)
        sums[i] = vf_set1(0);
    for (uint32_t c = 0; c < a->size; c++) {
        const float *k = h->keys + (size_t)c * h->padded + j;
        UNROLL
        for (uint32_t i = 0; i < queries * vectors; i++)
            sums[i] = vf_add(sums[i], vf_mul(vf_set1(h->query[i / vectors * a->size + c]),
                                             vf_load(k + i % vectors * LANES)));
    }
    UNROLL
    for (uint32_t i = 0; i < queries * vectors; i++)
        vf_store(h->scores + (size_t)(i / vectors) * h->padded + j + i % vectors * LANES,
                 vf_mul(sums[i], vf_set1(a->scale)));
}

/* Replaces the scores of a query by their exponentials and returns the sum of these. */
static float exponentials(const attention_head *h, float *scores)
{
    float most = scores[0], lanes[LANES];
    vf highest = vf_set1(most), sum = vf_set1(0);
    for (uint32_t j = h->count; j < h->padded; j++)
        scores[j] = most;
    for (uint32_t j = 0; j < h->padded; j += LANES)
        highest = vf_max(highest, vf_load(scores + j));
    vf_store(lanes, highest);
    for (uint32_t i = 0; i < LANES; i++)
        most = lanes[i] > most ? lanes[i] : most;
    for (uint32_t j = 0; j < h->padded; j += LANES) {
        vf e = exp_of(vf_sub(vf_load(scores + j), vf_set1(most)));
        vf_store(scores + j, e);
        for (uint32_t i = h->count; i < j + LANES; i++)
            scores[i] = 0;
        sum = vf_add(sum, vf_load(scores + j));
    }
    vf_store(lanes, sum);
    return mona_sum_of(lanes);
}

/* `vectors` vectors of results of pixel x and those after it, from channel c of the head on. */
INLINE void add_values(const mona_attention_row *a, const attention_head *h, uint32_t head,
                       uint32_t x, uint32_t c, const float *factors, const uint32_t queries,
                       const uint32_t vectors)
{
    vf sums[4 * ATTENTION_QUERIES];
    UNROLL
    for (uint32_t i = 0; i < queries * vectors; i++)
        sums[i] = vf_set1(0);
    for (uint32_t j = 0; j < h->count; j++) {
        const float *from = h->values + (size_t)j * a->value_size + c;
        UNROLL
        for (uint32_t i = 0; i < queries * vectors; i++)
            sums[i] =
                vf_add(sums[i], vf_mul(vf_set1(h->scores[(size_t)(i / vectors) * h->padded + j]),
                                       vf_load(from + i % vectors * LANES)));
    }
    UNROLL
    for (uint32_t i = 0; i < queries * vectors; i++) {
        const uint32_t channel = head * a->value_size + c + i % vectors * LANES;
        uint8_t *to = a->output.data + channel / LANES * a->output.block_stride +
                      (size_t)(x + i / vectors) * LANES * mona_type_size(a->output.type);
        vf_to(a->output.type, to, vf_half(vf_mul(sums[i], vf_set1(factors[i / vectors]))));
    }
}

/* Computes results of pixel x and those after it. */
INLINE void attend(const mona_attention_row *a, const attention_head *h, uint32_t head, uint32_t x,
                   const uint32_t queries)
{
    uint32_t j = 0, c = 0;
    float factors[ATTENTION_QUERIES];
    for (uint32_t q = 0; q < queries; q++)
        for (uint32_t i = 0; i < a->size; i += LANES)
            vf_store(h->query + (size_t)q * a->size + i,
                     vf_from(a->queries.type,
                             block_at(&a->queries, a->queries.data, head * a->size + i, x + q)));
    for (; j + 4 * LANES <= h->padded; j += 4 * LANES)
        score_keys(a, h, j, queries, 4);
    for (; j < h->padded; j += LANES)
        score_keys(a, h, j, queries, 1);
    for (uint32_t q = 0; q < queries; q++)
        factors[q] = a->value_scale / exponentials(h, h->scores + (size_t)q * h->padded);
    for (; c + 4 * LANES <= a->value_size; c += 4 * LANES)
        add_values(a, h, head, x, c, factors, queries, 4);
    for (; c < a->value_size; c += LANES)
        add_values(a, h, head, x, c, factors, queries, 1);
}

static void attention_row(const mona_attention_row *a)
{
    const uint32_t count = a->rows * a->columns, padded = (count + LANES - 1) / LANES * LANES;
    if (a->size % LANES || a->value_size % LANES || a->queries.c0 != LANES || a->keys.c0 != LANES ||
        a->values.c0 != LANES || a->output.c0 != LANES) {
        mona_c_attention_row(a);
        return;
    }
    attention_head h = {.count = count, .padded = padded, .scores = a->scratch};
    h.keys = h.scores + (size_t)ATTENTION_QUERIES * padded;
    h.values = h.keys + (size_t)padded * a->size;
    h.query = h.values + (size_t)padded * a->value_size;
    for (uint32_t head = 0; head < a->heads; head++) {
        widen_head(a, &h, head);
        uint32_t x = 0;
        for (; x + ATTENTION_QUERIES <= a->pixels; x += ATTENTION_QUERIES)
            attend(a, &h, head, x, ATTENTION_QUERIES);
        for (; ATTENTION_QUERIES > 1 && x < a->pixels; x++)
            attend(a, &h, head, x, 1);
    }
}

#endif
