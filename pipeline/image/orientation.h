// SPDX-License-Identifier: Apache-2.0
/* Turns pictures the way players show them: by quarter turns and mirroring, as a QuickTime file's
 * display matrix or a photograph's EXIF says. */
#ifndef MONA_ORIENTATION_H
#define MONA_ORIENTATION_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/base/words.h"

/* How a picture is turned; zeroed: not at all. The sample at (x, y) moves to xx x + yx y from the
 * left and xy x + yy y from the top. */
typedef struct orientation {
    int xx, xy, yx, yy; /* -1, 0 or 1 */
} orientation;

/* Of a stream. Angles that are not multiples of 90 degrees count as none. */
orientation orientation_of(const AVStream *stream);

/* How a video's frames are turned: as its stream says, or clockwise by so many degrees. */
#define ROTATIONS(FIRST, NEXT)                                                                     \
    FIRST(ROTATION_AUTO, "auto")                                                                   \
    NEXT(ROTATION_NONE, "none")                                                                    \
    NEXT(ROTATION_90, "90") NEXT(ROTATION_180, "180") NEXT(ROTATION_270, "270")
typedef enum rotation { WORDS_ENUM(ROTATIONS) } rotation;

orientation orientation_wanted(rotation rotate, const AVStream *stream);

/* Of a frame that libav decoded from a photograph. */
orientation orientation_of_still(const AVFrame *frame);

/* Of EXIF's orientation, 1 to 8. */
orientation orientation_of_exif(unsigned exif);

/* As a display matrix of 9 numbers. */
void orientation_matrix(int32_t *matrix, orientation turn);

bool orientation_changes(orientation turn);

/* Whether width and height are swapped. */
bool orientation_swaps(orientation turn);

typedef struct orientation_pixels {
    uint8_t *data;
    ptrdiff_t stride; /* bytes */
} orientation_pixels;

/* Turns pixels of this many bytes; width and height are those of `from`. */
void orientation_copy(orientation_pixels to, orientation_pixels from, int width, int height,
                      size_t pixel, orientation turn);

/* Whether frames of a format can be turned like that: chroma that is subsampled in one direction
 * only cannot take a quarter turn, nor can palettes and packed pixels that share chroma. */
bool orientation_takes(enum AVPixelFormat format, orientation turn);

/* The error, if they change and cannot. */
bool orientation_check(enum AVPixelFormat format, orientation turn, pipeline_error *error);

/* Where chroma lies afterwards. Where libav has no name for that, at the right, the nearest one. */
enum AVChromaLocation orientation_chroma(enum AVChromaLocation location, orientation turn);

/* Turns a frame in place, with its sample aspect ratio and chroma location. */
bool orientation_turn(AVFrame *frame, orientation turn, pipeline_error *error);

#endif
