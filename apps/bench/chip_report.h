// SPDX-License-Identifier: Apache-2.0
/* mona bench --report: a report on the first run on a chip, in one file without private data. */
#ifndef CHIP_REPORT_H
#define CHIP_REPORT_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/bench/bench_model.h"
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

/* Frames on a chip with memory of its own: when each is sent, computed and fetched, by the chip's
 * clock. */

/* Sends frames through a session on the device ascend, in two slots, so that one can be sent and
 * another fetched while a third is computed. Adds "chip":
 *
 *   "upload_ms", "run_ms", "download_ms"   medians
 *   "overlapped_ms"   of a frame, by the host's clock
 *   "together"        share of the time in which all three steps were at work
 *   "steps"           names of the three
 *   "timeline"        for every frame when it was taken up, and begin and end of each step, in ms
 *
 * The last three are missing where the chip does not tell its times. False, with a message. */
bool chip_steps_add(cJSON *result, bench_session *session, const mona_model *model,
                    unsigned frames);

/* The result of chip_steps_add(); NULL: nothing was added. */
const cJSON *chip_steps_of(const cJSON *result);
void chip_steps_print(const cJSON *result);

#endif
