// SPDX-License-Identifier: Apache-2.0
#include "apps/devices/telemetry.h"

#include <math.h>
#include <stddef.h>

#include "pipeline/base/clock.h"
#include "apps/cli/json_output.h"

static const struct {
    const char *key, *name, *unit;
    double factor; /* for display */
    size_t offset; /* in telemetry */
} figures[TELEMETRY_FIGURES] = {
    {"utilisation", "busy", "%", 100, offsetof(telemetry, utilisation)},
    {"temperature_c", "temperature", "C", 1, offsetof(telemetry, temperature_c)},
    {"power_w", "power", "W", 1, offsetof(telemetry, power_w)},
    {"clock_mhz", "clock", "MHz", 1, offsetof(telemetry, clock_mhz)},
};

static double figure_of(const telemetry *t, unsigned index)
{
    return *(const double *)(const void *)((const char *)t + figures[index].offset);
}

static void add(telemetry_series *s, double value)
{
    if (value < 0)
        return;
    s->low = s->count ? fmin(s->low, value) : value;
    s->high = s->count ? fmax(s->high, value) : value;
    s->sum += value;
    s->count++;
}

void telemetry_log_add(telemetry_log *log, const telemetry *reading)
{
    log->last = *reading;
    for (unsigned i = 0; i < TELEMETRY_FIGURES; i++)
        add(&log->figures[i], figure_of(reading, i));
    if (!log->readings++)
        log->throttled = reading->throttled;
}

static void take(telemetry_log *log)
{
    const telemetry reading = telemetry_read(log->device, &log->counters);
    telemetry_log_add(log, &reading);
}

void telemetry_log_open(telemetry_log *log, const mona_device *device)
{
    *log = (telemetry_log){.device = device};
    take(log);
}

static uint64_t since_last(const telemetry_log *log)
{
    return clock_ns() - log->counters.ns;
}

void telemetry_log_look(telemetry_log *log)
{
    enum { INTERVAL_NS = 250000000 };
    if (since_last(log) >= INTERVAL_NS)
        take(log);
}

/* Rates over only a few of the system's own ticks mean little, so a run has them only if it has no
 * others. */
void telemetry_log_end(telemetry_log *log)
{
    enum { SHORTEST_NS = 50000000 };
    if (log->readings < 2 || since_last(log) >= SHORTEST_NS)
        take(log);
}

cJSON *telemetry_log_json(const telemetry_log *log)
{
    const unsigned long throttled = log->last.throttled - log->throttled;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "readings", log->readings);
    for (unsigned i = 0; i < TELEMETRY_FIGURES; i++) {
        const telemetry_series *s = &log->figures[i];
        if (!s->count) {
            cJSON_AddNullToObject(o, figures[i].key);
            continue;
        }
        cJSON *figure = cJSON_AddObjectToObject(o, figures[i].key);
        cJSON_AddNumberToObject(figure, "mean", s->sum / s->count);
        cJSON_AddNumberToObject(figure, "min", s->low);
        cJSON_AddNumberToObject(figure, "max", s->high);
    }
    cJSON_AddNumberToObject(o, "throttled", (double)throttled);
    cJSON_AddStringToObject(o, "health", throttled ? "throttled" : log->last.health);
    return o;
}

void telemetry_print(FILE *f, const cJSON *telemetry)
{
    const char *unknown[TELEMETRY_FIGURES];
    unsigned count = 0;
    for (unsigned i = 0; i < TELEMETRY_FIGURES; i++) {
        const cJSON *o = json_get(telemetry, figures[i].key);
        if (cJSON_IsObject(o))
            fprintf(f, "%s %.0f %s (%.0f to %.0f), ", figures[i].name,
                    figures[i].factor * json_number(o, "mean"), figures[i].unit,
                    figures[i].factor * json_number(o, "min"),
                    figures[i].factor * json_number(o, "max"));
        else
            unknown[count++] = figures[i].name;
    }
    fprintf(f, "health %s, %.0f readings", json_string(telemetry, "health"),
            json_number(telemetry, "readings"));
    for (unsigned i = 0; i < count; i++)
        fprintf(f, "%s%s", i ? ", " : "; not available here: ", unknown[i]);
    fputc('\n', f);
}
