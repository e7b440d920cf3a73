// SPDX-License-Identifier: Apache-2.0
/* The result is computed tile by tile. A few rows of the second matrix are read and added to all
 * sums of the tile, so the terms of every sum are in order, whatever the tile. fp32 holds the sum
 * of TERMS products of two integers of 8 bits and a sign exactly, as it is below 2^24. */
#include "formats/reference/operators.h"

#include <string.h>

enum { TERMS = 24, ROWS = 128, COLUMNS = 256 };

typedef struct sums {
    float part[COLUMNS];
    double whole[COLUMNS];
} sums;

/* Adds the terms one at a time, in order. */
static void add_terms(float *restrict to, const float *restrict a, size_t terms,
                      const float (*restrict b)[COLUMNS], size_t count)
{
    size_t k = 0;
    for (; k + 4 <= terms; k += 4)
        for (size_t i = 0; i < count; i++)
            to[i] = to[i] + a[k] * b[k][i] + a[k + 1] * b[k + 1][i] + a[k + 2] * b[k + 2][i] +
                    a[k + 3] * b[k + 3][i];
    for (; k < terms; k++)
        for (size_t i = 0; i < count; i++)
            to[i] += a[k] * b[k][i];
}

static void take_part(sums *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        s->whole[i] += (double)s->part[i];
    memset(s->part, 0, count * sizeof *s->part);
}

static void add_tile(const op_product *p, size_t row, size_t rows, size_t column, size_t columns,
                     sums *tile)
{
    float b[TERMS][COLUMNS];
    memset(tile, 0, rows * sizeof *tile);
    for (size_t r = 0; p->start && r < rows; r++)
        for (size_t i = 0; i < columns; i++)
            tile[r].part[i] = p->start[row + r];
    for (size_t k = 0; k < p->depth; k += TERMS) {
        const size_t terms = p->depth - k < TERMS ? p->depth - k : TERMS;
        for (size_t i = 0; i < terms; i++)
            p->row(p->context, k + i, column, columns, b[i]);
        for (size_t r = 0; r < rows; r++) {
            add_terms(tile[r].part, p->a + (row + r) * p->depth + k, terms,
                      (const float(*)[COLUMNS])b, columns);
            if (p->exact)
                take_part(&tile[r], columns);
        }
    }
}

bool op_multiply(op_call *c, const op_product *p)
{
    sums *tile = op_scratch(c, p->rows < ROWS ? p->rows : ROWS, sizeof *tile);
    for (size_t row = 0; tile && row < p->rows; row += ROWS) {
        const size_t rows = p->rows - row < ROWS ? p->rows - row : ROWS;
        for (size_t column = 0; column < p->columns; column += COLUMNS) {
            const size_t left = p->columns - column, columns = left < COLUMNS ? left : COLUMNS;
            add_tile(p, row, rows, column, columns, tile);
            for (size_t r = 0; r < rows; r++) {
                take_part(&tile[r], columns);
                p->store(p->to, p->index + (row + r) * p->columns + column, tile[r].whole, columns);
            }
        }
    }
    op_scratch_free(c, tile);
    return tile;
}

void op_store_numbers(void *to, size_t index, const double *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tensor_set_number(to, index + i, sums[i]);
}
