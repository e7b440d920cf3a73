/* What a container can hold. */
#ifndef MONA_CONTAINER_H
#define MONA_CONTAINER_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "error.h"

/* Streams that are not copied because the container's writer makes them anew: QuickTime time codes,
 * which it derives from the video's metadata. */
bool container_regenerates(const AVStream *stream);

/* Every stream that is to be copied fits; video is replaced and does not count. The error names the
 * stream and a container that would hold all of them. */
bool container_check(const AVOutputFormat *format, const char *path, const AVFormatContext *input,
                     const AVStream *video, pipeline_error *error);

#endif
