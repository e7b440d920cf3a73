// SPDX-License-Identifier: Apache-2.0
/* Pictures turned the way players show a file, by the display matrix that QuickTime's containers
 * hold, or by a photograph's EXIF: quarter turns and mirrors. */
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

/* Of a frame that libav decoded from a photograph. */
upright upright_of_photo(const AVFrame *frame);

/* Of EXIF's orientation, 1 to 8. */
upright upright_of_exif(unsigned orientation);

bool upright_changes(upright turn);

/* Width becomes height. */
bool upright_swaps(upright turn);

typedef struct upright_pixels {
    uint8_t *data;
    ptrdiff_t stride; /* bytes */
} upright_pixels;

/* Turns pixels of so many bytes; width and height are from's. */
void upright_copy(upright_pixels to, upright_pixels from, int width, int height, size_t pixel,
                  upright turn);

/* Turns a frame of AV_PIX_FMT_RGB24 in place. */
bool upright_turn(AVFrame *rgb, upright turn, pipeline_error *error);

#endif
