// SPDX-License-Identifier: Apache-2.0
/* Finds where a plane differs from the previous frame's. With a still camera, or in drawn films,
 * most of a plane is unchanged and need not be enlarged again. */
#ifndef MONA_CHANGES_H
#define MONA_CHANGES_H

#include <stddef.h>

#include "mona.h"
#include "pipeline/stages/frame.h"

/* Planes are compared in blocks of this size. In each, the changed part is the rectangle that spans
 * all samples that differ. */
enum { CHANGES_ROWS = 16, CHANGES_COLUMNS = 32 };

/* The change of a plane, for a session with one input and one output. */
typedef struct plane_change {
    frame in, before; /* the frame and the one before */
    unsigned plane;
    mona_buffer previous; /* the previous frame's result */
    mona_rect *rects;     /* room for changes_most() of them */
    mona_change change;   /* as changes_find found it */
} plane_change;

/* The largest number of rectangles for a plane of this size. */
size_t changes_most(mona_size size);

/* Fills in the change of a plane_change, which argument points to. */
void changes_find(void *argument);

#endif
