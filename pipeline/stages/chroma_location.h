// SPDX-License-Identifier: Apache-2.0
/* Where chroma sits between luma samples, and bicubic interpolation that keeps it there. */
#ifndef MONA_CHROMA_LOCATION_H
#define MONA_CHROMA_LOCATION_H

#include <stdbool.h>

#include "pipeline/error.h"
#include "mona.h"

/* A chroma sample stands for a group of luma samples: which of them it lies at, along one axis. */
typedef enum chroma_position { CHROMA_FIRST = -1, CHROMA_MIDDLE, CHROMA_LAST } chroma_position;

typedef struct chroma_location {
    chroma_position x, y;
} chroma_location;

/* A copy of a model whose RESIZE enlarges planes with samples in the middle of what they stand for,
 * changed to enlarge planes of chroma so sited, with 1 << shift luma samples a group, scale times.
 * *memory holds it and is the caller's to free, also on failure. */
bool chroma_location_model(mona_model *sited, void **memory, const mona_model *bicubic,
                           unsigned scale, chroma_location location, unsigned shift_x,
                           unsigned shift_y, pipeline_error *error);

#endif
