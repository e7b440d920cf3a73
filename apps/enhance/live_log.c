// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/cli/json_output.h"
#include "pipeline/base/outfile.h"
#include "pipeline/base/stop.h"

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

/* The label of all samples, with its name: camera="door". */
typedef struct metric_label {
    char text[1024];
} metric_label;

/* Bytes that are no UTF-8 become U+FFFD, as readers refuse the file for them. */
static void set_label(metric_label *label, const char *camera)
{
    char *to = label->text + sprintf(label->text, "camera=\"");
    const char *end = label->text + sizeof label->text - sizeof "\xef\xbf\xbd\"";
    while (*camera && to < end) {
        const size_t length = utf8_character(camera);
        const char *escape = *camera == '\n'   ? "\\n"
                             : *camera == '"'  ? "\\\""
                             : *camera == '\\' ? "\\\\"
                             : !length         ? "\xef\xbf\xbd"
                                               : NULL;
        to += escape ? sprintf(to, "%s", escape) : sprintf(to, "%.*s", (int)length, camera);
        camera += length ? length : 1;
    }
    strcpy(to, "\"");
}

static void set_label_of_file(metric_label *label, const char *file)
{
    char *name = strdup(outfile_base_name(file));
    char *suffix = name ? strrchr(name, '.') : NULL;
    if (suffix && suffix > name)
        *suffix = 0;
    set_label(label, name ? name : "");
    free(name);
}

static void put_head(FILE *f, const char *name, const char *kind, const char *help)
{
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void put_counter(FILE *f, const metric_label *label, const char *name, const char *help,
                        uint64_t value)
{
    put_head(f, name, "counter", help);
    fprintf(f, "%s{%s} %" PRIu64 "\n", name, label->text, value);
}

static void put_gauge(FILE *f, const metric_label *label, const char *name, const char *help,
                      double value)
{
    if (value < 0)
        return;
    put_head(f, name, "gauge", help);
    fprintf(f, "%s{%s} %.10g\n", name, label->text, value);
}

static void put_latency(FILE *f, const metric_label *label, const live_log *log)
{
    static const double quantiles[] = {50, 90, 99};
    static const char name[] = "mona_latency_seconds";
    put_head(f, name, "summary", "Time from a frame's packet in to its packet out.");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        fprintf(f, "%s{%s,quantile=\"%g\"} %.6f\n", name, label->text, quantiles[i] / 100,
                1e-3 * live_log_percentile(log, quantiles[i]));
    fprintf(f, "%s_sum{%s} %.6f\n%s_count{%s} %" PRIu64 "\n", name, label->text, 1e-9 * log->sum_ns,
            name, label->text, log->count);
}

static void put_metrics(FILE *f, const metric_label *l, const live_log *log,
                        const enhance_report *r, const telemetry *t)
{
    put_counter(f, l, "mona_frames_in_total", "Frames that came in.",
                r->live.arrived ? r->live.arrived : r->frames);
    put_counter(f, l, "mona_frames_out_total", "Frames that were written.", r->frames);
    put_counter(f, l, "mona_frames_dropped_total", "Frames left out because they came too late.",
                r->live.dropped);
    put_counter(f, l, "mona_frames_damaged_total", "Frames decoded with errors.",
                r->faults.damaged_frames);
    put_counter(f, l, "mona_reconnects_total", "Connections made again.", r->live.reconnects);
    put_latency(f, l, log);
    put_gauge(f, l, "mona_device_temperature_celsius", "The hottest sensor.", t->temperature_c);
    put_gauge(f, l, "mona_device_power_watts", "Power of the processors.", t->power_w);
    put_gauge(f, l, "mona_device_utilisation_ratio", "Share of the processors' time at work.",
              t->utilisation);
    put_gauge(f, l, "mona_device_clock_hertz", "Clock of the processors.", 1e6 * t->clock_mhz);
    put_gauge(f, l, "mona_device_memory_free_bytes", "Free memory of the machine.",
              t->memory_free_bytes);
    fputs("# EOF\n", f);
}

static bool write_file(const live_log *log, const char *file, const char *camera,
                       const enhance_report *report, const telemetry *sensors)
{
    char part[4096];
    metric_label label;
    if (snprintf(part, sizeof part, "%s.mona.part", file) >= (int)sizeof part)
        return false;
    FILE *f = fopen(part, "w");
    if (!f)
        return false;
    if (camera)
        set_label(&label, camera);
    else
        set_label_of_file(&label, file);
    put_metrics(f, &label, log, report, sensors);
    const bool whole = !fflush(f) && !ferror(f);
    int reason = errno;
    if (!fclose(f) && whole && !rename(part, file))
        return true;
    reason = whole ? errno : reason;
    unlink(part);
    errno = reason;
    return false;
}

bool live_log_write(const live_log *log, const char *file, const char *camera,
                    const enhance_report *report, const telemetry *sensors)
{
    stop_hold(); /* or a signal could leave the part */
    const bool written = write_file(log, file, camera, report, sensors);
    const int reason = errno;
    stop_release();
    errno = reason;
    return written;
}
