// SPDX-License-Identifier: Apache-2.0
/* Latencies of any number of frames in constant memory, and the metrics of a run as OpenMetrics
 * text. */
#ifndef MONA_LIVE_LOG_H
#define MONA_LIVE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "apps/devices/telemetry.h"
#include "pipeline/enhance.h"

/* Latencies from 2^LIVE_LOWEST ns on are counted in steps of 1 / LIVE_STEPS octave, so that
 * percentiles are exact to 2.2 %. */
enum { LIVE_LOWEST = 10, LIVE_OCTAVES = 26, LIVE_STEPS = 32 };

typedef struct live_log {
    uint64_t counts[LIVE_OCTAVES * LIVE_STEPS];
    uint64_t count, max_ns;
    double sum_ns;
} live_log;

void live_log_add(live_log *log, uint64_t ns);

/* In ms; p from 0 to 100. 0 without a frame. */
double live_log_percentile(const live_log *log, double p);

/* Writes FILE, which readers see whole. Every sample has the label camera, so that those of several
 * runs do not collide; camera NULL: it is FILE's name without folder and suffix. sensors: what is
 * unknown is left out. False: errno says why. */
bool live_log_write(const live_log *log, const char *file, const char *camera,
                    const enhance_report *report, const telemetry *sensors);

#endif
