// SPDX-License-Identifier: Apache-2.0
/* Converts frames to pictures for people to look at: RGB, any size, PNG or JPEG. */
#ifndef MONA_FRAME_CONVERT_H
#define MONA_FRAME_CONVERT_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/image/picture_kind.h"

/* The matrix that is named; if none is, the one that players assume: BT.709 from 720 rows on,
 * BT.601 below. */
enum AVColorSpace frame_convert_assumed(enum AVColorSpace named, int height);
enum AVColorSpace frame_convert_matrix(const AVFrame *frame);

/* Whether libswscale converts colours of this matrix; of others it makes those of BT.601. */
bool frame_convert_knows(enum AVColorSpace matrix);

/* Converts a frame to another size and format by bicubic interpolation. Matrix and range are those
 * that the frame names; if it names none, those that players assume: limited range, and the matrix
 * above. HDR transfer curves are kept. NULL: failed. The caller frees the result. */
AVFrame *frame_convert(const AVFrame *from, int width, int height, enum AVPixelFormat format,
                       pipeline_error *error);

typedef struct frame_convert_shape {
    int width, height;
    enum AVPixelFormat format;
    enum AVColorRange range;
    enum AVColorSpace matrix; /* AVCOL_SPC_UNSPECIFIED: the frame's */
} frame_convert_shape;

/* The same with the result's matrix and range. */
AVFrame *frame_convert_to(const AVFrame *from, const frame_convert_shape *shape,
                          pipeline_error *error);

/* Replaces the frame by a converted one with its other properties. */
bool frame_convert_replace(AVFrame *frame, const frame_convert_shape *shape, pipeline_error *error);

/* Encodes a frame of AV_PIX_FMT_RGB24 as PNG, JPEG or WebP or, as PNG, of another format that PNG
 * supports. JPEG has chroma at full resolution and the best quality; WebP is lossless, with 8 bits.
 * NULL: failed. The caller frees the packet. */
AVPacket *frame_convert_encode(const AVFrame *rgb, picture_kind kind, pipeline_error *error);

#endif
