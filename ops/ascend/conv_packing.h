// SPDX-License-Identifier: Apache-2.0
/* How the instruction program of a convolution uses the cube: what rows of A and columns of B stand
 * for, and the constants packed for that. conv_packing.c chooses the packing, conv_weights.c packs
 * the constants, and conv_instructions.c and its companions follow it. Private to ops/.
 *
 * A row of A stands for `pixels` neighbouring output pixels. It holds the bytes of the source that
 * their windows touch: for each run, everything from the first pixel's window to the last one's, in
 * fractals of 32 bytes. The columns of B are the outputs of all these pixels, with zero weights
 * where a pixel's window does not reach.
 *
 * Columns of B are in the order in which results are stored. 16 of them, a *lane block*, lie side
 * by side in the result. `width` lane blocks that are stored together are a *part*. */
#ifndef MONA_OPS_CONV_PACKING_H
#define MONA_OPS_CONV_PACKING_H

#include "ops/ascend/lanes.h"
#include "ops/ascend/polynomials.h"
#include "ops/conv.h"

enum {
    FRACTAL_BYTES = AC_FRACTAL * AC_BLOCK, /* of A and B */
    C_FRACTAL_BYTES = AC_FRACTAL * AC_FRACTAL * 4,
    MAX_STEP = 63,     /* columns from pixel to pixel of a load3d */
    REPEAT_BLOCKS = 8, /* of UB, that a repeat of a vector instruction takes */
};

/* The smallest columns of load3d: of the small-channel mode, or without it of a fractal's row. */
static inline uint32_t mona_conv_column(const ac_target *target)
{
    return target->small_c0_8bit[0] ? 8 : AC_BLOCK;
}

/* Where the results of a part go. */
typedef enum mona_conv_way {
    MONA_CONV_ROW,     /* to channel block `part` of the output row: [pixel][c0] */
    MONA_CONV_PLANES,  /* lane block j to row width * part + j of the planes */
    MONA_CONV_SCATTER, /* [pixel][16 channels]; the scalar unit spreads them in the output row */
} mona_conv_way;

enum { MONA_CONV_MAX_GROUP = 4 };

typedef struct mona_conv_packing {
    mona_conv_way way;
    uint32_t pixels;       /* output pixels that a row of A stands for */
    uint32_t c0;           /* channels of a pixel in a part; for planes, all channels */
    uint32_t width, parts; /* lane blocks of a part; parts of all outputs */
    uint32_t group;        /* parts that a tile computes, at most 4 */
    uint32_t fractal_k;    /* elements in a row of a fractal */
    /* load3d reads columns of `column` bytes; rows of A begin `step` columns apart. */
    uint32_t column, step;
    uint32_t run_fractals; /* fractals of K for one run */
    /* The cube adds the bias by multiplying it by constants, or the vector unit writes it to L0C
     * before. Both false: there is no bias. */
    bool bias_by_cube, bias_by_vector;
    /* The cube multiplies a residual of 8 bits by ones, which brings it to L0C in the order of the
     * results. */
    bool residual_by_cube;
    uint32_t residual_column, residual_step, residual_fractals; /* as those of the source */
    uint32_t max_fractals;                                      /* of rows of A in a tile */
    bool one_pattern; /* all lane blocks of a part have the same channels */
    bool masked;      /* lanes without a channel, which the last part has, are stored as zero */
    const uint32_t *first_run, *run_count, *weights_offset; /* [parts]; offsets in bytes */
    const mona_polynomials *table;                          /* NULL: the results go into no table */
    /* Where these lie among the constants that instructions read, in this order:
     *   bias, s32 or f32, scale, slope and mask, each [parts][width][16]
     *   the rows of A that the bias is multiplied by
     *   weights: the fractals of B. Parts of a group that have the same runs are a *set*, at
     *     weights_offset of each: [K: runs x run_fractals, bias][parts][width][16 lanes]
     *     [fractal_k], then [parts][residual_fractals][width][16 lanes][fractal_k] */
    size_t bias, scale, slope, mask, ones, weights;
} mona_conv_packing;

/* Whether a residual of one channel is added to all outputs. */
static inline bool mona_conv_broadcasts(const mona_bound_op *b)
{
    return b->input[1].channels == 1 && b->output.channels > 1;
}

/* Fractals of K of a part: of its runs; with the bias (sum_k); with the residual as well
 * (all_k). */
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

/* The end of the set that begins with a part. */
static inline uint32_t mona_conv_set_end(const mona_conv_packing *k, uint32_t part)
{
    const uint32_t group_end = part / k->group * k->group + k->group;
    uint32_t end = part + 1;
    while (end < group_end && end < k->parts && k->first_run[end] == k->first_run[part] &&
           k->run_count[end] == k->run_count[part])
        end++;
    return end;
}

/* The channel block of the residual that a part needs. */
static inline uint32_t mona_conv_residual_block(const mona_conv_packing *k, bool broadcast,
                                                uint32_t residual_c0, uint32_t part)
{
    return broadcast || k->way == MONA_CONV_PLANES ? 0 : part * k->c0 / residual_c0;
}

/* The cheapest packing, without its constants. */
mona_conv_packing mona_conv_choose_packing(const mona_bound_op *b, const mona_conv_layout *l);
/* Bytes from the beginning of a column to the window of kernel column kx; their weights are
 * zero. */
uint32_t mona_conv_lead(const mona_bound_op *b, const mona_conv_packing *k, uint32_t kx);

/* Whether the cube can add every bias (conv_weights.c). */
bool mona_conv_bias_fits(const mona_bound_op *b);
#endif
