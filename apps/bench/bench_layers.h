// SPDX-License-Identifier: Apache-2.0
/* Where a frame's time goes, operator by operator, and how close each comes to what the machine can
 * do. */
#ifndef BENCH_LAYERS_H
#define BENCH_LAYERS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/bench/bench_session.h"
#include "apps/devices/peak.h"

/* Runs `frames` frames observed, each beside one that is not, and adds to the result:
 *
 *   "layers"     rows of layer_log.h; the last one, "(other)", is the time between operators, so
 *                that times add up to the frame's
 *   "observing"  what observing cost, as a share: how much more processor time the cheapest tenth
 *                of observed frames takes than that of the others
 *
 * False, with a message. */
bool bench_layers(cJSON *result, bench_session *session, const peak *limit, unsigned frames);

/* Prints nothing if the result has no layers. */
void bench_layers_print(const cJSON *result);

#endif
