// SPDX-License-Identifier: Apache-2.0
/* What a picture says about its colours, beyond its samples: whether the output keeps it. */
#ifndef MONA_HDR_H
#define MONA_HDR_H

#include <stdbool.h>
#include <stddef.h>

#include <libavformat/avformat.h>

#include "pipeline/io/codec.h"
#include "pipeline/error.h"

/* Adds the mastering display and the content light level that a video's first frame carries to its
 * stream, unless the stream has its own. */
bool hdr_describe(AVStream *video, const AVFrame *first);

/* The options, "key=value", that make libx264, libx265 and SVT-AV1 write a stream's; "" if there is
 * nothing to write or the encoder has none. */
void hdr_option(char *option, size_t room, const AVStream *video, const codec *c);

/* Everything that stream and first frame say of their colours fits codec and container, and does
 * not change from frame to frame in ways no encoder of mona's writes. drop: whatever does not is
 * told and left out; so it always is with y4m and raw frames, which are for a program that knows.
 */
bool hdr_check(const AVOutputFormat *format, const codec *c, AVStream *video, const AVFrame *first,
               bool drop, const pipeline_notes *notes, pipeline_error *error);

#endif
