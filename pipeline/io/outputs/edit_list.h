// SPDX-License-Identifier: Apache-2.0
/* Edit lists, for containers that have none: all but QuickTime's.
 *
 * QuickTime files hold packets from before the start of the presentation, which is at 0. A decoder
 * needs the last of them to warm up; all others were cut away by an edit. Copied into a container
 * of the same family, they keep this meaning. Other containers would play them, and may hold
 * nothing before 0. For these, packets that were cut away are left out, and everything is delayed
 * by the warm-up time, unless the container can store that time elsewhere. */
#ifndef MONA_EDIT_LIST_H
#define MONA_EDIT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include <libavformat/avformat.h>

/* Whether an edit cut the packet away. Its times are the input's own. */
bool edit_list_cuts(const AVPacket *packet, const AVStream *stream);

/* How many microseconds everything has to move for the streams that format holds, in whole
 * milliseconds, once shift of AV_TIME_BASE units has been subtracted. */
int64_t edit_list_lead(const AVFormatContext *input, const AVStream *video,
                       const AVOutputFormat *format, int64_t shift);

#endif
