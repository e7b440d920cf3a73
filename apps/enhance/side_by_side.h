// SPDX-License-Identifier: Apache-2.0
/* One part of two pictures, side by side under labels. */
#ifndef MONA_SIDE_BY_SIDE_H
#define MONA_SIDE_BY_SIDE_H

#include <libavutil/frame.h>

#include "pipeline/base/error.h"

enum { SIDE_MAX = 800, SIDE_LABEL = 32 }; /* pixels: of the part, a side; rows of the labels */

typedef struct picture_part {
    int x, y, width, height;
} picture_part;

/* The part that differs most, at most SIDE_MAX pixels a side. Both are RGB24 of one size. */
picture_part side_most_changed(const AVFrame *before, const AVFrame *after);

/* NULL: out of memory. The caller frees it. */
AVFrame *side_by_side(const AVFrame *before, const AVFrame *after, picture_part part,
                      pipeline_error *error);

#endif
