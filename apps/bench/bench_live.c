// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_pipeline.h"

#include <math.h>
#include <stdio.h>

#include <libavutil/log.h>

#include "apps/bench/bench_streams.h"
#include "apps/bench/report/bench_result.h"
#include "apps/cli/options.h"
#include "pipeline/base/clock.h"
#include "apps/cli/json_output.h"

/* Frames of a synthetic clip, which is repeated. */
enum { LOOP = 60 };

typedef struct run {
    const bench_pipeline_job *job;
    live_source source;
    bench_clip clip;
    samples latency;
    uint64_t frames; /* that went out so far */
    /* CPU time in ns: when a step began, and what each has taken; when the first and the last frame
     * that count went out */
    uint64_t began[CHAIN_MAX_STEPS], spent[CHAIN_MAX_STEPS], from, until;
    double bytes;
    bool fails;
} run;

/* A frame that counts went out. */
static void count(run *r, size_t number, uint64_t now)
{
    r->until = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
    if (!r->latency.count) {
        r->bytes = machine_own_bytes();
        r->from = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
    }
    const uint64_t sent = atomic_load(&r->source.sent_at[number]);
    r->fails = !samples_add(&r->latency, 1e-6 * (double)(now - sent)) || r->fails;
    telemetry_log_look(&r->latency.sensors);
}

/* job.progress: a frame went out. */
static void note(void *context, const enhance_report *report)
{
    run *r = context;
    live_source *s = &r->source;
    const uint64_t now = clock_ns();
    const double number = round(report->time * s->pace.fps);
    if (report->frames == r->frames)
        return;
    if (!r->frames && s->gate)
        atomic_fetch_add(&s->gate->there, 1);
    r->frames = report->frames;
    const double first = (double)atomic_load(&s->first);
    if (number >= first && number < first + (double)s->frames)
        count(r, (size_t)number, now);
}

/* Stages and the encoder work in threads of their own, one after the other unless frames are late;
 * meanwhile, the decoder waits for the camera. */
static void mark(void *context, uint64_t frame, unsigned step, bool end)
{
    run *r = context;
    const uint64_t now =
        clock_ns_of(step < PROBE_STAGE ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID);
    (void)frame;
    if (end)
        r->spent[step] += now - r->began[step];
    r->began[step] = now;
}

static bool play(run *r, enhance_report *report)
{
    const live_settings live = {.stall = 5};
    const pipeline_probe probe = {.mark = mark, .context = r};
    pipeline_error error = {0};
    struct job settings = *r->job->enhance;
    settings.input.path = r->source.address;
    settings.output = r->source.gate ? "-" : r->clip.output;
    settings.format = "matroska";
    settings.input.live = &live;
    settings.encoder.low_latency = true;
    settings.progress = note;
    settings.progress_context = r;
    settings.probe = &probe;
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

/* Steps that overlap are counted twice; together, they took no more than the process. */
static void add_cpu(cJSON *result, const run *r)
{
    const unsigned encode = PROBE_STAGE + r->job->enhance->count;
    double ms[CAPACITY_PARTS] = {0}, sum = 0;
    for (unsigned i = 0; i <= encode; i++) {
        const capacity_part part = i == PROBE_DECODE ? CAPACITY_DECODE
                                   : i == encode     ? CAPACITY_ENCODE
                                                     : CAPACITY_NETWORK;
        ms[part] += 1e-6 * (double)r->spent[i] / (double)r->frames;
        sum += 1e-6 * (double)r->spent[i] / (double)r->frames;
    }
    const double whole = r->latency.count > 1
                             ? 1e-6 * (double)(r->until - r->from) / (double)(r->latency.count - 1)
                             : sum;
    for (unsigned i = 0; i < CAPACITY_OTHER; i++)
        ms[i] *= fmin(1, whole / sum);
    ms[CAPACITY_OTHER] = fmax(0, whole - sum);
    capacity_parts_add(result, ms);
}

static void describe(cJSON *result, const run *r, const enhance_report *report)
{
    const struct job *s = r->job->enhance;
    const live_pace *p = &r->source.pace;
    bench_pipeline_describe(result, "live", s, report);
    JSON_ADD(result, ROUNDED("source_fps", p->fps), ROUNDED("jitter_ms", p->jitter_ms),
             ROUNDED("late_ms", p->late_ms), NUMBER("late_every", p->late_every),
             NUMBER("burst", p->burst), NUMBER("burst_every", p->burst_every),
             ROUNDED("max_delay_ms", 1e3 * s->max_delay), NUMBER("arrived", report->live.arrived),
             NUMBER("frames", report->frames), NUMBER("dropped", report->live.dropped),
             NUMBER("expected", r->source.frames), ROUNDED("stream_bytes", r->bytes));
    add_cpu(result, r);
}

/* Among others, a stream of which all frames were left out is a result, too. */
static cJSON *conclude(run *r, const enhance_report *report)
{
    const bool some = r->latency.count >= 2;
    if (!some && !r->source.gate) {
        cli_fail(0, "%s: expected two frames or more after %zu of warm-up, found %zu",
                 r->job->enhance->input.path, r->source.warm_up, r->latency.count);
        return NULL;
    }
    cJSON *result = cJSON_CreateObject();
    r->latency.warm_up = r->source.warm_up;
    r->latency.settled = true;
    describe(result, r, report);
    const bool done = !some || result_add_samples(result, &r->latency, r->job->percentile);
    cJSON_AddItemToObject(result, "provenance", provenance());
    return result_if(done, result);
}

/* How many frames are sent, of which some warm up: a second, or as the job says. */
static void count_frames(run *r, double fps)
{
    const bench_pipeline_job *job = r->job;
    const double timed = job->seconds > 0 ? ceil(job->seconds * fps) : INFINITY;
    const double frames = fmin(job->frames ? (double)job->frames : INFINITY, timed);
    r->source.warm_up = job->warm_up < 0 ? (size_t)ceil(fps) : (size_t)job->warm_up;
    r->source.frames = frames < SAMPLING_MAX ? (size_t)frames : SAMPLING_MAX;
}

/* Makes the clip where it is synthetic. A stream among others has one already. */
static bool open_clip(run *r)
{
    const bench_pipeline_job *job = r->job;
    const bool synthetic = bench_pipeline_synthetic(job);
    r->source.clip = synthetic ? r->clip.input : job->enhance->input.path;
    return r->source.gate ||
           (bench_clip_open(&r->clip) &&
            (!synthetic || bench_clip_make(&r->clip, job->size, LOOP, LOOP, r->source.pace.fps)));
}

cJSON *bench_live(const bench_pipeline_job *job, const live_pace *pace, live_gate *gate,
                  unsigned camera)
{
    run r = {.job = job, .source = {.listener = -1, .pace = *pace, .gate = gate, .camera = camera}};
    enhance_report report = {0};
    cJSON *result = NULL;
    count_frames(&r, pace->fps);
    if (open_clip(&r) && live_source_open(&r.source) && play(&r, &report))
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
