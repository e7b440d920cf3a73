// SPDX-License-Identifier: Apache-2.0
/* Statistics of times as JSON. */
#ifndef STATISTICS_JSON_H
#define STATISTICS_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "apps/timing/statistics.h"

/* Rounded to nine significant digits, which keeps the nanoseconds of a time in seconds. */
void result_add_number(cJSON *object, const char *key, double value);

/* Adds "min_ms", "mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "p99.9_ms", "max_ms",
 * "stddev_ms", "cv" and "iterations" of times. False, with a message: out of memory. */
bool result_add_statistics(cJSON *object, const double *ms, size_t count);
void result_put_statistics(cJSON *object, const statistics *s);

#endif
