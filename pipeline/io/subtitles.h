// SPDX-License-Identifier: Apache-2.0
/* Text subtitles from one format to another: times stay, and what styling is lost is told. */
#ifndef MONA_SUBTITLES_H
#define MONA_SUBTITLES_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/error.h"

typedef struct subtitles subtitles;

/* What the text of codec can become in a container; AV_CODEC_ID_NONE: nothing. */
enum AVCodecID subtitles_target(const AVOutputFormat *format, enum AVCodecID codec);

/* Describes the stream as codec in to. name: of the output. NULL: error says why. */
subtitles *subtitles_open(AVStream *to, const AVStream *from, enum AVCodecID codec,
                          const char *name, const pipeline_notes *notes, pipeline_error *error);

/* Converts a packet in place; its size is 0 if it shows nothing. */
bool subtitles_convert(subtitles *s, AVPacket *packet, pipeline_error *error);

void subtitles_close(subtitles *s);

#endif
