// SPDX-License-Identifier: Apache-2.0
/* Pictures turned the way players show a file, by the display matrix that QuickTime's containers
 * hold: quarter turns and mirrors. */
#ifndef MONA_UPRIGHT_H
#define MONA_UPRIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

#include "pipeline/error.h"

/* What becomes of a picture; zeroed: nothing. A sample at (x, y) goes right by xx x + yx y and down
 * by xy x + yy y. */
typedef struct upright {
    int xx, xy, yx, yy; /* -1, 0 or 1 */
} upright;

/* Of a stream. Any other angle than those of quarters: nothing. */
upright upright_of(const AVStream *stream);

/* Width becomes height. */
bool upright_swaps(upright turn);

/* Turns a frame of AV_PIX_FMT_RGB24 in place. */
bool upright_turn(AVFrame *rgb, upright turn, pipeline_error *error);

#endif
