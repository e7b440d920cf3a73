// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/dry_run.h"

#include <stdio.h>

#include "apps/cli/json_output.h"
#include "apps/cli/table.h"

static void put_size(cJSON *row, const char *name, const cJSON *of)
{
    char text[32];
    snprintf(text, sizeof text, "%.0fx%.0f", json_number(of, "width"), json_number(of, "height"));
    cJSON_AddStringToObject(row, name, text);
}

static void put_time(cJSON *row, double seconds)
{
    char text[32];
    const unsigned long s = (unsigned long)(seconds + 0.5);
    snprintf(text, sizeof text, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    cJSON_AddStringToObject(row, "time", seconds > 0 ? text : "unknown");
}

static void put_bytes(cJSON *row, double bytes)
{
    char text[32];
    size_estimate_text(text, sizeof text, bytes);
    cJSON_AddStringToObject(row, "size", bytes > 0 ? text : "unknown");
}

void plan_table_print(const cJSON *plans)
{
    static const char *const keys[] = {"file", "from", "to", "time", "size"};
    cJSON *rows = cJSON_CreateArray();
    char text[32];
    double seconds = 0, bytes = 0;
    const cJSON *plan;
    cJSON_ArrayForEach(plan, plans)
    {
        const cJSON *in = json_get(plan, "input"), *out = json_get(plan, "output");
        const double time = json_number(json_get(plan, "speed"), "estimated_seconds");
        const double size = json_number(out, "estimated_bytes");
        if (!out)
            continue;
        cJSON *row = json_add_object(rows);
        cJSON_AddStringToObject(row, "file", json_string(out, "file"));
        put_size(row, "from", in);
        put_size(row, "to", out);
        put_time(row, time);
        put_bytes(row, size);
        seconds += time;
        bytes += size;
    }
    cJSON *all = json_add_object(rows);
    snprintf(text, sizeof text, "all %d", cJSON_GetArraySize(rows) - 1);
    cJSON_AddStringToObject(all, "file", text);
    put_time(all, seconds);
    put_bytes(all, bytes);
    table_print(rows, keys, 5);
    cJSON_Delete(rows);
}
