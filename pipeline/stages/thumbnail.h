// SPDX-License-Identifier: Apache-2.0
/* What a frame looks like from afar: a small picture by exact averages of areas. */
#ifndef MONA_THUMBNAIL_H
#define MONA_THUMBNAIL_H

#include <stdint.h>

#include "pipeline/stages/frame.h"

enum { THUMBNAIL_SIDE = 64 };

/* Luma and chroma of one size, 8 bits, full range, a row after the other. */
typedef struct thumbnail {
    uint8_t planes[3][THUMBNAIL_SIDE * THUMBNAIL_SIDE];
} thumbnail;

/* Of the frame as shown, of full or studio range. Each sample is the mean, rounded, of the area it
 * stands for, at least one sample; grey frames get neutral chroma. */
void thumbnail_make(thumbnail *t, const frame *f, bool full_range);

#endif
