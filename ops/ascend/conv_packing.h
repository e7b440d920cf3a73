// SPDX-License-Identifier: Apache-2.0
/* How the instruction program of a convolution uses the cube: what a row of A and a column of B
 * stand for, and the constants packed for that. conv_packing.c makes it when constants are placed;
 * conv_instructions.c and its companions follow it. Private to ops/.
 *
 * A row of A is `pixels` neighbouring output pixels of a row, and what it holds are the bytes of
 * the source that their windows touch: for each run the window of the first to the window of the
 * last, in fractals of 32 bytes. The columns of B are the outputs of all these pixels, with zero
 * weights where a pixel's window does not reach. They are ordered as results are stored, so that 16
 * of them, a *lane block*, lie side by side at their place, and come in *parts*, `width` lane
 * blocks that are stored together. */
#ifndef MONA_OPS_CONV_PACKING_H
#define MONA_OPS_CONV_PACKING_H

#include "ops/conv.h"

/* Where the results of a part go. */
typedef enum mona_conv_way {
    MONA_CONV_ROW,     /* channel block `part` of the output row: [pixel][c0] */
    MONA_CONV_PLANES,  /* plane rows width * part + 0, 1, ...: lane block j is row j */
    MONA_CONV_SCATTER, /* [pixel][16 channels], then the scalar unit spreads them */
} mona_conv_way;

typedef struct mona_conv_packing {
    mona_conv_way way;
    uint32_t pixels; /* of a row of A */
    uint32_t c0;     /* channels of a part's pixel; planes: all */
    uint32_t width, parts;
    uint32_t group;     /* parts that are stored together by the scalar unit, else 1 */
    uint32_t fractal_k; /* elements of a fractal's row */
    bool aligned;       /* rows begin at 32 bytes, their first pixel at ring_columns */
    /* load3d reads columns of `column` bytes; a row of A begins `step` columns after the last. */
    uint32_t column, step;
    uint32_t run_fractals;
    /* The bias is multiplied by constants; or the vector unit spreads it over L0C; or there is
     * none.
     */
    bool bias_by_cube, bias_by_vector;
    /* A residual of 8 bits is multiplied by ones: it arrives in L0C in the order of the results. */
    bool residual_by_cube;
    uint32_t residual_column, residual_step, residual_fractals;
    uint32_t most;    /* fractals of rows in a tile at most */
    bool one_pattern; /* all lane blocks of a part have the same channels */
    bool masked;      /* lanes of the last part without a channel are stored as zero */
    /* Per part. */
    const uint32_t *first_run, *run_count, *weights_offset;
    /* B fractals of a part: [K: runs x run_fractals, bias, residual][width][16 lanes][fractal_k].
     */
    const uint8_t *weights;
    const uint8_t *ones; /* what multiplies the bias: ones_bytes */
    /* Per lane: [parts][width][16]. */
    const uint32_t *bias; /* s32 or f32 */
    const uint16_t *scale, *slope, *mask;
} mona_conv_packing;

static inline bool mona_conv_broadcasts(const mona_bound_op *b)
{
    return b->input[1].channels == 1 && b->output.channels > 1;
}

/* Fractals of K of a part: those of runs alone; with the bias; with the residual. */
static inline uint32_t mona_conv_window_k(const mona_conv_packing *k, uint32_t part)
{
    return k->run_count[part] * k->run_fractals;
}

static inline uint32_t mona_conv_sum_k(const mona_conv_packing *k, uint32_t part)
{
    return mona_conv_window_k(k, part) + k->bias_by_cube;
}

static inline uint32_t mona_conv_all_k(const mona_conv_packing *k, uint32_t part)
{
    return mona_conv_sum_k(k, part) + k->residual_fractals;
}

/* The channel block of the residual that a part needs. */
static inline uint32_t mona_conv_residual_block(const mona_conv_packing *k, bool broadcast,
                                                uint32_t residual_c0, uint32_t part)
{
    return broadcast || k->way == MONA_CONV_PLANES ? 0 : part * k->c0 / residual_c0;
}

/* conv_packing.c: the cheapest packing, without its constants; the bytes between a column and the
 * first byte of the window of kernel column kx, whose weights are zero. */
mona_conv_packing mona_conv_choose_packing(const mona_bound_op *b, const mona_conv_layout *l);
uint32_t mona_conv_lead(const mona_bound_op *b, const mona_conv_packing *k, uint32_t kx);

/* conv_weights.c. Whether the cube can add every bias. */
bool mona_conv_bias_fits(const mona_bound_op *b);
/* Bytes of the packing and its constants, 64-byte aligned; e: bound. */
size_t mona_conv_packing_bytes(const mona_bound_op *b);
const mona_conv_packing *mona_conv_packing_bind(const mona_bound_op *b, void *at,
                                                const ac_epilogue *e);

#endif
