// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/progress.h"

#include "apps/timing/statistics.h"
#include "apps/cli/json_output.h"
#include "pipeline/base/sandbox.h"

static void add_steps(cJSON *stats, const progress *p, const enhance_report *r)
{
    uint64_t spent[CHAIN_MAX_STEPS];
    const double frames = (double)(r->frames - r->resumed), seconds = p->ended - p->began;
    cJSON *list = cJSON_AddArrayToObject(stats, "steps");
    step_clock_read(&p->clock, spent);
    for (unsigned i = 0; i < p->clock.steps; i++) {
        if (!spent[i]) /* not measured, as for pictures */
            continue;
        cJSON *o = json_add_object(list);
        JSON_ADD(o, TEXT("name", p->clock.names[i]),
                 ROUNDED("ms", frames > 0 ? 1e-6 * (double)spent[i] / frames : 0),
                 ROUNDED("share", seconds > 0 ? 1e-9 * (double)spent[i] / seconds : 0));
    }
}

/* From the input packet to the output packet. */
static void add_live_latency(cJSON *to, const live_log *log)
{
    JSON_ADD(to, ROUNDED("mean_ms", 1e-6 * log->sum_ns / (double)log->count),
             ROUNDED("p50_ms", live_log_percentile(log, 50)),
             ROUNDED("p90_ms", live_log_percentile(log, 90)),
             ROUNDED("p99_ms", live_log_percentile(log, 99)),
             ROUNDED("max_ms", 1e-6 * (double)log->max_ns));
}

cJSON *enhance_stats(const progress *p, const enhance_report *r)
{
    cJSON *stats = cJSON_CreateObject();
    if (p->settings->input.live && p->frames.count)
        add_live_latency(cJSON_AddObjectToObject(stats, "latency"), &p->frames);
    if (p->latency.count > r->resumed)
        result_add_statistics(cJSON_AddObjectToObject(stats, "latency"), p->latency.ms + r->resumed,
                              p->latency.count - r->resumed);
    add_steps(stats, p, r);
    cJSON_AddItemToObject(stats, "telemetry", telemetry_log_json(&p->sensors));
    cJSON_AddStringToObject(stats, "sandbox", sandbox_raised());
    return stats;
}

void enhance_stats_print(FILE *f, const progress *p, const enhance_report *r)
{
    cJSON *stats = enhance_stats(p, r);
    const cJSON *latency = json_get(stats, "latency"), *o;
    if (latency && p->settings->input.live)
        fprintf(
            f,
            "  latency, ms  p50 %.1f, p90 %.1f, p99 %.1f, max %.1f, from packet in to packet out\n",
            json_number(latency, "p50_ms"), json_number(latency, "p90_ms"),
            json_number(latency, "p99_ms"), json_number(latency, "max_ms"));
    else if (latency)
        fprintf(f,
                "  latency, ms  p50 %.3f, p90 %.3f, p99 %.3f, max %.3f, standard deviation %.3f\n",
                json_number(latency, "p50_ms"), json_number(latency, "p90_ms"),
                json_number(latency, "p99_ms"), json_number(latency, "max_ms"),
                json_number(latency, "stddev_ms"));
    cJSON_ArrayForEach(o, json_get(stats, "steps"))
        fprintf(f, "  %-12s %9.3f ms a frame, at work %5.1f %% of the time\n",
                json_string(o, "name"), json_number(o, "ms"), 100 * json_number(o, "share"));
    fputs("  sensors      ", f);
    telemetry_print(f, json_get(stats, "telemetry"));
    fprintf(f, "  sandbox      %s\n", json_string(stats, "sandbox"));
    cJSON_Delete(stats);
}
