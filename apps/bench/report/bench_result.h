// SPDX-License-Identifier: Apache-2.0
/* Results of benchmarks: one JSON object each. Tables and pages are all made from it, so that
 * they agree. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "apps/timing/sampling.h"
#include "apps/timing/statistics_json.h"
#include "mona.h"

/* Adds what result_add_statistics does, and "histogram", "samples_ms", "warm_up", "clock_mhz",
 * "others", "telemetry" (telemetry_log.h), and in "warnings" reasons not to trust them. percentile:
 * the one that will be asked about; 0: none in particular. */
bool result_add_samples(cJSON *result, const samples *s, double percentile);

/* The result if it is complete; else deletes it and returns NULL. */
cJSON *result_if(bool complete, cJSON *result);

/* Adds "kind", "model", and of the session's plan "width", "height", "device", "isa", "threads". */
void result_describe(cJSON *result, const char *kind, const char *model, const mona_device *device,
                     const mona_plan *plan);

void result_add_crc(cJSON *result, const char *key, unsigned crc);
void result_warn(cJSON *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a table of a result's times without the percentiles for which it has too few samples, what
 * sensors reported, and its warnings. */
void result_print_times(const cJSON *result);
void result_print_telemetry(const cJSON *result);
void result_print_warnings(const cJSON *result);

bool result_print_json(const cJSON *result);

#endif
