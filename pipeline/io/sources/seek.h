// SPDX-License-Identifier: Apache-2.0
/* Seeks to a place in a file from which all frames after a time can be decoded. */
#ifndef MONA_SEEK_H
#define MONA_SEEK_H

#include <libavformat/avformat.h>

/* Moves to a key frame of video at time (AV_TIME_BASE units, the file's own) or earlier. A file
 * that cannot be searched stays where it is. */
void seek_before(AVFormatContext *format, const AVStream *video, int64_t time);

#endif
