// SPDX-License-Identifier: Apache-2.0
/* A picture's colour metadata, and whether the output keeps it. */
#ifndef MONA_HDR_H
#define MONA_HDR_H

#include <stdbool.h>
#include <stddef.h>

#include <libavformat/avformat.h>

#include "pipeline/io/codecs/codec.h"
#include "pipeline/base/error.h"

/* Copies the mastering display, the content light level and the layout of 3D of a video's first
 * frame to its stream, unless the stream has its own. */
bool hdr_describe(AVStream *video, const AVFrame *first);

/* The options, "key=value", with which libx264, libx265 and SVT-AV1 write the stream's mastering
 * display and light level; "" if it has none, or the encoder has no such option. */
void hdr_option(char *option, size_t room, const AVStream *video, const codec *c);

/* Checks that codec and container hold everything that the stream and its first frame say about
 * their colours, and that no metadata changes from frame to frame, which no encoder of mona's
 * writes. With drop, metadata that does not fit is reported and left out. y4m and raw frames never
 * hold any: a note says so, since the program that reads them has to know. */
bool hdr_check(const AVOutputFormat *format, const codec *c, AVStream *video, const AVFrame *first,
               bool drop, const pipeline_notes *notes, pipeline_error *error);

/* Whether a frame has such metadata of its own. */
bool hdr_is_dynamic(const AVFrame *frame);

/* Where the film names no matrix and the result has to, because players assume another of its size:
 * says that codec and container do not. kept: what encoder_matrix found. */
void hdr_tell_matrix(const AVOutputFormat *format, const codec *c, const AVStream *video,
                     enum AVColorSpace kept, const pipeline_notes *notes);

#endif
