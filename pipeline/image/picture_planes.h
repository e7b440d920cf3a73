// SPDX-License-Identifier: Apache-2.0
/* Converts RGB pictures and frames with packed samples to the planes that mona works on, and frames
 * back to pictures. */
#ifndef MONA_PICTURE_PLANES_H
#define MONA_PICTURE_PLANES_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

#include "pipeline/base/error.h"

/* The format into which RGB pictures are converted for a codec. */
typedef enum picture_chroma { PICTURE_444, PICTURE_420, PICTURE_422_10 } picture_chroma;

/* Lossless codecs and pictures keep all chroma, others get what players support. */
picture_chroma picture_chroma_for(enum AVCodecID codec);

/* Whether a pixel format's samples are RGB or indices into a palette. */
bool picture_is_rgb(int format);

/* The format of the planes for a pixel format: the same if it already has planes, else grey or YUV,
 * with alpha if it has alpha, and with more than 8 bits if it has more. AV_PIX_FMT_NONE: libswscale
 * cannot read it. */
enum AVPixelFormat picture_planes_format(int found, picture_chroma chroma);

/* Sets a stream's parameters for such planes. Planes from RGB are BT.709, in full range for 4:4:4,
 * which loses least, and else in limited range, as players expect. */
void picture_planes_describe(AVCodecParameters *video, enum AVPixelFormat format);

/* Converts the frame to format, unless it has planes already, or colours that would be lost. */
bool picture_planes(AVFrame *frame, enum AVPixelFormat format, pipeline_error *error);

/* Converts the frame to a picture with the same depth and alpha, in grey of full range or in RGB.
 * The caller frees it. NULL: failed. */
AVFrame *picture_of_planes(const AVFrame *frame, pipeline_error *error);

#endif
