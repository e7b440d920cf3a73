// SPDX-License-Identifier: Apache-2.0
/* Verdicts on a result: does it keep a budget, is it slower than an earlier one. */
#ifndef VERDICT_H
#define VERDICT_H

#include <stdbool.h>

#include <cjson/cJSON.h>

typedef struct verdict_rules {
    double budget_ms;  /* 0: none */
    double percentile; /* of the times, which must not exceed the budget */
    const char *old;   /* file of an earlier result, NULL: none */
    double regression; /* by which share of its times this one may be slower */
} verdict_rules;

/* Adds "verdict" to the result, with "pass" and why; nothing without rules. *pass says it too.
 * False, with a message: the earlier result cannot be read, or is not of the same thing. */
bool verdict_reach(cJSON *result, const verdict_rules *rules, bool *pass);

/* Nothing where there is none. */
void verdict_print(const cJSON *result);

#endif
