// SPDX-License-Identifier: Apache-2.0
/* What differs between a plane and that of the frame before, found by comparing them: in films of
 * still cameras and in drawn ones most of it does not, and need not be enlarged again. */
#ifndef MONA_CHANGES_H
#define MONA_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "mona.h"
#include "pipeline/stages/frame.h"

/* Planes are compared block by block; of each, what lies between the first and the last row and column
 * that differ has changed. */
enum { CHANGES_ROWS = 16, CHANGES_COLUMNS = 32 };

/* A plane's change, for a session with one input and one output. */
typedef struct plane_change {
    frame in, before; /* the frame and the one before */
    unsigned plane;
    mona_buffer previous; /* what was made of the one before */
    mona_rect *rects;     /* room for changes_most() of them */
    mona_change change;   /* as changes_find has found it */
} plane_change;

/* Rectangles that a plane of this size can have at most. */
size_t changes_most(mona_size size);

/* Fills in argument->change, of a plane_change. */
void changes_find(void *argument);

#endif
