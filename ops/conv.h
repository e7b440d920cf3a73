// SPDX-License-Identifier: Apache-2.0
/* What conv.c and conv_map.c share. Private to ops/. */
#ifndef MONA_OPS_CONV_H
#define MONA_OPS_CONV_H

#include "ops/helpers.h"

/* How K is cut into runs and pieces; conv.c says what these are. */
typedef struct mona_conv_layout {
    uint32_t c0, c1; /* channels of a block of the source, and its blocks */
    uint32_t kernel_h, kernel_w;
    uint32_t taps, last_taps; /* kernel columns in a run; in one of the last channel block */
    uint32_t run_elements, last_run_elements;
    /* Row programs only. */
    uint32_t piece;   /* elements of a step */
    uint32_t element; /* bytes of a packed weight */
} mona_conv_layout;

mona_conv_layout mona_conv_layout_of(const mona_bound_op *b);

/* Channel blocks [begin, end) of the source that outputs [first, first + count) read; those beyond
 * the last output do not exist. */
mona_span mona_conv_used_blocks(const mona_bound_op *b, const mona_conv_layout *k, uint32_t first,
                                uint32_t count);

/* Where in the file the weight of (output, channel, kernel row, kernel column) is, counted in
 * weights, or -1: it is zero. */
int64_t mona_conv_weight_index(const mona_bound_op *b, uint32_t o, uint32_t channel, uint32_t ky,
                               uint32_t kx);

/* mona_op_class.map_possible, map_scratch_bytes and map. */
bool mona_conv_map_possible(const mona_bound_op *b);
size_t mona_conv_map_scratch_bytes(const mona_bound_op *b);
void mona_conv_map(const mona_map_call *call);

#endif
