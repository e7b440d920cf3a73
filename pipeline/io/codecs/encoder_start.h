// SPDX-License-Identifier: Apache-2.0
/* Opens an encoder, and returns even where the encoder never does: x265 and SVT-AV1 wait for ever
 * where the system refuses them a thread. */
#ifndef MONA_ENCODER_START_H
#define MONA_ENCODER_START_H

#include <libavcodec/avcodec.h>

/* avcodec_open2 in a thread of its own. AVERROR(ETIMEDOUT) and *encoder == NULL: it waits for a
 * thread, or will: x265 opens without some of its threads, and its frames wait for them. It keeps
 * its memory and its other threads. */
int encoder_start(AVCodecContext **encoder, AVDictionary **options);

#endif
