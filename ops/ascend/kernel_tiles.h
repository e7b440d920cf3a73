// SPDX-License-Identifier: Apache-2.0
/* How a kernel of the application's works on tiles of its grid. Private to ops/.
 *
 * Where each result needs samples of its own cell alone and cells are single samples, elements lie
 * side by side, as in global memory. Else a row of a tile is cut into 16 segments of `columns`
 * cells, which transposes lay side by side as lanes: one column of all segments is a block. Then
 * neighbours, and the samples of a cell, are addresses. Rows follow each other at `pitch` columns,
 * among them `around` on both sides, so that all cells of a tile are one run of elements. */
#ifndef MONA_OPS_KERNEL_TILES_H
#define MONA_OPS_KERNEL_TILES_H

#include "engine/op/kernel_program.h"
#include "ops/helpers.h"

enum { WIDE_BYTES = 4, WIDE_BLOCK = AC_FRACTAL * WIDE_BYTES };

/* Of an input or the output. */
typedef struct kernel_plane {
    const mona_kernel_operand *operand;
    bool gathered;                          /* a table, of which entries are computed */
    uint32_t cell_bytes;                    /* of a row of a cell; in lanes, columns of bytes */
    uint32_t rows;                          /* of a tile and around it, in the grid */
    uint32_t raw_row, raw_plane, raw_bytes; /* as in global memory: bytes */
    uint32_t wide_plane;                    /* of one of its samples in all cells, as f32 */
    ac_address raw[2], wide, gm;            /* raw: of even tiles, of odd ones */
    ac_address entries;                     /* of a table: two uniform values of each entry */
} kernel_plane;

typedef struct kernel_tiles {
    const mona_bound_op *bound;
    const mona_kernel *kernel;
    const mona_kernel_program *program;
    ac_core *core;
    uint32_t grid_rows, grid_columns, begin, end; /* rows of the grid; those to make */
    bool lanes, places, gathers;
    /* In lanes: rows of a tile, columns of a lane, cells of a row of the tile. Else rows is 0, and
     * `columns` the elements of a tile. */
    uint32_t rows, columns, width, around, pitch;
    uint32_t count; /* elements of a value */
    kernel_plane input[MONA_KERNEL_OPERANDS], output;
    uint32_t bytes; /* of UB */
    /* index: each element's in a tile. */
    ac_address uniform, index;
    /* While samples are widened: halves in rows; in lanes; upper bytes as f32; edges. */
    struct {
        uint32_t rows, lanes, high, edges;
    } bring_bytes;
    struct {
        ac_address rows, lanes, high, edges;
    } bring;
    /* Then, in the same memory: values of all cells, and another one; results in lanes, in rows. */
    uint32_t put_rows_bytes, put_lanes_bytes;
    ac_address full, spare, put_rows, put_lanes;
} kernel_tiles;

/* The tile that begins at a row and a column of the grid; side by side, at an element. */
typedef struct kernel_tile {
    uint32_t row, column, parity;
} kernel_tile;

/* Chooses tiles for rows [begin, end) of the grid. False: none fit UB, or rows do not lie at
 * blocks. */
bool mona_kernel_tiles(kernel_tiles *t, const mona_bound_op *bound, uint32_t begin, uint32_t end);

/* Copies what a tile reads to UB, by MTE2; makes numbers of it; stores its results, by MTE3. */
void mona_kernel_bring(const kernel_tiles *t, const kernel_tile *tile);
void mona_kernel_widen(const kernel_tiles *t, const kernel_tile *tile);
void mona_kernel_put(const kernel_tiles *t, const kernel_tile *tile, const mona_kernel_step *step,
                     ac_address from);
void mona_kernel_take_away(const kernel_tiles *t, const kernel_tile *tile);

/* Where a sample of a tile's first cell lies. */
ac_address mona_kernel_sample(const kernel_tiles *t, const kernel_tile *tile,
                              const mona_kernel_step *step);

/* In UB, of 32 bytes each, behind the uniform values of the program. */
enum {
    KERNEL_256,
    KERNEL_EDGE, /* bits in the lane that holds the last cell of a row, and in all others */
    KERNEL_NO_EDGE,
    KERNEL_FIRST, /* side by side: element that the tile begins with; how far the next one is */
    KERNEL_NEXT,
    KERNEL_LAST, /* the same of the last tile */
    KERNEL_HALF,
    KERNEL_ROUND, /* 1.5 * 2^23: sums have no fractions */
    KERNEL_COLUMNS,
    KERNEL_RECIPROCAL, /* of the number of columns */
    KERNEL_OWN
};

static inline ac_address kernel_own(const kernel_tiles *t, uint32_t which)
{
    return t->uniform + (uint64_t)(t->program->uniform + which) * AC_BLOCK;
}

#endif
