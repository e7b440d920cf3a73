// SPDX-License-Identifier: Apache-2.0
/* Kernels of the application's of which every sample of the results is a sum of neighbouring
 * samples, each an integer of times, multiplied by what is the same in all cells. The cube adds
 * them. Private to ops/.
 *
 * 16 samples of a row of results are a row of C, and 8 bytes more on either side of those of the
 * input are one or two rows of A, `windows` of 32 bytes that begin 16 bytes apart. A row of the
 * input is loaded for all results that need it. Samples of 16 bits are bytes to the cube: the upper
 * one counts 256 times as much, which takes several products of up to 128.
 *
 * L1 holds rows of two tiles as they lie in global memory, those of a cell's first row one after
 * the other, then those of its second one, and a block of neighbours at both ends of each; that has
 * the picture's first and last cell repeated at its edges. */
#ifndef MONA_OPS_KERNEL_SUMS_H
#define MONA_OPS_KERNEL_SUMS_H

#include "engine/op/kernel_program.h"
#include "ops/helpers.h"

enum { KERNEL_SOURCES = 64, KERNEL_PRODUCTS = 128, KERNEL_PASSES = 4, KERNEL_STEPS = 2048 };

/* Rows `inside` of cells of a plane of the input: how many cells further down than those of results
 * the first ones are that these need, and how many more there are. */
typedef struct kernel_phase {
    int16_t first;
    uint16_t more;
    uint32_t at,
        rows; /* where its rows lie in L1, and which of all rows of the tile is the first */
    bool used;
} kernel_phase;

/* What is loaded for products: rows of a phase, `row` cells further down. */
typedef struct kernel_source {
    int16_t row;
    uint8_t phase, first_product, products;
} kernel_source;

/* C += A B: `results` results from `first` on; weights: its first fractal of B. */
typedef struct kernel_product {
    uint8_t first, results, pass, weights;
    bool from_zero;
} kernel_product;

typedef struct kernel_sums {
    const mona_bound_op *bound;
    const mona_kernel_program *program;
    const mona_kernel_operand *image, *out;
    uint32_t input;                               /* the image's */
    uint32_t grid_rows, grid_columns, begin, end; /* rows of the grid; those to make */
    uint32_t size, windows;                       /* bytes of a sample; see above */
    uint32_t results;                             /* rows of cells of all planes */
    uint32_t row_bytes, pitch;                    /* of a row of the input; in L1 */
    uint32_t places, out_row, out_pitch; /* of C in a row in L1; bytes of a row of results */
    uint32_t rows, fractals, most;       /* of a tile; of C, those at a time */
    uint32_t phase_count, source_count, product_count, weights;
    kernel_phase phase[KERNEL_SOURCES];
    kernel_source source[KERNEL_SOURCES];
    kernel_product product[KERNEL_PRODUCTS];
    uint32_t all_rows;             /* of phases, of a tile */
    uint32_t half_bytes, l1_bytes; /* of L1: a tile's rows; all that is used */
    uint32_t most_l1_bytes;        /* for any of the rows */
    ac_address uniform, spare, scales, masks, edges[2], halves, raw[2]; /* in UB; spare: a block */
    uint32_t ub_bytes;
} kernel_sums;

/* Finds what is to be multiplied, and tiles for rows [begin, end) of the grid. False: it is none of
 * such sums, or rows do not lie at blocks. */
bool mona_kernel_sums(kernel_sums *k, const mona_bound_op *bound, uint32_t begin, uint32_t end);

typedef struct kernel_sums_running {
    const kernel_sums *k;
    ac_core *core;
    ac_address image, out;
    uint32_t a, c; /* which half of L0A and of L0C comes next */
} kernel_sums_running;

/* Brings the first tile's rows, once V has written all of UB. */
void mona_kernel_sums_bring(const kernel_sums_running *r);

/* By S: weights, which the cube has then, and masks, after which V may use them. */
void mona_kernel_sums_begin(const kernel_sums *k, ac_core *core);

/* Once uniform values are there, all tiles. */
void mona_kernel_sums_run(kernel_sums_running *r);

#endif
