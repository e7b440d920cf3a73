// SPDX-License-Identifier: Apache-2.0
#include "apps/timing/statistics.h"

#include <stdio.h>
#include <stdlib.h>

#include "apps/cli/options.h"

void result_add_number(cJSON *object, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    cJSON_AddNumberToObject(object, key, strtod(text, NULL));
}

void result_put_statistics(cJSON *object, const statistics *s)
{
    cJSON_AddNumberToObject(object, "iterations", (double)s->count);
    result_add_number(object, "min_ms", s->minimum);
    result_add_number(object, "mean_ms", s->mean);
    result_add_number(object, "p50_ms", s->p50);
    result_add_number(object, "p90_ms", s->p90);
    result_add_number(object, "p95_ms", s->p95);
    result_add_number(object, "p99_ms", s->p99);
    result_add_number(object, "p99.9_ms", s->p999);
    result_add_number(object, "max_ms", s->maximum);
    result_add_number(object, "stddev_ms", s->deviation);
    result_add_number(object, "cv", s->variation);
}

bool result_add_statistics(cJSON *object, const double *ms, size_t count)
{
    double *sorted = statistics_sort(ms, count);
    if (!sorted)
        return cli_fail(0, "out of memory");
    const statistics s = statistics_of(sorted, count);
    result_put_statistics(object, &s);
    free(sorted);
    return true;
}
