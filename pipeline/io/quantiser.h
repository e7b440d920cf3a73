// SPDX-License-Identifier: Apache-2.0
/* What compression left of error in a frame, as its decoder tells of the quantiser. */
#ifndef MONA_QUANTISER_H
#define MONA_QUANTISER_H

#include <libavutil/frame.h>

/* RMS error of luma to be expected, in steps of 8 bits, from AV_FRAME_DATA_VIDEO_ENC_PARAMS; 0
 * where a frame has none: of many codecs nothing is told. */
float quantiser_error(const AVFrame *frame);

#endif
