// SPDX-License-Identifier: Apache-2.0
/* A small picture of a frame, made by exact averages of areas. */
#ifndef MONA_THUMBNAIL_H
#define MONA_THUMBNAIL_H

#include <stdint.h>

#include "pipeline/stages/frame.h"

enum { THUMBNAIL_SIDE = 64 };

/* Luma and chroma of the same size, 8 bits, full range, row after row. */
typedef struct thumbnail {
    uint8_t planes[3][THUMBNAIL_SIDE * THUMBNAIL_SIDE];
} thumbnail;

/* Makes it from the frame without padding, of full or studio range. Each sample is the rounded mean
 * of the area that it stands for, which has at least one sample. Grey frames get neutral chroma. */
void thumbnail_make(thumbnail *t, const frame *f, bool full_range);

#endif
