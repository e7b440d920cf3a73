// SPDX-License-Identifier: Apache-2.0
/* What sensors say in the course of a run. */
#ifndef TELEMETRY_LOG_H
#define TELEMETRY_LOG_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "apps/devices/telemetry.h"

/* Of one figure, as far as it was known. */
typedef struct telemetry_series {
    double sum, low, high;
    unsigned count;
} telemetry_series;

enum { TELEMETRY_FIGURES = 4 };

typedef struct telemetry_log {
    const mona_device *device;
    telemetry_counters counters;
    telemetry_series figures[TELEMETRY_FIGURES];
    unsigned readings;
    unsigned long throttled; /* at the beginning */
    telemetry last;
} telemetry_log;

/* The first reading: what rates are differences to. device NULL: nothing is known of it. */
void telemetry_log_open(telemetry_log *log, const mona_device *device);

/* Call as often as is convenient, from one thread: reads four times a second, which takes some
 * tenths of a millisecond. */
void telemetry_log_look(telemetry_log *log);

/* The last reading, now, if that is not too soon after the one before; the second in any case,
 * without which there are no rates. */
void telemetry_log_end(telemetry_log *log);

/* One reading more, for whoever has it. */
void telemetry_log_add(telemetry_log *log, const telemetry *reading);

/* "readings", "temperature_c", "power_w", "utilisation" and "clock_mhz", each with mean, min and
 * max, or null where the system does not say; "throttled", how often meanwhile, and "health". */
cJSON *telemetry_log_json(const telemetry_log *log);

/* The same on one line, as telemetry_log_json gave it. */
void telemetry_print(FILE *f, const cJSON *telemetry);

#endif
