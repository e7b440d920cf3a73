// SPDX-License-Identifier: Apache-2.0
/* Products of matrices in panels, of fp32 or of 64-bit numbers, for ARRAY_MATMUL and ARRAY_WINDOW.
 *
 * A result is divided into tiles of PANEL_ROWS x PANEL_COLUMNS sums, and each tile is an item. The
 * inner dimension is processed in steps of PANEL_DEPTH. In each step this part of a's rows and b's
 * columns is converted to numbers and packed side by side in panels, whatever their types and
 * strides, and the panels are multiplied. A sum adds its products one after another with the inner
 * index ascending, so tiles and steps do not change the result.
 *
 * Operators define how rows of a and b are read (panel_reader). Private to ops/. */
#ifndef MONA_OPS_ARRAY_PANELS_H
#define MONA_OPS_ARRAY_PANELS_H

#include "ops/arrays/arrays.h"

enum { PANEL_ROWS = 16, PANEL_COLUMNS = 128, PANEL_DEPTH = 64 };

/* A tile of the result. */
typedef struct panel_tile {
    const mona_array_call *call;
    mona_arithmetic arithmetic;
    uint64_t matrix;      /* index of the matrix in the batch; for ARRAY_WINDOW, in batch x
                             groups */
    uint32_t row, column; /* the first row and column of the tile */
    uint32_t rows, columns;
    uint32_t depth; /* the extent of the inner dimension */
} panel_tile;

/* How an operator reads its matrices. row_of_a and row_of_b write numbers side by side: float or
 * int64_t, by the tile's arithmetic. */
typedef struct panel_reader {
    /* Reads a[row][k .. k + count), and b[k][the tile's columns]. */
    void (*row_of_a)(const panel_tile *tile, uint32_t row, uint32_t k, uint32_t count, void *to);
    void (*row_of_b)(const panel_tile *tile, uint32_t k, void *to);
    /* The initial value of a row's sums. NULL: 0. */
    array_number (*start)(const panel_tile *tile, uint32_t row);
    /* The element of the output for the tile's first sum in a row. The others follow it. */
    uint64_t (*place)(const panel_tile *tile, uint32_t row);
} panel_reader;

size_t mona_panel_scratch_bytes(void);
/* The number of tiles of a matrix of `rows` x `columns`. */
uint64_t mona_panel_tiles(uint32_t rows, uint32_t columns);
/* Computes and stores a tile. scratch: mona_panel_scratch_bytes() bytes. */
void mona_panel_run(const panel_reader *reader, const panel_tile *tile, uint8_t *scratch);
/* Sets row, column, rows and columns of tile number `index` of a matrix of `rows` x `columns`. */
void mona_panel_locate(panel_tile *tile, uint64_t index, uint32_t rows, uint32_t columns);

#endif
