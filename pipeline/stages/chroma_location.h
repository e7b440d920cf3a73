// SPDX-License-Identifier: Apache-2.0
/* Where chroma samples lie between luma samples, and bicubic interpolation that keeps them
 * there. */
#ifndef MONA_CHROMA_LOCATION_H
#define MONA_CHROMA_LOCATION_H

#include <stdbool.h>

#include "pipeline/base/error.h"
#include "mona.h"

/* A chroma sample stands for a group of luma samples. This is its position in the group along one
 * axis. */
typedef enum chroma_position { CHROMA_FIRST = -1, CHROMA_MIDDLE, CHROMA_LAST } chroma_position;

typedef struct chroma_location {
    chroma_position x, y;
} chroma_location;

/* Copies a model whose RESIZE enlarges planes whose samples lie in the middle of their groups, and
 * changes it to enlarge chroma planes at these positions, with 1 << shift luma samples per group,
 * scale times, by interpolation of this mode (mona_resize_mode). *memory holds the copy; the caller
 * frees it, also on failure. */
bool chroma_location_model(mona_model *sited, void **memory, const mona_model *bicubic,
                           unsigned mode, unsigned scale, chroma_location location,
                           unsigned shift_x, unsigned shift_y, pipeline_error *error);

#endif
