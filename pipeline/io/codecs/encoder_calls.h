// SPDX-License-Identifier: Apache-2.0
/* Calls of an encoder that return even where the encoder never does: x265 and SVT-AV1 wait for ever
 * where the system refuses them a thread, when they open or with a frame. */
#ifndef MONA_ENCODER_CALLS_H
#define MONA_ENCODER_CALLS_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>

typedef struct encoder_calls encoder_calls; /* NULL: the encoder is called as any other */

/* avcodec_open2 in a thread of its own, which also makes the later calls if hangs, as in codec.
 * AVERROR(ETIMEDOUT) and *encoder == NULL: it waits for a thread, or will: x265 opens without some
 * of its threads, and its frames wait for them. It keeps its memory and its other threads. */
int encoder_start(encoder_calls **calls, AVCodecContext **encoder, AVDictionary **options,
                  bool hangs);

/* avcodec_send_frame and avcodec_receive_packet. AVERROR(ETIMEDOUT): it waits for ever, and keeps
 * what it has; later calls return this at once. */
int encoder_send(encoder_calls *calls, AVCodecContext *encoder, const AVFrame *frame);
int encoder_receive(encoder_calls *calls, AVCodecContext *encoder, AVPacket *packet);

/* avcodec_free_context, where it returns. NULL: the encoder is left as it is. */
void encoder_end(encoder_calls **calls, AVCodecContext **encoder);

#endif
