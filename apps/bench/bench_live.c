// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_live.h"

#include <math.h>
#include <stdio.h>

#include <libavutil/log.h>

#include "apps/bench/bench_clip.h"
#include "apps/bench/report/bench_result.h"
#include "apps/bench/report/provenance.h"
#include "apps/cli/options.h"
#include "apps/enhance/describe.h"
#include "pipeline/base/clock.h"
#include "apps/cli/json_read.h"

/* Frames of a synthetic clip, which is repeated. */
enum { LOOP = 60 };

typedef struct run {
    const bench_pipeline_job *job;
    live_source source;
    bench_clip clip;
    samples latency;
    uint64_t frames, first; /* that went out so far; of the source, the first that counts */
    bool fails;
} run;

/* job.progress: a frame went out. */
static void note(void *context, const enhance_report *report)
{
    run *r = context;
    const uint64_t now = clock_ns();
    const double number = round(report->time * r->source.pace.fps);
    if (report->frames == r->frames)
        return;
    r->frames = report->frames;
    if (number < (double)r->first || number >= (double)r->source.frames)
        return;
    const uint64_t sent = atomic_load(&r->source.sent_at[(size_t)number]);
    r->fails = !samples_add(&r->latency, 1e-6 * (double)(now - sent)) || r->fails;
    telemetry_log_look(&r->latency.sensors);
}

static bool play(run *r, enhance_report *report)
{
    const live_settings live = {.stall = 5};
    pipeline_error error = {0};
    struct job settings = *r->job->enhance;
    settings.input.path = r->source.address;
    settings.output = r->clip.output;
    settings.input.live = &live;
    settings.encoder.low_latency = true;
    settings.progress = note;
    settings.progress_context = r;
    av_log_set_level(AV_LOG_QUIET);
    r->latency.before = machine_now();
    telemetry_log_open(&r->latency.sensors, settings.stage.devices.at[0]);
    const bool good = enhance_run(&settings, report, &error);
    telemetry_log_end(&r->latency.sensors);
    r->latency.after = machine_now();
    live_source_close(&r->source);
    if (r->source.failure[0])
        return cli_fail(0, "%s", r->source.failure);
    return (good || !cli_fail_of(&error)) && !r->fails;
}

static void describe(cJSON *result, const run *r, const enhance_report *report)
{
    const struct job *s = r->job->enhance;
    const live_pace *p = &r->source.pace;
    bench_pipeline_describe(result, "live", s, report);
    result_add_number(result, "source_fps", p->fps);
    result_add_number(result, "jitter_ms", p->jitter_ms);
    result_add_number(result, "late_ms", p->late_ms);
    cJSON_AddNumberToObject(result, "late_every", p->late_every);
    cJSON_AddNumberToObject(result, "burst", p->burst);
    cJSON_AddNumberToObject(result, "burst_every", p->burst_every);
    result_add_number(result, "max_delay_ms", 1e3 * s->max_delay);
    cJSON_AddNumberToObject(result, "arrived", (double)report->live.arrived);
    cJSON_AddNumberToObject(result, "frames", (double)report->frames);
    cJSON_AddNumberToObject(result, "dropped", (double)report->live.dropped);
}

static cJSON *conclude(run *r, const enhance_report *report)
{
    cJSON *result = cJSON_CreateObject();
    r->latency.warm_up = r->first;
    r->latency.settled = true;
    describe(result, r, report);
    const bool done =
        r->latency.count < 2
            ? cli_fail(0,
                       "%s: expected two frames or more after %llu of warm-up, "
                       "found %zu",
                       r->job->enhance->input.path, (unsigned long long)r->first, r->latency.count)
            : result_add_samples(result, &r->latency, r->job->percentile);
    cJSON_AddItemToObject(result, "provenance", provenance());
    return result_if(done, result);
}

cJSON *bench_live(const bench_pipeline_job *job, const live_pace *pace)
{
    run r = {.job = job, .source.listener = -1};
    enhance_report report = {0};
    cJSON *result = NULL;
    r.first = job->warm_up < 0 ? (uint64_t)ceil(pace->fps) : (uint64_t)job->warm_up;
    const double timed = job->seconds > 0 ? ceil(job->seconds * pace->fps) : INFINITY;
    const double frames =
        fmin(job->frames ? (double)job->frames : INFINITY, timed) + (double)r.first;
    const size_t count = frames < SAMPLING_MAX ? (size_t)frames : SAMPLING_MAX;
    const bool synthetic = bench_pipeline_synthetic(job);
    if (bench_clip_open(&r.clip) &&
        (!synthetic || bench_clip_make(&r.clip, job->size, LOOP, LOOP, pace->fps)) &&
        live_source_open(&r.source, synthetic ? r.clip.input : job->enhance->input.path, pace,
                         count) &&
        play(&r, &report))
        result = conclude(&r, &report);
    live_source_close(&r.source);
    live_source_free(&r.source);
    samples_free(&r.latency);
    bench_clip_close(&r.clip);
    return result;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_pace(const cJSON *result)
{
    printf("  source     %g frames a second, jitter up to %g ms", json_number(result, "source_fps"),
           json_number(result, "jitter_ms"));
    if (json_number(result, "late_every") > 0)
        printf("; every %.0fth frame %g ms late", json_number(result, "late_every"),
               json_number(result, "late_ms"));
    if (json_number(result, "burst_every") > 0)
        printf("; of every %.0f frames, %.0f at once", json_number(result, "burst_every"),
               json_number(result, "burst"));
    putchar('\n');
}

void bench_live_print(const cJSON *result)
{
    bench_pipeline_print_run(result, "live");
    print_pace(result);
    result_print_times(result);
    printf("  latency    from packet sent to packet written; the longest is %.1f frames of the "
           "source\n",
           1e-3 * json_number(result, "max_ms") * json_number(result, "source_fps"));
    printf("  frames     %.0f came in, %.0f went out, %.0f left out because %g ms late or "
           "more\n",
           json_number(result, "arrived"), json_number(result, "frames"),
           json_number(result, "dropped"), json_number(result, "max_delay_ms"));
}
