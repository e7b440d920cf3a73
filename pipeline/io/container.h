// SPDX-License-Identifier: Apache-2.0
/* What a container can hold. */
#ifndef MONA_CONTAINER_H
#define MONA_CONTAINER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/error.h"

/* Streams that are not copied because the container's writer makes them anew: QuickTime time codes,
 * which it derives from the video's metadata, and tracks that hold the names of chapters. */
bool container_regenerates(const AVFormatContext *input, const AVStream *stream);

/* A picture that belongs to the file, not a video. */
bool container_is_cover(const AVStream *stream);

/* Matroska keeps pictures as attached files. */
bool container_attaches_covers(const AVOutputFormat *format);

/* The container can hold a copy of the stream, which is not the one that is enhanced. */
bool container_holds(const AVOutputFormat *format, const AVStream *stream);

/* What a stream that the container cannot hold becomes, losing no text; AV_CODEC_ID_NONE: nothing.
 */
enum AVCodecID container_converts(const AVOutputFormat *format, const AVStream *stream);

/* Everything fits: every stream that is to be copied or converted, and the rotation of the video that is
 * replaced. If not, then the error names what does not and a container that would hold all of it;
 * with drop a note names each thing that is left out, and without it navigation data of DVDs. */
bool container_check(const AVOutputFormat *format, const char *path, const AVFormatContext *input,
                     const AVStream *video, bool drop, const pipeline_notes *notes,
                     pipeline_error *error);

/* Every stream begins where it did beside the others, as far as the container can tell; with drop a
 * note says if not. */
bool container_check_starts(const AVOutputFormat *format, const char *path,
                            const AVFormatContext *input, bool drop, const pipeline_notes *notes,
                            pipeline_error *error);

/* Says if the pixel aspect of a video so coded is rounded by the container. */
void container_tell_aspect(const AVOutputFormat *format, const char *path,
                           const AVCodecParameters *video, const pipeline_notes *notes);

#endif
