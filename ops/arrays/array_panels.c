// SPDX-License-Identifier: Apache-2.0
#include "ops/arrays/arrays.h"

typedef struct panels_float {
    float a[PANEL_ROWS][PANEL_DEPTH], b[PANEL_DEPTH][PANEL_COLUMNS];
    float sums[PANEL_ROWS][PANEL_COLUMNS];
} panels_float;

typedef struct panels_int {
    uint64_t a[PANEL_ROWS][PANEL_DEPTH], b[PANEL_DEPTH][PANEL_COLUMNS];
    uint64_t sums[PANEL_ROWS][PANEL_COLUMNS];
} panels_int;

size_t mona_panel_scratch_bytes(void)
{
    return sizeof(panels_int);
}

static uint32_t tiles_of(uint32_t count, uint32_t tile)
{
    return (count + tile - 1) / tile;
}

uint64_t mona_panel_tiles(uint32_t rows, uint32_t columns)
{
    return (uint64_t)tiles_of(rows, PANEL_ROWS) * tiles_of(columns, PANEL_COLUMNS);
}

void mona_panel_locate(panel_tile *t, uint64_t index, uint32_t rows, uint32_t columns)
{
    const uint32_t across = tiles_of(columns, PANEL_COLUMNS);
    t->row = (uint32_t)(index / across) * PANEL_ROWS;
    t->column = (uint32_t)(index % across) * PANEL_COLUMNS;
    t->rows = rows - t->row < PANEL_ROWS ? rows - t->row : PANEL_ROWS;
    t->columns = columns - t->column < PANEL_COLUMNS ? columns - t->column : PANEL_COLUMNS;
}

/* ---- floats -------------------------------------------------------------------------------- */

/* Multiplies whole strips. Rows and columns beyond the tile's hold values from before; their sums
 * are not used. */
static void multiply_floats(panels_float *p, uint32_t rows, uint32_t columns, uint32_t depth)
{
    for (uint32_t r = 0; r < rows; r += STRIP_ROWS)
        for (uint32_t c = 0; c < columns; c += STRIP_COLUMNS) {
            float sums[STRIP_ROWS][STRIP_COLUMNS];
            for (uint32_t i = 0; i < STRIP_ROWS; i++)
                memcpy(sums[i], &p->sums[r + i][c], sizeof sums[i]);
            for (uint32_t k = 0; k < depth; k++)
                for (uint32_t i = 0; i < STRIP_ROWS; i++)
                    for (uint32_t j = 0; j < STRIP_COLUMNS; j++)
                        sums[i][j] += p->a[r + i][k] * p->b[k][c + j];
            for (uint32_t i = 0; i < STRIP_ROWS; i++)
                memcpy(&p->sums[r + i][c], sums[i], sizeof sums[i]);
        }
}

static void run_float(const panel_reader *reader, const panel_tile *t, panels_float *p)
{
    for (uint32_t r = 0; r < t->rows; r++) {
        const float start = reader->start ? reader->start(t, t->row + r).as_float : 0;
        for (uint32_t c = 0; c < PANEL_COLUMNS; c++)
            p->sums[r][c] = start;
    }
    for (uint32_t k = 0, depth; k < t->depth; k += depth) {
        depth = t->depth - k < PANEL_DEPTH ? t->depth - k : PANEL_DEPTH;
        for (uint32_t r = 0; r < t->rows; r++)
            reader->row_of_a(t, t->row + r, k, depth, p->a[r]);
        for (uint32_t i = 0; i < depth; i++)
            reader->row_of_b(t, k + i, p->b[i]);
        multiply_floats(p, t->rows, t->columns, depth);
    }
    for (uint32_t r = 0; r < t->rows; r++)
        mona_array_put_floats(t->call->output, t->call->bound->output.type, MONA_WRAP,
                              reader->place(t, t->row + r), p->sums[r], t->columns);
}

/* ---- integers ------------------------------------------------------------------------------ */

static void multiply_ints(panels_int *p, uint32_t rows, uint32_t columns, uint32_t depth)
{
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t k = 0; k < depth; k++)
            for (uint32_t c = 0; c < columns; c++)
                p->sums[r][c] += p->a[r][k] * p->b[k][c];
}

static void run_int(const panel_reader *reader, const panel_tile *t, panels_int *p)
{
    for (uint32_t r = 0; r < t->rows; r++) {
        const int64_t start = reader->start ? reader->start(t, t->row + r).as_int : 0;
        for (uint32_t c = 0; c < t->columns; c++)
            p->sums[r][c] = (uint64_t)start;
    }
    for (uint32_t k = 0, depth; k < t->depth; k += depth) {
        depth = t->depth - k < PANEL_DEPTH ? t->depth - k : PANEL_DEPTH;
        for (uint32_t r = 0; r < t->rows; r++)
            reader->row_of_a(t, t->row + r, k, depth, p->a[r]);
        for (uint32_t i = 0; i < depth; i++)
            reader->row_of_b(t, k + i, p->b[i]);
        multiply_ints(p, t->rows, t->columns, depth);
    }
    for (uint32_t r = 0; r < t->rows; r++)
        mona_array_put_ints(t->call->output, t->call->bound->output.type, MONA_WRAP,
                            t->call->bound->input[0].type == MONA_U64, reader->place(t, t->row + r),
                            (const int64_t *)p->sums[r], t->columns);
}

void mona_panel_run(const panel_reader *reader, const panel_tile *t, uint8_t *scratch)
{
    if (t->arithmetic == MONA_FLOAT)
        run_float(reader, t, (panels_float *)(void *)scratch);
    else
        run_int(reader, t, (panels_int *)(void *)scratch);
}
