// SPDX-License-Identifier: Apache-2.0
/* Frames as pictures for people: in RGB, at the size wanted, as PNG or JPEG. */
#ifndef MONA_FRAME_CONVERT_H
#define MONA_FRAME_CONVERT_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>

#include "pipeline/error.h"

/* A frame of any format as one of another size and format, by bicubic interpolation. Matrix and
 * range are those the frame names; without a name they are what players take: BT.709 from 720 rows
 * on, BT.601 below, limited. HDR transfer curves are left as they are. NULL: it cannot be had. The
 * caller frees the result. */
AVFrame *frame_convert(const AVFrame *from, int width, int height, enum AVPixelFormat format,
                       pipeline_error *error);

/* The same with matrix and range of the result named; the matrix may be AVCOL_SPC_UNSPECIFIED: that
 * of the frame. */
typedef struct frame_convert_shape {
    int width, height;
    enum AVPixelFormat format;
    enum AVColorRange range;
    enum AVColorSpace matrix;
} frame_convert_shape;

AVFrame *frame_convert_to(const AVFrame *from, const frame_convert_shape *shape,
                          pipeline_error *error);

typedef enum frame_convert_kind { FRAME_CONVERT_PNG, FRAME_CONVERT_JPEG } frame_convert_kind;

/* The file's bytes, of a frame of AV_PIX_FMT_RGB24 or, as PNG, another format that PNG has. JPEG:
 * chroma at full resolution, best quality. NULL: it cannot be had. The caller frees the packet. */
AVPacket *frame_convert_encode(const AVFrame *rgb, frame_convert_kind kind, pipeline_error *error);

/* The left half of before beside the right half of after, with a line between: both RGB24 of the
 * same size; after becomes the result. */
void frame_convert_halves(const AVFrame *before, AVFrame *after);

#endif
