// SPDX-License-Identifier: Apache-2.0
/* libav's pixel formats and chroma locations in mona's terms. */
#ifndef MONA_PIXELS_H
#define MONA_PIXELS_H

#include <stdbool.h>

#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

#include "pipeline/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/chroma_location.h"

enum { PIXELS_MAX_BITS = 10 };

/* A format of planes that mona works on: luma or grey, with or without chroma of any subsampling
 * and alpha, 8 to PIXELS_MAX_BITS bits a sample. The error names the file, path. */
bool pixels_check(const char *path, int format, pipeline_error *error);

/* The same as a question. */
bool pixels_has_planes(int format);

/* Of a format that pixels_check accepts. */
frame_format pixels_frame_format(int format, int width, int height);

/* The same format without a range in its name: yuvj420p is yuv420p of full range. */
enum AVPixelFormat pixels_plain(int format);

/* Whether samples reach from 0 to the largest, as far as the frame says; grey ones do unless it
 * says otherwise. */
bool pixels_full_range(const AVFrame *f);

/* Never NULL. */
const char *pixels_name(int format);

/* Unspecified: to the left, as from MPEG-2 to H.265. */
chroma_location pixels_chroma_location(enum AVChromaLocation location);

#endif
