// SPDX-License-Identifier: Apache-2.0
/* Tells what a container can hold. */
#ifndef MONA_CONTAINER_H
#define MONA_CONTAINER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/io/codecs/sound.h"

/* Whether the container is one of these, by libav's names; NULL ends the list. */
bool container_is(const AVOutputFormat *format, const char *const *names);

/* Streams that are not copied because the container's writer creates them again: QuickTime time
 * codes, which it derives from the video's metadata, and tracks with the names of chapters. */
bool container_regenerates(const AVFormatContext *input, const AVStream *stream);

/* Whether the user leaves the stream out: the input does not read it either. */
bool container_leaves_out(const AVStream *stream);

/* Whether the stream is a picture that belongs to the file, such as an album cover, and not a
 * video. */
bool container_is_cover(const AVStream *stream);

/* Whether the container keeps pictures as attached files, like Matroska. */
bool container_attaches_covers(const AVOutputFormat *format);

/* Whether the container is of QuickTime's family. Only these hold the rotation of a video and have
 * edit lists. */
bool container_is_quicktime(const AVOutputFormat *format);

/* Whether the container can hold a copy of the stream, which is not the enhanced one. */
bool container_holds(const AVOutputFormat *format, const AVStream *stream);

/* The codec to which a stream is converted: sound as chosen, and subtitles that the container cannot
 * hold, without loss of text. AV_CODEC_ID_NONE: none. */
enum AVCodecID container_converts(const AVOutputFormat *format, const AVStream *stream,
                                  const sound_choice *choice);

/* What is to be written into a container. */
typedef struct container_contents {
    const AVOutputFormat *format;
    const char *path; /* of the result, for messages */
    const AVFormatContext *input;
    const AVStream *video; /* of the input, which is replaced */
    const sound_choice *sound;
    bool drop; /* leave out what the container cannot hold: a note replaces the error */
    const pipeline_notes *notes;
} container_contents;

/* Checks that everything fits: all streams to be copied or converted, and the rotation of the
 * video. The error names what does not fit and a container that would hold everything. The
 * navigation data of DVDs is always left out with a note. */
bool container_check(const container_contents *c, pipeline_error *error);

/* Checks that all streams can begin at the same times relative to each other, as far as the
 * container stores this. */
bool container_check_starts(const container_contents *c, pipeline_error *error);

/* Reports it if the container rounds the pixel aspect ratio of the video that replaces the
 * input's. */
void container_tell_aspect(const container_contents *c, const AVCodecParameters *video);

#endif
