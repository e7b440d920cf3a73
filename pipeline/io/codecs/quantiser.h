// SPDX-License-Identifier: Apache-2.0
/* The error that compression left in a frame, from the quantisers that its decoder reports. */
#ifndef MONA_QUANTISER_H
#define MONA_QUANTISER_H

#include <libavcodec/codec_id.h>
#include <libavutil/frame.h>

/* The expected RMS error of luma in 8-bit steps, from AV_FRAME_DATA_VIDEO_ENC_PARAMS. Without them,
 * as many decoders report none: negative if the codec is lossy and predicts frames from others,
 * else 0. */
float quantiser_error(const AVFrame *frame, enum AVCodecID codec);

#endif
