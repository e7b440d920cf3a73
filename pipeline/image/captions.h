// SPDX-License-Identifier: Apache-2.0
/* Closed captions (CEA-608 and 708): a few bytes beside the samples of each frame. */
#ifndef MONA_CAPTIONS_H
#define MONA_CAPTIONS_H

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>

/* A new reference to a frame's captions. NULL: it has none, or there is no memory. */
AVBufferRef *captions_of(const AVFrame *frame);

/* Adds them to the H.265 packet of their frame, which begins with start codes. Returns an error of
 * libav, or >= 0. */
int captions_insert(AVPacket *packet, const AVBufferRef *captions);

#endif
