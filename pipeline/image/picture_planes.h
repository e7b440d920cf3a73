// SPDX-License-Identifier: Apache-2.0
/* Pictures in RGB, and frames whose samples stand packed beside each other, as the planes mona works
 * on; and frames as pictures again. */
#ifndef MONA_PICTURE_PLANES_H
#define MONA_PICTURE_PLANES_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

#include "pipeline/error.h"

/* What a codec takes best of pictures in RGB. */
typedef enum picture_chroma { PICTURE_444, PICTURE_420, PICTURE_422_10 } picture_chroma;

/* Lossless codecs and pictures keep all the chroma there is, others get what players take. */
picture_chroma picture_chroma_for(enum AVCodecID codec);

/* Whether samples of a pixel format are RGB or a palette's numbers. */
bool picture_is_rgb(int format);

/* The format of planes for pictures of a pixel format: its own if it has planes, else grey or YUV,
 * with alpha if it has alpha. AV_PIX_FMT_NONE: it has more than 8 bits, or libswscale cannot read it.
 */
enum AVPixelFormat picture_planes_format(int found, picture_chroma chroma);

/* Says of a stream that its pictures are of such planes: of RGB BT.709, in full range at 4:4:4,
 * which loses least, and in limited range else, as players expect. */
void picture_planes_describe(AVCodecParameters *video, enum AVPixelFormat format);

/* Makes the frame one of format, unless it has planes of its own, or colours that would be lost. */
bool picture_planes(AVFrame *frame, enum AVPixelFormat format, pipeline_error *error);

/* The frame as a picture with its depth and alpha: grey of full range, or RGB. The caller frees it.
 * NULL: it cannot be had. */
AVFrame *picture_of_planes(const AVFrame *frame, pipeline_error *error);

#endif
