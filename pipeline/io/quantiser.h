// SPDX-License-Identifier: Apache-2.0
/* The error that compression left in a frame, from the quantisers that its decoder reports. */
#ifndef MONA_QUANTISER_H
#define MONA_QUANTISER_H

#include <libavutil/frame.h>

/* The expected RMS error of luma in 8-bit steps, from AV_FRAME_DATA_VIDEO_ENC_PARAMS; 0 for a frame
 * without them, since many decoders report none. */
float quantiser_error(const AVFrame *frame);

#endif
