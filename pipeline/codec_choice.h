// SPDX-License-Identifier: Apache-2.0
/* The codec and the pixel format of a result if the user names none. */
#ifndef MONA_CODEC_CHOICE_H
#define MONA_CODEC_CHOICE_H

#include "pipeline/enhance.h"
#include "pipeline/io/codecs/codec.h"

/* A modern codec stays, unless --preset is one of another codec. HDR becomes HEVC, which its
 * players expect, and all else what the container usually holds. p: of the input. deep: the frames
 * have more bits than networks see, as many of which are kept as can be. */
const codec *codec_choice(const job *s, const AVCodecParameters *p, bool deep,
                          const AVOutputFormat *format, enum AVPixelFormat pix_fmt);

/* The format in which a codec holds deep frames; pix_fmt if it holds none. */
enum AVPixelFormat codec_choice_depth(const codec *c, const AVOutputFormat *format,
                                      enum AVPixelFormat pix_fmt);

#endif
