// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_streams.h"

#include <math.h>
#include <stdio.h>

#include "apps/cli/json_output.h"
#include "apps/timing/statistics.h"

const char *const capacity_part_names[CAPACITY_PARTS] = {"decode", "network", "encode", "other"};

bool capacity_leave_out(capacity_trial *t, size_t frames)
{
    bool good = true;
    for (size_t i = 0; i < frames && good; i++)
        good = samples_add(&t->times, INFINITY);
    t->left_out += frames;
    return good;
}

void capacity_parts_add(cJSON *result, const double ms[CAPACITY_PARTS])
{
    cJSON *parts = cJSON_AddObjectToObject(result, "cpu_ms");
    for (unsigned i = 0; i < CAPACITY_PARTS; i++)
        json_add_rounded(parts, capacity_part_names[i], ms[i]);
}

void capacity_parts_print(const cJSON *parts)
{
    double sum = 0;
    for (unsigned i = 0; i < CAPACITY_PARTS; i++)
        sum += json_number(parts, capacity_part_names[i]);
    printf("%.2f ms a frame", sum);
    const char *before = ": ";
    for (unsigned i = 0; i < CAPACITY_PARTS && sum > 0; i++) {
        const double share = json_number(parts, capacity_part_names[i]) / sum;
        if (share < 0.005)
            continue;
        printf("%s%s %.0f %%", before, capacity_part_names[i], 100 * share);
        before = ", ";
    }
}
