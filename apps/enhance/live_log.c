// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/live_log.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { BINS = LIVE_OCTAVES * LIVE_STEPS };

void live_log_add(live_log *log, uint64_t ns)
{
    const double octaves = log2((double)(ns > 0 ? ns : 1)) - LIVE_LOWEST;
    const double bin = fmin(fmax(octaves * LIVE_STEPS, 0), BINS - 1);
    log->counts[(int)bin]++;
    log->count++;
    log->sum_ns += (double)ns;
    log->max_ns = ns > log->max_ns ? ns : log->max_ns;
}

double live_log_percentile(const live_log *log, double p)
{
    const double rank = p / 100 * (double)log->count;
    uint64_t below = 0;
    int bin = 0;
    if (!log->count)
        return 0;
    while (bin < BINS - 1 && (double)(below += log->counts[bin]) < rank)
        bin++;
    const double upper = exp2(LIVE_LOWEST + (bin + 1.0) / LIVE_STEPS);
    return 1e-6 * fmin(upper, (double)log->max_ns);
}

/* ---- metrics -------------------------------------------------------------------------------- */

static void put_counter(FILE *f, const char *name, const char *help, uint64_t value)
{
    fprintf(f, "# TYPE %s counter\n# HELP %s %s\n%s_total %" PRIu64 "\n", name, name, help, name,
            value);
}

static void put_gauge(FILE *f, const char *name, const char *help, double value)
{
    if (value >= 0)
        fprintf(f, "# TYPE %s gauge\n# HELP %s %s\n%s %.10g\n", name, name, help, name, value);
}

static void put_latency(FILE *f, const live_log *log)
{
    static const double quantiles[] = {50, 90, 99};
    fputs("# TYPE mona_latency_seconds summary\n# UNIT mona_latency_seconds seconds\n"
          "# HELP mona_latency_seconds Time from a frame's packet in to its packet out.\n",
          f);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        fprintf(f, "mona_latency_seconds{quantile=\"%g\"} %.6f\n", quantiles[i] / 100,
                1e-3 * live_log_percentile(log, quantiles[i]));
    fprintf(f, "mona_latency_seconds_sum %.6f\nmona_latency_seconds_count %" PRIu64 "\n",
            1e-9 * log->sum_ns, log->count);
}

static void put_metrics(FILE *f, const live_log *log, const enhance_report *r, const telemetry *t)
{
    put_counter(f, "mona_frames_in", "Frames that came in.",
                r->live.arrived ? r->live.arrived : r->frames);
    put_counter(f, "mona_frames_out", "Frames that were written.", r->frames);
    put_counter(f, "mona_frames_dropped", "Frames left out because they came too late.",
                r->live.dropped);
    put_counter(f, "mona_frames_damaged", "Frames decoded with errors.", r->faults.damaged_frames);
    put_counter(f, "mona_reconnects", "Connections made again.", r->live.reconnects);
    put_latency(f, log);
    put_gauge(f, "mona_device_temperature_celsius", "The hottest sensor.", t->temperature_c);
    put_gauge(f, "mona_device_power_watts", "Power of the processors.", t->power_w);
    put_gauge(f, "mona_device_utilisation_ratio", "Share of the processors' time at work.",
              t->utilisation);
    put_gauge(f, "mona_device_clock_hertz", "Clock of the processors.", 1e6 * t->clock_mhz);
    put_gauge(f, "mona_device_memory_free_bytes", "Free memory of the machine.",
              t->memory_free_bytes);
    fputs("# EOF\n", f);
}

bool live_log_write(const live_log *log, const char *file, const enhance_report *report,
                    const telemetry *sensors)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s.mona.part", file) >= (int)sizeof part)
        return false;
    FILE *f = fopen(part, "w");
    if (!f)
        return false;
    put_metrics(f, log, report, sensors);
    const bool whole = !fflush(f) && !ferror(f);
    int reason = errno;
    if (!fclose(f) && whole && !rename(part, file))
        return true;
    reason = whole ? errno : reason;
    unlink(part);
    errno = reason;
    return false;
}
