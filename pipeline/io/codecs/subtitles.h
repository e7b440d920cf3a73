// SPDX-License-Identifier: Apache-2.0
/* Converts text subtitles from one format to another. Times stay the same; lost styles are
 * reported. */
#ifndef MONA_SUBTITLES_H
#define MONA_SUBTITLES_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

typedef struct subtitles subtitles;

/* The codec that the container can hold to which codec's text is converted; AV_CODEC_ID_NONE:
 * none. */
enum AVCodecID subtitles_target(const AVOutputFormat *format, enum AVCodecID codec);

/* Sets the stream `to` up for codec. name: of the output. NULL: failed, see error. */
subtitles *subtitles_open(AVStream *to, const AVStream *from, enum AVCodecID codec,
                          const char *name, const pipeline_notes *notes, pipeline_error *error);

/* Converts a packet in place. Its size becomes 0 if it shows nothing. */
bool subtitles_convert(subtitles *s, AVPacket *packet, pipeline_error *error);

void subtitles_close(subtitles *s);

#endif
