// SPDX-License-Identifier: Apache-2.0
/* What may change in the middle of a film. Stages and the encoder are made for the first frame, so
 * that later ones are converted to its size, format, range and matrix. What the result keeps of the
 * first frame while it changes, such as the shape of pixels, is told. */
#ifndef MONA_LIKE_FIRST_H
#define MONA_LIKE_FIRST_H

#include "pipeline/base/error.h"
#include "pipeline/image/frame_convert.h"

typedef struct like_first {
    AVRational pixel; /* the shape of a pixel */
    enum AVColorRange range;
    enum AVColorSpace matrix;
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    bool converted, told; /* frames were; what is not converted was told */
} like_first;

void like_first_begin(like_first *l, const AVFrame *first);

/* Whether the frame's samples mean what the first one's do, if they have its size and format. What
 * a frame does not name is as in the first one. */
bool like_first_colours(const like_first *l, const AVFrame *frame, enum AVPixelFormat first);

/* Turns the frame into one like the first, whose size and format these are. seconds: its time, for
 * a line. */
bool like_first_convert(like_first *l, AVFrame *frame, const AVCodecParameters *video, int width,
                        int height, double seconds, const char *path, const pipeline_notes *notes,
                        pipeline_error *error);

/* Tells, once, of what is not converted. */
void like_first_tell(like_first *l, const AVFrame *frame, double seconds, const char *path,
                     const pipeline_notes *notes);

#endif
