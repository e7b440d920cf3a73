// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/bench_result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/cli/json_output.h"
#include "apps/cli/options.h"
#include "apps/timing/statistics.h"

/* Limits beyond which a run is not to be trusted: load by others as a share of one CPU, drift,
 * change of the clock, coefficient of variation. */
#define OTHERS_MAX 0.1
#define DRIFT_MAX 0.02
#define CLOCK_MAX 0.03
#define VARIATION_MAX 0.1

cJSON *result_if(bool complete, cJSON *result)
{
    if (complete)
        return result;
    cJSON_Delete(result);
    return NULL;
}

void result_describe(cJSON *result, const char *kind, const char *model, const mona_device *device,
                     const mona_plan *plan)
{
    mona_device_properties properties = {.name = "host"};
    const mona_tensor_info in = mona_plan_input(plan, 0);
    mona_device_query(device, &properties);
    JSON_ADD(result, TEXT("kind", kind), TEXT("model", model), NUMBER("width", in.width),
             NUMBER("height", in.height), TEXT("device", properties.name),
             TEXT("isa", mona_plan_isa(plan)), NUMBER("threads", mona_plan_threads(plan)));
}

void result_add_crc(cJSON *result, const char *key, unsigned crc)
{
    char text[16];
    snprintf(text, sizeof text, "%08x", crc);
    cJSON_AddStringToObject(result, key, text);
}

void result_warn(cJSON *result, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cJSON *warnings = json_get(result, "warnings");
    if (!warnings)
        warnings = cJSON_AddArrayToObject(result, "warnings");
    cJSON_AddItemToArray(warnings, cJSON_CreateString(text));
}

/* ---- filling --------------------------------------------------------------------------------- */

static void add_histogram(cJSON *result, const double *sorted, size_t count)
{
    const histogram h = statistics_histogram(sorted, count);
    cJSON *object = cJSON_AddObjectToObject(result, "histogram");
    JSON_ADD(object, ROUNDED("begin_ms", h.begin), ROUNDED("width_ms", h.width));
    cJSON *counts = cJSON_AddArrayToObject(object, "counts");
    for (unsigned b = 0; b < h.bins; b++)
        cJSON_AddItemToArray(counts, cJSON_CreateNumber((double)h.counts[b]));
}

static void warn_of_machine(cJSON *result, const samples *s)
{
    const double others = machine_others(&s->before, &s->after);
    const double clock = s->after.clock_mhz / s->before.clock_mhz - 1;
    if (others > OTHERS_MAX)
        result_warn(result, "other programs took %.0f %% of one CPU meanwhile", 100 * others);
    if (fabs(clock) > CLOCK_MAX)
        result_warn(result, "the CPU's clock went from %.0f to %.0f MHz", s->before.clock_mhz,
                    s->after.clock_mhz);
}

static void warn_of_times(cJSON *result, const samples *s, const statistics *t, double percentile)
{
    const double drift = significance_drift(s->ms, s->count);
    if (!s->settled)
        result_warn(result, "times had not settled after %zu frames of warm-up", s->warm_up);
    if (fabs(drift) > DRIFT_MAX)
        result_warn(result, "frames at the end took %.1f %% %s than at the start",
                    100 * fabs(drift), drift > 0 ? "longer" : "less");
    if (t->variation > VARIATION_MAX)
        result_warn(result, "times vary by %.0f %% of their mean", 100 * t->variation);
    if (percentile > 0 && percentile < 100 && t->count < statistics_samples_for(percentile))
        result_warn(result, "the %gth percentile needs %zu frames, found %zu", percentile,
                    statistics_samples_for(percentile), t->count);
}

bool result_add_samples(cJSON *result, const samples *s, double percentile)
{
    double *sorted = statistics_sort(s->ms, s->count);
    if (!sorted)
        return cli_fail(0, "out of memory");
    const statistics t = statistics_of(sorted, s->count);
    result_put_statistics(result, &t);
    JSON_ADD(result, NUMBER("warm_up", s->warm_up), ROUNDED("clock_mhz", s->after.clock_mhz),
             ROUNDED("others", machine_others(&s->before, &s->after)));
    add_histogram(result, sorted, s->count);
    cJSON_AddItemToObject(result, "telemetry", telemetry_log_json(&s->sensors));
    cJSON *list = cJSON_AddArrayToObject(result, "samples_ms");
    for (size_t i = 0; i < s->count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(s->ms[i]));
    warn_of_machine(result, s);
    warn_of_times(result, s, &t, percentile);
    free(sorted);
    return true;
}

/* ---- showing --------------------------------------------------------------------------------- */

void result_print_times(const cJSON *result)
{
    static const struct {
        const char *key, *name;
        double percent;
    } columns[] = {
        {"min_ms", "min", 0},        {"mean_ms", "mean", 0}, {"p50_ms", "p50", 0},
        {"p90_ms", "p90", 90},       {"p95_ms", "p95", 95},  {"p99_ms", "p99", 99},
        {"p99.9_ms", "p99.9", 99.9}, {"max_ms", "max", 0},   {"stddev_ms", "std dev", 0}};
    const size_t count = (size_t)json_number(result, "iterations");
    for (int row = 0; row < 2; row++) {
        printf("  %-10s", row ? "" : "time, ms");
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            if (columns[c].percent > 0 && count < statistics_samples_for(columns[c].percent))
                continue;
            if (row)
                printf(" %9.3f", json_number(result, columns[c].key));
            else
                printf(" %9s", columns[c].name);
        }
        if (row)
            printf(" %7.1f %% %7zu\n", 100 * json_number(result, "cv"), count);
        else
            printf(" %9s %7s\n", "CV", "frames");
    }
}

void result_print_telemetry(const cJSON *result)
{
    fputs("  sensors    ", stdout);
    telemetry_print(stdout, json_get(result, "telemetry"));
}

void result_print_warnings(const cJSON *result)
{
    const cJSON *warning;
    cJSON_ArrayForEach(warning, json_get(result, "warnings"))
        printf("  warning    %s\n", warning->valuestring);
}

bool result_print_json(const cJSON *result)
{
    return json_print_line(result) == EXIT_SUCCESS;
}
