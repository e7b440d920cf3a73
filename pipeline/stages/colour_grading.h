// SPDX-License-Identifier: Apache-2.0
/* Colour enhancement by curves over luma, which a network derives from each frame's thumbnail.
 *
 * The network returns values to add to the identity curves: COLOUR_GRADING_NODES each, at luma 0,
 * 16, ... 256 of 8 bits and full range, for luma, for the gains of u and v, and for their offsets.
 * Curves follow these answers slowly within a shot and at once at a cut. */
#ifndef MONA_COLOUR_GRADING_H
#define MONA_COLOUR_GRADING_H

#include <stdbool.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/stages/frame.h"

/* A small picture of a frame, made by exact averages of areas. */

enum { THUMBNAIL_SIDE = 64 };

/* Luma and chroma of the same size, 8 bits, full range, row after row. */
typedef struct thumbnail {
    uint8_t planes[3][THUMBNAIL_SIDE * THUMBNAIL_SIDE];
} thumbnail;

/* Makes it from the frame without padding, of full or studio range. Each sample is the rounded mean
 * of the area that it stands for, which has at least one sample. Grey frames get neutral chroma. */
void thumbnail_make(thumbnail *t, const frame *f, bool full_range);

enum {
    COLOUR_GRADING_NODES = MONA_CURVE_SEGMENTS + 1,
    COLOUR_GRADING_CURVES = 5,
    COLOUR_GRADING_GRID = 8, /* cells a side of the grid by which cuts are found */
};

/* The first curve of each kind, in the order of the answers. */
enum { COLOUR_GRADING_LUMA, COLOUR_GRADING_GAINS, COLOUR_GRADING_OFFSETS = 3 };

typedef struct colour_grading_curves {
    float values[COLOUR_GRADING_CURVES][COLOUR_GRADING_NODES]; /* of samples scaled to 0..1 */
} colour_grading_curves;

/* The state after a frame. */
typedef struct colour_grading_state {
    uint32_t frames; /* of the shot so far; 0: none yet */
    colour_grading_curves curves;
    uint8_t grid[COLOUR_GRADING_GRID * COLOUR_GRADING_GRID]; /* the last frame's luma */
} colour_grading_state;

/* Converts an answer to curves: luma never falls, gains lie from 0 to below 4, and everything is
 * finite. */
void colour_grading_read(colour_grading_curves *curves, const uint16_t *answer);

/* Follows the answer for the next frame. */
void colour_grading_follow(colour_grading_state *state, const thumbnail *seen,
                           const colour_grading_curves *answered);

/* Makes curves for samples with this many bits. strength 0: the identity. */
void colour_grading_settle(mona_curves *to, const colour_grading_curves *from, double strength,
                           unsigned bits, bool full_range);

#endif
