// SPDX-License-Identifier: Apache-2.0
/* Opens an encoder, and returns even where the encoder never does: x265 and SVT-AV1 wait for ever
 * where the system refuses them a thread. */
#ifndef MONA_ENCODER_START_H
#define MONA_ENCODER_START_H

#include <libavcodec/avcodec.h>

/* avcodec_open2 in a thread of its own. AVERROR(ETIMEDOUT) and *encoder == NULL: it waits for
 * something that does not come; it keeps its memory and its threads. */
int encoder_start(AVCodecContext **encoder, AVDictionary **options);

#endif
