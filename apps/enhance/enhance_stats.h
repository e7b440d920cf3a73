// SPDX-License-Identifier: Apache-2.0
/* mona enhance --stats: figures about a run. */
#ifndef ENHANCE_STATS_H
#define ENHANCE_STATS_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "apps/enhance/progress.h"

/* "latency": statistics of the times from a frame's decoding until the encoder takes it; "steps":
 * for each, its ms per frame and the share of the time it was working; "telemetry"
 * (telemetry_log.h). Only this run's frames count, not those of the run that it continues. */
cJSON *enhance_stats(const progress *p, const enhance_report *report);

/* The same as a table. */
void enhance_stats_print(FILE *f, const progress *p, const enhance_report *report);

#endif
