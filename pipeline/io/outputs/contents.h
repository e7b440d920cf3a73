// SPDX-License-Identifier: Apache-2.0
/* What is to be written into a container: what of it fits, what is converted, and what would be
 * lost. */
#ifndef MONA_CONTENTS_H
#define MONA_CONTENTS_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/io/codecs/sound.h"

/* The codec to which a stream is converted: sound as chosen, and subtitles that the container
 * cannot hold, without loss of text. AV_CODEC_ID_NONE: none. */
enum AVCodecID contents_converts(const AVOutputFormat *format, const AVStream *stream,
                                 const sound_choice *choice);

/* What is to be written into a container. */
typedef struct contents {
    const AVOutputFormat *format;
    const char *path; /* of the result, for messages */
    const AVFormatContext *input;
    const AVStream *video; /* of the input, which is replaced */
    const sound_choice *sound;
    bool drop; /* leave out what the container cannot hold: a note replaces the error */
    const pipeline_notes *notes;
} contents;

/* Checks that everything fits: all streams to be copied or converted, and the rotation of the
 * video. The error names what does not fit and a container that would hold everything. The
 * navigation data of DVDs is always left out with a note. */
bool contents_check(const contents *c, pipeline_error *error);

/* Checks that all streams can begin at the same times relative to each other, as far as the
 * container stores this. */
bool contents_check_starts(const contents *c, pipeline_error *error);

/* Reports it if the container rounds the pixel aspect ratio of the video that replaces the
 * input's. */
void contents_tell_aspect(const contents *c, const AVCodecParameters *video);

#endif
