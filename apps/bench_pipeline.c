/* The pipeline that is timed is the one of mona enhance, with a probe in it; its result goes to a
 * folder of its own and is removed. Frames that a synthetic clip is made of are decoded, too: from
 * a YUV4MPEG file, which costs little more than a copy. */
#include "bench_pipeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libavutil/log.h>

#include "bench_result.h"
#include "model_source.h"
#include "options.h"
#include "pipeline_marks.h"
#include "provenance.h"
#include "sampling.h"

enum { MODEL_SR, MODEL_DENOISE, MODEL_BICUBIC, MODEL_COUNT };

typedef struct run {
    const bench_pipeline_job *job;
    pipeline_marks marks;
    uint64_t start; /* when the source had its first frame */
    double period_ns;
    char folder[64], clip[80], output[80];
    model_source models[MODEL_COUNT];
    machine_moment before, after;
    telemetry_log sensors; /* the encoder's thread reads them */
} run;

/* ---- the probe --------------------------------------------------------------------------------
 */

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* A paced source has frame n after n periods, whether anybody is there to take it or not. */
static void arrive(void *context, uint64_t frame)
{
    run *r = context;
    if (frame >= r->marks.capacity)
        return;
    if (frame == 0)
        r->start = clock_ns();
    uint64_t at = clock_ns();
    if (r->period_ns > 0) {
        at = r->start + (uint64_t)((double)frame * r->period_ns);
        sleep_until(at);
    }
    r->marks.arrival[frame] = at;
}

static void mark(void *context, uint64_t frame, unsigned step, bool end)
{
    run *r = context;
    if (frame >= r->marks.capacity)
        return;
    step_mark *m = pipeline_mark(&r->marks, frame, step);
    *(end ? &m->end : &m->begin) = clock_ns();
    if (end && step == r->marks.steps - 1)
        telemetry_log_look(&r->sensors);
}

/* ---- clips ------------------------------------------------------------------------------------
 */

/* A gradient that moves, with noise: what a network and an encoder do not skip. */
static void fill_plane(uint8_t *plane, uint32_t width, uint32_t height, uint32_t frame,
                       uint32_t *seed)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            *seed = *seed * 1664525 + 1013904223;
            plane[(size_t)y * width + x] =
                (uint8_t)(((x + y + 3 * frame) >> 2 & 127) + 48 + (*seed >> 28));
        }
}

static bool write_frames(FILE *file, const bench_pipeline_job *job, uint8_t *plane)
{
    const uint32_t w = job->size.width, h = job->size.height, cw = (w + 1) / 2, ch = (h + 1) / 2;
    uint32_t seed = 1;
    bool good = fprintf(file, "YUV4MPEG2 W%u H%u F%ld:1000 Ip A1:1 C420jpeg\n", w, h,
                        job->fps > 0 ? (long)(1000 * job->fps) : 30000) > 0;
    for (long f = 0; f < job->frames && good; f++) {
        good = fputs("FRAME\n", file) >= 0;
        for (int p = 0; p < 3 && good; p++) {
            const size_t bytes = p ? (size_t)cw * ch : (size_t)w * h;
            fill_plane(plane, p ? cw : w, p ? ch : h, (uint32_t)f, &seed);
            good = fwrite(plane, 1, bytes, file) == bytes;
        }
    }
    return good;
}

static bool make_clip(run *r)
{
    uint8_t *plane = malloc((size_t)r->job->size.width * r->job->size.height + 1);
    FILE *file = plane ? fopen(r->clip, "wb") : NULL;
    bool good = file && write_frames(file, r->job, plane);
    if (file && fclose(file))
        good = false;
    free(plane);
    return good || cli_fail(0, "%s: cannot be written: %s", r->clip, strerror(errno));
}

static bool make_folder(run *r)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent || strlen(parent) > 32)
        parent = "/tmp";
    snprintf(r->folder, sizeof r->folder, "%s/mona-bench-XXXXXX", parent);
    if (!mkdtemp(r->folder)) {
        r->folder[0] = 0;
        return cli_fail(0, "%s: no folder can be made there: %s", parent, strerror(errno));
    }
    snprintf(r->clip, sizeof r->clip, "%.62s/in.y4m", r->folder);
    snprintf(r->output, sizeof r->output, "%.62s/out.mkv", r->folder);
    return true;
}

static void remove_folder(const run *r)
{
    if (!r->folder[0])
        return;
    unlink(r->clip);
    unlink(r->output);
    rmdir(r->folder);
}

/* ---- running ----------------------------------------------------------------------------------
 */

static bool open_models(run *r, stage_settings *stage)
{
    stage->sr = &r->models[MODEL_SR].model;
    stage->denoise = &r->models[MODEL_DENOISE].model;
    stage->bicubic = &r->models[MODEL_BICUBIC].model;
    return model_source_open(&r->models[MODEL_SR], NULL, "sr_x2_fast") &&
           model_source_open(&r->models[MODEL_DENOISE], NULL, "denoise_fast") &&
           model_source_open(&r->models[MODEL_BICUBIC], NULL, "bicubic_x2");
}

static void name_steps(run *r)
{
    static const char *const kinds[] = {
        [STAGE_SR] = "sr", [STAGE_DENOISE] = "denoise", [STAGE_DELAY] = "delay"};
    pipeline_marks *m = &r->marks;
    m->names[PROBE_DECODE] = "decode";
    m->names[PROBE_UPLOAD] = "upload";
    for (unsigned i = 0; i < r->job->stages.count; i++)
        m->names[PROBE_STAGE + i] = kinds[r->job->stages.kinds[i]];
    m->names[m->steps - 1] = "encode";
}

static bool play(run *r, enhance_report *report)
{
    const bench_pipeline_job *job = r->job;
    const bool synthetic = !strcmp(job->clip, "synthetic");
    const pipeline_probe probe = {arrive, mark, r};
    pipeline_error error = {0};
    enhance_settings settings = {.input = synthetic ? r->clip : job->clip,
                                 .output = r->output,
                                 .count = job->stages.count,
                                 .stage = job->stage,
                                 .frames = (uint64_t)job->frames,
                                 .encoder = job->encoder,
                                 .probe = &probe};
    memcpy(settings.kinds, job->stages.kinds, sizeof settings.kinds);
    settings.stage.delay = job->stages.delay;
    settings.stage.strength = -1;
    av_log_set_level(AV_LOG_QUIET);
    if ((synthetic && !make_clip(r)) || !open_models(r, &settings.stage))
        return false;
    r->before = machine_now();
    telemetry_log_open(&r->sensors, job->stage.device);
    const bool good = enhance_video(&settings, report, &error);
    telemetry_log_end(&r->sensors);
    r->after = machine_now();
    return good || cli_fail(0, "%s", error.text);
}

static void describe(cJSON *result, const run *r, const enhance_report *report)
{
    const bench_pipeline_job *job = r->job;
    mona_device_properties device = {.name = "host", .isa = ""};
    mona_device_query(job->stage.device, &device);
    cJSON_AddStringToObject(result, "kind", "pipeline");
    cJSON_AddStringToObject(result, "clip", job->clip);
    cJSON_AddStringToObject(result, "stages", job->stage_text);
    cJSON_AddNumberToObject(result, "width", report->in_width);
    cJSON_AddNumberToObject(result, "height", report->in_height);
    cJSON_AddNumberToObject(result, "out_width", report->out_width);
    cJSON_AddNumberToObject(result, "out_height", report->out_height);
    cJSON_AddStringToObject(result, "device", device.name);
    cJSON_AddStringToObject(result, "isa", job->stage.cpu ? job->stage.cpu : device.isa);
    cJSON_AddNumberToObject(result, "threads",
                            job->stage.threads ? job->stage.threads : device.cores);
    result_add_number(result, "source_fps", job->fps);
    cJSON_AddNumberToObject(result, "engine_bytes", (double)report->engine_bytes);
    cJSON_AddNumberToObject(result, "frame_bytes", (double)report->frame_bytes);
}

static cJSON *conclude(run *r, const enhance_report *report)
{
    const bench_pipeline_job *job = r->job;
    pipeline_marks *m = &r->marks;
    const size_t automatic = report->frames / 4 < 10 ? report->frames / 4 : 10;
    m->count = report->frames;
    m->first = job->warm_up < 0 ? automatic : (size_t)job->warm_up;
    if (m->first + 2 > m->count) {
        cli_fail(0, "%s: expected two frames or more after %zu of warm-up, found %zu", job->clip,
                 m->first, m->count);
        return NULL;
    }
    samples s = {.warm_up = m->first,
                 .settled = true,
                 .before = r->before,
                 .after = r->after,
                 .sensors = r->sensors};
    const double period_ms = 1e-6 * r->period_ns;
    cJSON *result = cJSON_CreateObject();
    bool done = true;
    for (size_t f = m->first; f < m->count && done; f++)
        done = samples_add(&s, pipeline_frame_ms(m, f));
    describe(result, r, report);
    done =
        done && result_add_samples(result, &s, job->percentile) &&
        pipeline_marks_add(result, m, period_ms, job->budget_ms > 0 ? job->budget_ms : period_ms);
    cJSON_AddItemToObject(result, "provenance", provenance());
    samples_free(&s);
    if (done)
        return result;
    cJSON_Delete(result);
    return NULL;
}

cJSON *bench_pipeline(const bench_pipeline_job *job)
{
    run r = {.job = job, .period_ns = job->fps > 0 ? 1e9 / job->fps : 0};
    enhance_report report = {0};
    cJSON *result = NULL;
    if (!pipeline_marks_open(&r.marks, (size_t)job->frames, PROBE_STAGE + job->stages.count + 1)) {
        cli_fail(0, "out of memory");
    } else {
        name_steps(&r);
        if (make_folder(&r) && play(&r, &report))
            result = conclude(&r, &report);
    }
    remove_folder(&r);
    for (int i = 0; i < MODEL_COUNT; i++)
        model_source_close(&r.models[i]);
    pipeline_marks_close(&r.marks);
    return result;
}

/* ---- for people -------------------------------------------------------------------------------
 */

static const char *text(const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static void print_steps(const cJSON *result)
{
    const cJSON *step;
    printf("  %-10s %9s %9s %9s %9s %9s %9s %6s %6s\n", "step, ms", "work p50", "p99", "max",
           "wait p50", "p99", "max", "queue", "max");
    cJSON_ArrayForEach(step, cJSON_GetObjectItemCaseSensitive(result, "steps"))
    {
        const cJSON *work = cJSON_GetObjectItemCaseSensitive(step, "work");
        const cJSON *wait = cJSON_GetObjectItemCaseSensitive(step, "wait");
        printf("  %-10s %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %6.2f %6.0f\n", text(step, "name"),
               result_number(work, "p50_ms"), result_number(work, "p99_ms"),
               result_number(work, "max_ms"), result_number(wait, "p50_ms"),
               result_number(wait, "p99_ms"), result_number(wait, "max_ms"),
               result_number(step, "queue_mean"), result_number(step, "queue_max"));
    }
}

void bench_pipeline_print(const cJSON *result)
{
    const cJSON *interval = cJSON_GetObjectItemCaseSensitive(result, "interval");
    const cJSON *deadline = cJSON_GetObjectItemCaseSensitive(result, "deadline");
    const double fps = result_number(result, "source_fps");
    char pace[48] = "as fast as it goes";
    if (fps > 0)
        snprintf(pace, sizeof pace, "%g frames a second", fps);
    printf("%s, %.0fx%.0f to %.0fx%.0f, %s, %s\n", text(result, "clip"),
           result_number(result, "width"), result_number(result, "height"),
           result_number(result, "out_width"), result_number(result, "out_height"),
           text(result, "stages"), pace);
    result_print_times(result);
    print_steps(result);
    printf(
        "  done       %.2f frames a second; from frame to frame p50 %.3f ms, p99 %.3f, max %.3f, "
        "jitter %.3f\n",
        result_number(result, "fps"), result_number(interval, "p50_ms"),
        result_number(interval, "p99_ms"), result_number(interval, "max_ms"),
        result_number(result, "jitter_ms"));
    if (deadline)
        printf("  deadline   %.3f ms: %.0f of %.0f frames missed, at most %.0f in a row\n",
               result_number(deadline, "deadline_ms"), result_number(deadline, "misses"),
               result_number(result, "iterations"), result_number(deadline, "longest_run"));
    printf("  memory     %.0f bytes for the networks, %.0f of frames\n",
           result_number(result, "engine_bytes"), result_number(result, "frame_bytes"));
}
