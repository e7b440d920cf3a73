// SPDX-License-Identifier: Apache-2.0
/* The chip's video decoder in mona bench --report. */
#ifndef CHIP_REPORT_VIDEO_H
#define CHIP_REPORT_VIDEO_H

#include <stdbool.h>

#include <cjson/cJSON.h>

/* Encodes short films, and decodes them on the chip and by libavcodec. Adds "video", an object for
 * each: "codec", "frames" that came from the chip, "equal", and in "error" why, if the chip decodes
 * none. Whether the chip gave libavcodec's frames, or has no video decoder. */
bool chip_report_video(cJSON *report);

#endif
