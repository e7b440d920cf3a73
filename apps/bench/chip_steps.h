// SPDX-License-Identifier: Apache-2.0
/* Frames on a chip with memory of its own: when each is sent, computed and fetched, by the chip's
 * clock. */
#ifndef CHIP_STEPS_H
#define CHIP_STEPS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/bench/bench_session.h"

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
