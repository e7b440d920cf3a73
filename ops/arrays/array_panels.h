// SPDX-License-Identifier: Apache-2.0
/* Products of matrices in panels, of fp32 or of 64-bit numbers, for ARRAY_MATMUL and ARRAY_WINDOW.
 *
 * A result is tiled into PANEL_ROWS x PANEL_COLUMNS sums, each tile an item of its own. The inner
 * dimension goes by in steps of PANEL_DEPTH: that much of a's rows and b's columns is brought into
 * panels, as numbers and side by side whatever their types and strides, then multiplied. A sum
 * takes its products one after another, the inner index ascending, so tiles and steps do not show
 * in it.
 *
 * Operators say how rows of a and b are read (panel_reader). Private to ops/. */
#ifndef MONA_OPS_ARRAY_PANELS_H
#define MONA_OPS_ARRAY_PANELS_H

#include "ops/arrays/arrays.h"

enum { PANEL_ROWS = 16, PANEL_COLUMNS = 128, PANEL_DEPTH = 64 };

/* A block of the result, and what of a and b goes into it. */
typedef struct panel_tile {
    const mona_array_call *call;
    mona_arithmetic arithmetic;
    uint64_t matrix;      /* which of the batch (of the batch's groups) */
    uint32_t row, column; /* the first ones */
    uint32_t rows, columns;
    uint32_t depth; /* the inner dimension */
} panel_tile;

/* Each fills numbers side by side: float or int64_t by the tile's arithmetic. */
typedef struct panel_reader {
    /* a[row][k .. k + count) and b[k][the tile's columns]. */
    void (*row_of_a)(const panel_tile *tile, uint32_t row, uint32_t k, uint32_t count, void *to);
    void (*row_of_b)(const panel_tile *tile, uint32_t k, void *to);
    /* What the sums of a row begin with; NULL: 0. */
    array_number (*start)(const panel_tile *tile, uint32_t row);
    /* Element of the output where a row's first sum of the tile goes; the others follow. */
    uint64_t (*place)(const panel_tile *tile, uint32_t row);
} panel_reader;

size_t mona_panel_scratch_bytes(void);
/* Tiles of a matrix of so many rows and columns. */
uint64_t mona_panel_tiles(uint32_t rows, uint32_t columns);
/* Computes and stores a tile. scratch: mona_panel_scratch_bytes(). */
void mona_panel_run(const panel_reader *reader, const panel_tile *tile, uint8_t *scratch);
/* Tile number `index` of a matrix: sets row, column, rows, columns. */
void mona_panel_locate(panel_tile *tile, uint64_t index, uint32_t rows, uint32_t columns);

#endif
