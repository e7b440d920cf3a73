// SPDX-License-Identifier: Apache-2.0
/* The timed pipeline is that of mona enhance, with a probe. Its result goes to a temporary folder
 * and is removed. */
#include "apps/bench/bench_pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/log.h>

#include "apps/bench/bench_model.h"
#include "apps/bench/report/bench_result.h"
#include "apps/bench/report/layer_log.h"
#include "apps/cli/options.h"
#include "apps/bench/report/pipeline_marks.h"
#include "apps/timing/sampling.h"
#include "apps/enhance/dry_run.h"
#include "apps/cli/json_output.h"

/* Limits: models of a stage; frames of warm-up; frames a second for which a run of a given length
 * has room; frames of a clip that is repeated. */
enum { MODELS_A_STAGE = 3, WATCHED_MAX = CHAIN_MAX_STAGES * MODELS_A_STAGE };
enum { WARM_UP = 10, FASTEST_FPS = 2000, FRAMES_OF_A_LOOP = 60 };

/* A stage's model, observed operator by operator. */
typedef struct watched_model {
    layer_log log;
    unsigned stage, runs;
} watched_model;

typedef struct run {
    const bench_pipeline_job *job;
    pipeline_marks marks;
    uint64_t start; /* when the source had its first frame */
    double period_ns;
    bench_clip clip;
    watched_model watched[WATCHED_MAX];
    unsigned watched_count;
    double ms_per_tick;
    samples times; /* of frames; the sensors are read in the encoder's thread */
} run;

/* ---- the probe ------------------------------------------------------------------------------- */

/* A source with a given pace has frame n after n periods, whether the pipeline is ready for it or
 * not. */
static bool arrive(void *context, uint64_t frame)
{
    run *r = context;
    const uint64_t warm_up = r->job->warm_up < 0 ? WARM_UP : (uint64_t)r->job->warm_up;
    uint64_t at = clock_ns();
    if (frame >= r->marks.capacity)
        return false;
    if (r->job->seconds > 0 && frame > warm_up &&
        1e-9 * (double)(at - r->marks.arrival[warm_up]) >= r->job->seconds)
        return false;
    if (frame == 0)
        r->start = at;
    if (r->period_ns > 0) {
        at = r->start + (uint64_t)((double)frame * r->period_ns);
        clock_sleep_until(at);
    }
    r->marks.arrival[frame] = at;
    return true;
}

static void watch(void *context, unsigned stage, const session_binding *model, unsigned runs)
{
    run *r = context;
    if (r->watched_count == WATCHED_MAX)
        return;
    watched_model *w = &r->watched[r->watched_count++];
    w->stage = stage;
    w->runs = runs;
    if (layer_log_open(&w->log, model->plan))
        mona_session_observe_ops(model->session, &w->log.observer);
}

static void mark(void *context, uint64_t frame, unsigned step, bool end)
{
    run *r = context;
    if (frame >= r->marks.capacity)
        return;
    step_mark *m = pipeline_mark(&r->marks, frame, step);
    *(end ? &m->end : &m->begin) = clock_ns();
    if (end && step == r->marks.steps - 1)
        telemetry_log_look(&r->times.sensors);
}

bool bench_pipeline_synthetic(const bench_pipeline_job *job)
{
    return !strcmp(job->enhance->input.path, "synthetic");
}

/* ---- running --------------------------------------------------------------------------------- */

static bool play(run *r, enhance_report *report)
{
    const bench_pipeline_job *job = r->job;
    const pipeline_probe probe = {arrive, mark, job->layers ? watch : NULL, r};
    pipeline_error error = {0};
    struct job settings = *job->enhance;
    if (bench_pipeline_synthetic(job)) {
        settings.input.path = r->clip.input;
        settings.input.list = "concat";
    }
    settings.output = r->clip.output;
    settings.frames = r->marks.capacity;
    settings.probe = &probe;
    av_log_set_level(AV_LOG_QUIET);
    const uint64_t ticks = machine_ticks(), start = clock_ns();
    r->times.before = machine_now();
    telemetry_log_open(&r->times.sensors, settings.stage.devices.at[0]);
    const bool good = enhance_run(&settings, report, &error);
    telemetry_log_end(&r->times.sensors);
    r->times.after = machine_now();
    r->ms_per_tick = 1e-6 * (double)(clock_ns() - start) / (double)(machine_ticks() - ticks);
    return good || !cli_fail_of(&error);
}

void bench_pipeline_describe(cJSON *result, const char *kind, const job *s,
                             const enhance_report *report)
{
    mona_device_properties device = {.name = "host", .isa = ""};
    mona_device_query(s->stage.devices.at[0], &device);
    JSON_ADD(result, TEXT("kind", kind), TEXT("clip", s->input.path));
    enhance_describe(result, s, report);
    JSON_ADD(result, NUMBER("width", report->in_width), NUMBER("height", report->in_height),
             NUMBER("out_width", report->out_width), NUMBER("out_height", report->out_height),
             TEXT("device", device.name), TEXT("isa", s->stage.cpu ? s->stage.cpu : device.isa),
             NUMBER("threads", s->stage.threads ? s->stage.threads : device.cores));
}

/* The mean work of a stage over all frames, as the sum of its operators; like theirs, it includes
 * the warm-up. */
static double stage_ms(const run *r, unsigned stage)
{
    double sum = 0;
    for (size_t f = 0; f < r->marks.count; f++)
        sum += pipeline_work_ms(&r->marks, f, PROBE_STAGE + stage);
    return sum / (double)r->marks.count;
}

static bool add_layers(cJSON *result, const run *r)
{
    peak limit;
    const double ms_per_tick = r->ms_per_tick / (double)r->marks.count;
    if (!peak_measure((unsigned)json_number(result, "threads"), &limit))
        return cli_fail(0, "the peak cannot be measured: no threads or memory left");
    JSON_ADD(result, ROUNDED("peak_gmac_per_s", limit.int8_gmac_per_s),
             ROUNDED("memory_gb_per_s", 2 * limit.copy_gb_per_s),
             ROUNDED("cache_gb_per_s", 2 * limit.cache_copy_gb_per_s));
    cJSON *rows = cJSON_AddArrayToObject(result, "layers");
    for (unsigned i = 0; i < r->job->enhance->count; i++) {
        const char *name = r->marks.names[PROBE_STAGE + i];
        const double whole = stage_ms(r, i);
        double sum = 0;
        for (unsigned w = 0; w < r->watched_count; w++)
            if (r->watched[w].stage == i)
                sum += layer_log_add(rows, &r->watched[w].log, &limit, ms_per_tick,
                                     r->watched[w].runs, whole, name);
        layer_log_add_other(rows, sum, whole, name);
    }
    return true;
}

static cJSON *conclude(run *r, const enhance_report *report)
{
    const bench_pipeline_job *job = r->job;
    pipeline_marks *m = &r->marks;
    const size_t automatic = report->frames / 4 < WARM_UP ? report->frames / 4 : WARM_UP;
    m->count = report->frames;
    m->first = job->warm_up < 0 ? automatic : (size_t)job->warm_up;
    if (m->first + 2 > m->count) {
        cli_fail(0, "%s: expected two frames or more after %zu of warm-up, found %zu",
                 job->enhance->input.path, m->first, m->count);
        return NULL;
    }
    r->times.warm_up = m->first;
    r->times.settled = true;
    const double period_ms = 1e-6 * r->period_ns;
    cJSON *result = cJSON_CreateObject();
    bool done = true;
    for (size_t f = m->first; f < m->count && done; f++)
        done = samples_add(&r->times, pipeline_frame_ms(m, f));
    bench_pipeline_describe(result, "pipeline", job->enhance, report);
    JSON_ADD(result, ROUNDED("source_fps", job->fps), NUMBER("engine_bytes", report->engine_bytes),
             NUMBER("frame_bytes", report->frame_bytes));
    done =
        done && result_add_samples(result, &r->times, job->percentile) &&
        pipeline_marks_add(result, m, period_ms, job->budget_ms > 0 ? job->budget_ms : period_ms) &&
        (!job->layers || add_layers(result, r));
    cJSON_AddItemToObject(result, "provenance", provenance());
    return result_if(done, result);
}

/* The room for marks: as many frames as requested, or more than the time allows. */
static size_t max_frames(const bench_pipeline_job *job)
{
    const double rate = job->fps > 0 ? job->fps : FASTEST_FPS;
    const double warm_up = job->warm_up < 0 ? WARM_UP : (double)job->warm_up;
    const double max = job->frames ? (double)job->frames : ceil(job->seconds * rate + warm_up + 2);
    return max < SAMPLING_MAX ? (size_t)max : SAMPLING_MAX;
}

static bool make_clip(run *r)
{
    const long max = (long)r->marks.capacity;
    const bool loop = !r->job->frames && max > FRAMES_OF_A_LOOP;
    return bench_clip_open(&r->clip) &&
           (!bench_pipeline_synthetic(r->job) ||
            bench_clip_make(&r->clip, r->job->size, loop ? FRAMES_OF_A_LOOP : max, max,
                            r->job->fps));
}

cJSON *bench_pipeline(const bench_pipeline_job *job)
{
    run r = {.job = job, .period_ns = job->fps > 0 ? 1e9 / job->fps : 0};
    enhance_report report = {0};
    cJSON *result = NULL;
    if (!pipeline_marks_open(&r.marks, max_frames(job), job->enhance->kinds, job->enhance->count))
        cli_fail(0, "out of memory");
    else if (make_clip(&r) && play(&r, &report))
        result = conclude(&r, &report);
    bench_clip_close(&r.clip);
    for (unsigned i = 0; i < r.watched_count; i++)
        layer_log_close(&r.watched[i].log);
    samples_free(&r.times);
    pipeline_marks_close(&r.marks);
    return result;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_steps(const cJSON *result)
{
    const cJSON *step;
    printf("  %-10s %9s %9s %9s %9s %9s %9s %6s %6s\n", "step, ms", "work p50", "p99", "max",
           "wait p50", "p99", "max", "queue", "max");
    cJSON_ArrayForEach(step, json_get(result, "steps"))
    {
        const cJSON *work = json_get(step, "work");
        const cJSON *wait = json_get(step, "wait");
        printf("  %-10s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %6.2f %6.0f\n",
               json_string(step, "name"), json_number(work, "p50_ms"), json_number(work, "p99_ms"),
               json_number(work, "max_ms"), json_number(wait, "p50_ms"),
               json_number(wait, "p99_ms"), json_number(wait, "max_ms"),
               json_number(step, "queue_mean"), json_number(step, "queue_max"));
    }
}

void bench_pipeline_print_run(const cJSON *result, const char *pace)
{
    printf("%s, %.0fx%.0f to %.0fx%.0f by %s, %s\n", json_string(result, "clip"),
           json_number(result, "width"), json_number(result, "height"),
           json_number(result, "out_width"), json_number(result, "out_height"),
           json_string(result, "networks"), pace);
    printf("  encoder    %s\n", json_string(result, "encoder"));
}

void bench_pipeline_print(const cJSON *result)
{
    const cJSON *interval = json_get(result, "interval");
    const cJSON *deadline = json_get(result, "deadline");
    const double fps = json_number(result, "source_fps");
    char pace[48] = "as fast as it goes";
    if (fps > 0)
        snprintf(pace, sizeof pace, "%g frames a second", fps);
    bench_pipeline_print_run(result, pace);
    result_print_times(result);
    print_steps(result);
    printf(
        "  done       %.2f frames a second; from frame to frame p50 %.3f ms, p99 %.3f, max %.3f, "
        "jitter %.3f\n",
        json_number(result, "fps"), json_number(interval, "p50_ms"),
        json_number(interval, "p99_ms"), json_number(interval, "max_ms"),
        json_number(result, "jitter_ms"));
    if (deadline)
        printf("  deadline   %.3f ms: %.0f of %.0f frames missed, at most %.0f in a row\n",
               json_number(deadline, "deadline_ms"), json_number(deadline, "misses"),
               json_number(result, "iterations"), json_number(deadline, "longest_run"));
    bench_layers_print(result);
    printf("  memory     %.0f bytes for the networks, %.0f of frames\n",
           json_number(result, "engine_bytes"), json_number(result, "frame_bytes"));
}
