// SPDX-License-Identifier: Apache-2.0
/* mona bench --report: a report on the first run on a chip, in one file without private data. */
#ifndef CHIP_REPORT_H
#define CHIP_REPORT_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/timing/sampling.h"
#include "mona.h"

/* Checks the installation and runs networks on the host and on the device ascend, at this size.
 * Prints a line for each. The file is written whatever is found. Whether everything is as it should
 * be. */
bool chip_report(const char *path, mona_size size, const sampling *how);

/* Encodes short films, and decodes them on the chip and by libavcodec. Adds "video", an object for
 * each: "codec", "frames" that came from the chip, "equal", and in "error" why, if the chip decodes
 * none. Whether the chip gave libavcodec's frames, or has no video decoder. */
bool chip_report_video(cJSON *report);

#endif
