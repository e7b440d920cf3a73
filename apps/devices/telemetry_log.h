// SPDX-License-Identifier: Apache-2.0
/* Readings of sensors in the course of a run. */
#ifndef TELEMETRY_LOG_H
#define TELEMETRY_LOG_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "apps/devices/telemetry.h"

/* Statistics of one figure over the readings in which it was known. */
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
    unsigned long throttled; /* count at the beginning */
    telemetry last;
} telemetry_log;

/* Takes the first reading, from which rates are computed. device NULL: nothing is known about
 * it. */
void telemetry_log_open(telemetry_log *log, const mona_device *device);

/* Call as often as is convenient, from one thread. It reads at most four times a second, which
 * takes some tenths of a millisecond. */
void telemetry_log_look(telemetry_log *log);

/* Takes the last reading, unless the one before was a moment ago. The second reading is always
 * taken: rates need two. */
void telemetry_log_end(telemetry_log *log);

/* Adds a reading that the caller took. */
void telemetry_log_add(telemetry_log *log, const telemetry *reading);

/* "readings"; "temperature_c", "power_w", "utilisation" and "clock_mhz", each with mean, min and
 * max, or null if unknown; "throttled", the count during the log; and "health". */
cJSON *telemetry_log_json(const telemetry_log *log);

/* Prints what telemetry_log_json returned on one line. */
void telemetry_print(FILE *f, const cJSON *telemetry);

#endif
