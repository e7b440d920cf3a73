// SPDX-License-Identifier: Apache-2.0
/* Pictures turned the way players show a file, by the display matrix that QuickTime's containers
 * hold, or by a photograph's EXIF: quarter turns and mirrors. */
#ifndef MONA_ORIENTATION_H
#define MONA_ORIENTATION_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

#include "pipeline/error.h"

/* What becomes of a picture; zeroed: nothing. A sample at (x, y) goes right by xx x + yx y and down
 * by xy x + yy y. */
typedef struct orientation {
    int xx, xy, yx, yy; /* -1, 0 or 1 */
} orientation;

/* Of a stream. Any other angle than those of quarters: nothing. */
orientation orientation_of(const AVStream *stream);

/* Of a frame that libav decoded from a photograph. */
orientation orientation_of_photo(const AVFrame *frame);

/* Of EXIF's orientation, 1 to 8. */
orientation orientation_of_exif(unsigned exif);

bool orientation_changes(orientation turn);

/* Width becomes height. */
bool orientation_swaps(orientation turn);

typedef struct orientation_pixels {
    uint8_t *data;
    ptrdiff_t stride; /* bytes */
} orientation_pixels;

/* Turns pixels of so many bytes; width and height are from's. */
void orientation_copy(orientation_pixels to, orientation_pixels from, int width, int height,
                      size_t pixel, orientation turn);

/* Turns a frame of AV_PIX_FMT_RGB24 in place. */
bool orientation_turn(AVFrame *rgb, orientation turn, pipeline_error *error);

#endif
