// SPDX-License-Identifier: Apache-2.0
/* Shared by conv.c and conv_map.c. Private to ops/. */
#ifndef MONA_OPS_CONV_H
#define MONA_OPS_CONV_H

#include "ops/helpers.h"

/* How K is cut into runs and pieces; conv.c says what these are. */
typedef struct mona_conv_layout {
    uint32_t c0, c1; /* channels of a channel block of the source, and its number of blocks */
    uint32_t kernel_h, kernel_w;
    /* `last_`: in the last channel block of the source */
    uint32_t taps, last_taps; /* kernel columns in a run */
    uint32_t run_elements, last_run_elements;
    /* For row programs only. */
    uint32_t piece;   /* elements of a step */
    uint32_t element; /* bytes of a packed weight */
    bool depthwise;   /* elements of a run are columns, of one channel */
} mona_conv_layout;

mona_conv_layout mona_conv_layout_of(const mona_bound_op *b);

/* Channel blocks [begin, end) of the source that outputs [first, first + count) read. Outputs
 * beyond the last one are ignored. */
mona_span mona_conv_used_blocks(const mona_bound_op *b, const mona_conv_layout *k, uint32_t first,
                                uint32_t count);

/* The index in the file of the weight for output o, this channel of the source and this kernel row
 * and column; -1: it is zero. */
int64_t mona_conv_weight_index(const mona_bound_op *b, uint32_t o, uint32_t channel, uint32_t ky,
                               uint32_t kx);

/* The constants that row kernels and programs share, at the beginning of either's constants:
 * mona_conv and the arrays of its epilogue. */
size_t mona_conv_head_bytes(const mona_bound_op *b);
mona_conv *mona_conv_bind_head(const mona_bound_op *b);

/* Channel blocks that lie side by side for each pixel, and so do their weights, if the operator
 * runs on whole maps; 1: none. */
uint32_t mona_conv_joined_blocks(const mona_bound_op *b);

/* Whether row kernels use Winograd's filter. */
bool mona_conv_winograd(const mona_bound_op *b);

/* Functions of mona_op_class for whole maps. */
bool mona_conv_map_possible(const mona_bound_op *b);
size_t mona_conv_map_scratch_bytes(const mona_bound_op *b);
void mona_conv_map(const mona_map_call *call);

#endif
