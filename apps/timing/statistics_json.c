// SPDX-License-Identifier: Apache-2.0
#include "apps/timing/statistics.h"

#include <stdlib.h>

#include "apps/cli/json_output.h"
#include "apps/cli/options.h"

void result_put_statistics(cJSON *object, const statistics *s)
{
    JSON_ADD(object, NUMBER("iterations", s->count), ROUNDED("min_ms", s->minimum),
             ROUNDED("mean_ms", s->mean), ROUNDED("p50_ms", s->p50), ROUNDED("p90_ms", s->p90),
             ROUNDED("p95_ms", s->p95), ROUNDED("p99_ms", s->p99), ROUNDED("p99.9_ms", s->p999),
             ROUNDED("max_ms", s->maximum), ROUNDED("stddev_ms", s->deviation),
             ROUNDED("cv", s->variation));
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
