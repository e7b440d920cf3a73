// SPDX-License-Identifier: Apache-2.0
/* How a kernel of the application's works on tiles of its grid. Private to ops/.
 *
 * Where each result needs samples of its own cell alone and cells are single samples, or all of
 * them stay in rows (kernel_program.h), elements lie side by side, as in global memory. Else 16
 * pieces of `columns` cells of a row are lanes, which transposes lay side by side: one column of
 * all lanes is a block. Upright, a tile has 16 rows of the grid, each of which is a lane, and so
 * are the rows above and below each; else a lane is a 16th of each row. Then neighbours, and the
 * samples of a cell, are addresses. Rows follow each other at `pitch` columns, among them
 * `around` on both sides, so that all cells of a tile are one run of elements.
 *
 * A program of halves has f16 numbers where others have those of 32 bits. */
#ifndef MONA_OPS_KERNEL_TILES_H
#define MONA_OPS_KERNEL_TILES_H

#include "engine/op/kernel_program.h"
#include "ops/helpers.h"

enum { WIDE_BYTES = 4 };

/* Of an input or the output. */
typedef struct kernel_plane {
    const mona_kernel_operand *operand;
    bool gathered;       /* a table, of which entries are computed */
    bool rows;           /* samples stay as they lie */
    uint32_t cell;       /* samples of a cell */
    uint32_t cell_bytes; /* side by side, of a cell; in lanes, of a row of it */
    uint64_t gm_plane;   /* bytes */
    uint32_t group;      /* of samples of a row that lie in lanes alike: 16, or 48 of cells of 3 */
    /* For each row of a cell: the first row of lanes or around them that is used, counted from the
     * first there is, and how many more in rows of one lane; NONE. Then rows that are used, and
     * those before. */
    uint32_t first[MONA_KERNEL_CELL], more[MONA_KERNEL_CELL];
    uint32_t used[MONA_KERNEL_CELL], before[MONA_KERNEL_CELL];
    uint32_t raw_row, raw_plane, raw_bytes; /* as in global memory: bytes; of one buffer */
    uint32_t wide_plane;                    /* as numbers */
    ac_address raw[2], wide, gm;            /* raw: of even tiles or planes, of odd ones */
    ac_address entries;                     /* of a table: two uniform values of each entry */
} kernel_plane;

typedef struct kernel_tiles {
    const mona_bound_op *bound;
    const mona_kernel *kernel;
    const mona_kernel_program *program;
    ac_core *core;
    uint32_t grid_rows, grid_columns, begin, end; /* rows of the grid; those to make */
    uint32_t buffers, results;                    /* of samples as stored; of planes of results */
    bool lanes, upright, places, gathers, held, spreads;
    /* In lanes: rows and columns of a lane; rows of a tile in the grid, cells of one. Else rows is
     * 0, and `columns` the elements of a tile. */
    uint32_t rows, columns, height, width, around, pitch;
    uint32_t cells, count;             /* elements of a tile; of a value: in lanes, whole repeats */
    uint32_t planes, groups;           /* of all inputs; parts of them that come one by one */
    uint32_t value_bytes, value_block; /* of an element; of one column of all lanes */
    kernel_plane input[MONA_KERNEL_OPERANDS], output;
    uint32_t bytes; /* of UB */
    /* index: each element's in a tile. */
    ac_address uniform, index;
    ac_address pad; /* blocks with the upper halves of f32 numbers */
    uint32_t pad_bytes;
    /* While samples become numbers: as f16, in rows and in lanes; edges. */
    struct {
        uint32_t rows, lanes, edges;
    } bring_bytes;
    struct {
        ac_address rows, lanes, edges;
    } bring;
    /* Then, in the same memory: values of all cells, and another one; results as f16, in rows and
     * in lanes. */
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

/* By V, what does not change. */
void mona_kernel_begin(const kernel_tiles *t);

/* Copies a group of the planes that a tile reads to UB, by MTE2; makes numbers of it; makes a plane
 * of results of values from `from` on, once MTE3 has stored what was there; stores it, by MTE3. */
void mona_kernel_bring(const kernel_tiles *t, const kernel_tile *tile, uint32_t group);
void mona_kernel_widen(const kernel_tiles *t, const kernel_tile *tile, uint32_t group);
void mona_kernel_put(const kernel_tiles *t, const mona_kernel_step *step, ac_address from,
                     uint32_t event);
/* Makes all samples of a cell in rows of each value from `from` on. */
void mona_kernel_spread(const kernel_tiles *t, ac_address to, ac_address from);
void mona_kernel_take_away(const kernel_tiles *t, const kernel_tile *tile, uint32_t plane,
                           uint32_t event);

/* Where a sample of a tile's first cell lies. */
ac_address mona_kernel_sample(const kernel_tiles *t, const kernel_tile *tile,
                              const mona_kernel_step *step);

/* In UB, of 32 bytes each, behind the uniform values of the program. */
enum {
    KERNEL_LOW_BITS,  /* 2^23: f32 numbers whose lower halves are integers begin there */
    KERNEL_HELD_BITS, /* see MONA_KERNEL_HELD */
    KERNEL_EDGE,      /* bits in the lane that holds the last cell of a row: two blocks */
    KERNEL_NO_EDGE = KERNEL_EDGE + 2, /* and in all others */
    /* Side by side: the element that the tile begins with; how far the next one is. */
    KERNEL_FIRST = KERNEL_NO_EDGE + 2,
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
