// SPDX-License-Identifier: Apache-2.0
/* Verdicts on a result: whether it keeps a budget, and whether it is slower than an earlier one. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>

#include <cjson/cJSON.h>

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
