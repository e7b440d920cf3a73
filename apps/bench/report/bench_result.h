// SPDX-License-Identifier: Apache-2.0
/* Results of benchmarks: one JSON object each, which the tables, CSV and pages for people are made
 * from, so that all of them tell the same. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "apps/bench/sampling.h"

/* Rounded to nine significant digits: what a clock of nanoseconds tells of seconds. */
void result_add_number(cJSON *object, const char *key, double value);
/* A number of the object's, 0 if it has none. */
double result_number(const cJSON *object, const char *key);

/* "min_ms", "mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "p99.9_ms", "max_ms", "stddev_ms",
 * "cv" and "iterations" of times. False, with a message: out of memory. */
bool result_add_statistics(cJSON *object, const double *ms, size_t count);

/* The same of samples, with "histogram", "samples_ms", "warm_up", "clock_mhz", "others",
 * "telemetry" (telemetry_log.h) and what speaks against trusting them in "warnings". percentile:
 * the one that will be asked about, 0: none in particular. */
bool result_add_samples(cJSON *result, const samples *s, double percentile);

/* What a frame may take: the deadline of a pipeline, or the budget judged by; 0: neither. */
double result_deadline_ms(const cJSON *result);

void result_add_crc(cJSON *result, const char *key, unsigned crc);
void result_warn(cJSON *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table of the times of a result, those percentiles left out that it has too few samples for;
 * what sensors said; its warnings. */
void result_print_times(const cJSON *result);
void result_print_telemetry(const cJSON *result);
void result_print_warnings(const cJSON *result);

/* A line of names and a line of values: everything of the result that is not a list. False, with a
 * message: out of memory. */
bool result_print_csv(const cJSON *result);
bool result_print_json(const cJSON *result);

/* Writes "frame,ms" lines. False, with a message. */
bool result_save_samples(const cJSON *result, const char *path);

#endif
