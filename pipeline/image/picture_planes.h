// SPDX-License-Identifier: Apache-2.0
/* Converts RGB pictures and frames with packed samples to the planes that mona works on, and frames
 * back to pictures. */
#ifndef MONA_PICTURE_PLANES_H
#define MONA_PICTURE_PLANES_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/image/stills.h"
#include "pipeline/stages/frame.h"

/* The format into which RGB pictures are converted. Lossless codecs and pictures keep all chroma,
 * others get what players support. */
typedef enum picture_chroma { PICTURE_444, PICTURE_420, PICTURE_422_10 } picture_chroma;

/* The format of the planes for a pixel format: the same if it already has planes, else grey or YUV,
 * with alpha if it has alpha, and with more than 8 bits if it has more. AV_PIX_FMT_NONE: libswscale
 * cannot read it. */
enum AVPixelFormat picture_planes_format(int found, picture_chroma chroma);

/* Sets a stream's parameters for such planes. Planes from RGB are BT.709, in full range for 4:4:4,
 * which loses least, and else in limited range, as players expect. */
void picture_planes_describe(AVCodecParameters *video, enum AVPixelFormat format);

/* Converts the frame to format, unless it has planes already, or colours that would be lost. */
bool picture_planes(AVFrame *frame, enum AVPixelFormat format, pipeline_error *error);

/* Puts planes of words into the machine's byte order; other frames stay. */
bool picture_own_order(AVFrame *frame, pipeline_error *error);

/* Converts the frame to a picture with the same depth and alpha, in grey of full range or in RGB.
 * The caller frees it. NULL: failed. */
AVFrame *picture_of_planes(const AVFrame *frame, pipeline_error *error);

/* Alpha, and the colours of pixels that it hides.
 *
 * What is drawn below transparent pixels is arbitrary, often black. Networks and filters look at
 * neighbours, so it would show through where visible pixels lie beside hidden ones. */

/* Gives hidden pixels, whose alpha is 0, the colours of the nearest visible ones. False: out of
 * memory. For frames of four planes of one size, with samples of 16 bits. */
bool alpha_spread_planes(const frame *f);

/* The same for libav's packed or planar RGB or grey with alpha, of 8 or 16 bits; others stay. The
 * frame must be writable. */
bool alpha_spread(AVFrame *f);

/* Divides colours by the alpha that they are multiplied with, for such formats. */
void alpha_divide(AVFrame *f);

/* Whether a pixel of RGB or grey of 8 or 16 bits, or a colour of a palette, is not opaque. */
bool alpha_shows(const AVFrame *f);

/* Conversion between RGB pixels and luma and chroma planes, for still images. */

/* Splits an image into a frame's planes: BT.601, full range, as in JPEG. It uses all bits of the
 * frame's samples, which are more than 8. Grey images fill plane 0 and set the chroma of the frame,
 * if any, to neutral; alpha goes to plane 3. Chroma of a 4:2:0 frame is the mean of 2x2 pixels.
 * Padding repeats the last row and column. */
void colour_split(frame *to, const still *from);

/* The reverse, for a 4:4:4 or grey frame. The image's number of channels decides which planes are
 * used. */
void colour_join(still *to, const frame *from);

#endif
