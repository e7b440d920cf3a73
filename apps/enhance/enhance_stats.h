// SPDX-License-Identifier: Apache-2.0
/* mona enhance --stats: what a run took, as figures. */
#ifndef ENHANCE_STATS_H
#define ENHANCE_STATS_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "apps/enhance/progress.h"

/* "latency", statistics of the times from a frame's decoding until the encoder takes it; "steps",
 * each with the ms it took a frame and the share of the time it was at work; "telemetry"
 * (telemetry_log.h). Of this run's frames, not those of one that it goes on from. */
cJSON *enhance_stats(const progress *p, const enhance_report *report);

/* The same as a table. */
void enhance_stats_print(FILE *f, const progress *p, const enhance_report *report);

#endif
