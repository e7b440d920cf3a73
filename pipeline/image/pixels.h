// SPDX-License-Identifier: Apache-2.0
/* libav's pixel formats and chroma locations in mona's terms. */
#ifndef MONA_PIXELS_H
#define MONA_PIXELS_H

#include <stdbool.h>
#include <stdint.h>

#include <libavcodec/codec_id.h>
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>

#include "pipeline/base/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/chroma_location.h"

enum { PIXELS_MAX_BITS = 16 };

/* Accepts the formats that mona works on: planes of luma or grey, with or without alpha and chroma
 * of any subsampling, of 8 to PIXELS_MAX_BITS bits a sample. The error names the file, path. */
bool pixels_check(const char *path, int format, pipeline_error *error);

/* The same check without an error. */
bool pixels_has_planes(int format);

/* Whether a frame has at most so many pixels, as --limit says; 0: any number. */
bool pixels_limit(const char *path, double most, uint32_t width, uint32_t height,
                  pipeline_error *error);

/* The max_pixels of a decoder of frames that pixels_limit lets pass, for most > 0. libav compares
 * it with the width rounded up to what its loops write, at most to a multiple of 64, so that frames
 * a little larger than most pass as well: they are left to pixels_limit. */
int64_t pixels_limit_decoder(double most);

/* False with an error: since av_log_errors_listen, a decoder with the max_pixels of most, if that
 * is not 0, refused a frame for it. */
bool pixels_limit_kept(const char *path, double most, pipeline_error *error);

/* For a format that pixels_check accepts. */
frame_format pixels_frame_format(int format, int width, int height);

/* The same format without a range in its name: yuv420p for yuvj420p. */
enum AVPixelFormat pixels_plain(int format);

/* Whether the samples of a format are RGB, or indices into a palette of RGB. */
bool pixels_are_rgb(int format);

/* Whether samples of a format use the full range: those of RGB always; others as `range` says,
 * since decoders keep the name yuvj420p where a film changes to the limited range; where it says
 * nothing, those of yuvj420p and its like, and grey. */
bool pixels_full_range(int format, enum AVColorRange range);

/* The same planes with samples of this many bits; AV_PIX_FMT_NONE: libav has no such format. */
enum AVPixelFormat pixels_with_bits(int format, unsigned bits);

/* The same planes but that of alpha. For a format that pixels_check accepts. */
enum AVPixelFormat pixels_without_alpha(int format);

/* Never NULL. */
const char *pixels_name(int format);

/* Unspecified means left, as from MPEG-2 to H.265. */
chroma_location pixels_chroma_location(enum AVChromaLocation location);

/* Where chroma lies in a picture whose file may not tell: in the middle, as others read WebP, and
 * as TIFF has it. */
enum AVChromaLocation pixels_picture_location(enum AVCodecID id, enum AVChromaLocation told);

#endif
