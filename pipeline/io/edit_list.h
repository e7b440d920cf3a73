// SPDX-License-Identifier: Apache-2.0
/* Edit lists, for containers that have none.
 *
 * QuickTime's files hold packets from before the moment a presentation starts, at 0: a decoder
 * needs the last of them to warm up, and all others were cut away. Copied into a container of its
 * family they stay what they are. Elsewhere they would be heard, and nothing may lie before 0:
 * there what was cut away is left out, and everything moves later by what the warming up needs, if
 * the container has no other place for that. */
#ifndef MONA_EDIT_LIST_H
#define MONA_EDIT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

/* The container has edit lists itself. */
bool edit_list_supported(const AVOutputFormat *format);

/* The packet, with the input's own times, was cut away by an edit. */
bool edit_list_cuts(const AVPacket *packet, const AVStream *stream);

/* Microseconds everything has to move for the streams that format holds, in whole milliseconds. */
int64_t edit_list_lead(const AVFormatContext *input, const AVStream *video,
                       const AVOutputFormat *format);

#endif
