// SPDX-License-Identifier: Apache-2.0
/* Results of benchmarks: one JSON object each. Tables and pages are all made from it, so that
 * they agree. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

#include "apps/timing/sampling.h"
#include "apps/timing/statistics.h"
#include "mona.h"

/* Adds what result_add_statistics does, and "histogram", "samples_ms", "warm_up", "clock_mhz",
 * "others", "telemetry" (telemetry.h), and in "warnings" reasons not to trust them. percentile:
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

/* The origin of a result: two results must agree in it to be compared. */

/* {"version", "commit", "compiler", "flags", "date", "cpu", "system", "cores", "governor",
 * "load"}; NULL: out of memory. */
cJSON *provenance(void);

/* Verdicts on a result: whether it keeps a budget, and whether it is slower than an earlier one. */

enum { VERDICT_SAMPLES = 8 }; /* times that a verdict needs at least */

typedef struct verdict_rules {
    double budget_ms;  /* 0: none */
    double percentile; /* percentile of the times that must not exceed the budget */
    const char *old;   /* file of an earlier result, NULL: none */
    double regression; /* share of its times by which this one may be slower */
} verdict_rules;

/* Adds "verdict" to the result, with "pass" and the reasons; nothing if there are no rules. *pass
 * has the same value. False, with a message: the earlier result cannot be read, or measures
 * something else. */
bool verdict_reach(cJSON *result, const verdict_rules *rules, bool *pass);

/* The same of a time that no frame differs from: whether it keeps the budget, if there is one. */
bool verdict_modelled(cJSON *result, const verdict_rules *rules, double ms);

/* Prints nothing if the result has no verdict. */
void verdict_print(const cJSON *result);

#endif
