// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/capacity.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/bench/modelled_report.h"
#include "apps/bench/report/bench_result.h"
#include "apps/cli/json_output.h"
#ifndef MONA_NO_VIDEO
#include "apps/bench/bench_pipeline.h"
#endif

static bool measure(const bench_request *b, capacity_job job, cJSON *result)
{
    machine here;
    machine_describe(&here);
    job.cores = job.modelled ? 0 : here.cores;
    job.free_bytes = job.modelled ? 0 : machine_free_bytes();
    job.percentile = b->rules.percentile > 0 ? b->rules.percentile : 99;
    job.fps = b->pace.fps;
    job.budget_ms = b->rules.budget_ms > 0 ? b->rules.budget_ms : 1e3 / job.fps;
    job.seconds = b->how.seconds > 0 ? b->how.seconds : CAPACITY_SECONDS;
    return bench_capacity(result, &job);
}

static void add_given(cJSON *result, const char *key, const char *value)
{
    if (value)
        cJSON_AddStringToObject(result, key, value);
}

static void describe(const bench_request *b, cJSON *result, mona_size size)
{
    char text[48], host[64] = "";
    mona_device_properties device = {.name = "host"};
    const char *asked = b->arguments.computing.device;
    mona_device_query(b->config.device, &device);
    gethostname(host, sizeof host - 1);
    snprintf(text, sizeof text, "%ux%u", size.width, size.height);
    JSON_ADD(result, TEXT("kind", "capacity"),
             TEXT("name", modelled_device(b->config.device) ? device.name : host));
    add_given(result, "device", asked && strcmp(asked, "auto") != 0 ? asked : NULL);
    cJSON_AddStringToObject(result, "size", text);
    cJSON_AddItemToObject(result, "provenance", provenance());
}

static int show(const bench_request *b, const cJSON *result)
{
    bool done = true;
    if (b->arguments.json)
        done = result_print_json(result);
    else
        bench_capacity_print(result);
    return done && json_number(result, "streams") > 0 ? EXIT_SUCCESS : EXIT_FAILED;
}

static paced_streams pace_of(const bench_request *b)
{
    return (paced_streams){.pace = b->pace, .max_delay_ms = 1e3 * b->arguments.max_delay};
}

/* ---- a network ------------------------------------------------------------------------------- */

typedef struct model_streams {
    const bench_model_job *job;
    paced_streams pace;
} model_streams;

static bool run_model(void *context, unsigned streams, double seconds, capacity_trial *trial)
{
    model_streams *m = context;
    m->pace.seconds = seconds;
    return bench_streams_paced(m->job, &m->pace, streams, trial);
}

static bool measure_model(const bench_request *b, const bench_model_job *job, cJSON *result)
{
    model_streams streams = {job, pace_of(b)};
    return measure(b, (capacity_job){.run = run_model, .context = &streams}, result);
}

static bool model_chip(const bench_request *b, const bench_model_job *job, cJSON *result)
{
    capacity_modelled chip = {.streams = pace_of(b)};
    if (!modelled_frame_ms(&chip.frame_ms, job->name, job->model, &b->config, &b->costs))
        return false;
    json_add_rounded(result, "frame_ms", chip.frame_ms);
    return measure(b,
                   (capacity_job){.run = capacity_modelled_run, .context = &chip, .modelled = true},
                   result);
}

int capacity_of_model(const bench_request *b, const bench_model_job *job, mona_size size)
{
    cJSON *result = cJSON_CreateObject();
    int status = EXIT_FAILED;
    if (modelled_device(b->config.device) ? model_chip(b, job, result)
                                          : measure_model(b, job, result)) {
        cJSON_AddStringToObject(result, "model", job->name);
        describe(b, result, size);
        status = show(b, result);
    }
    cJSON_Delete(result);
    return status;
}

/* ---- pipelines ------------------------------------------------------------------------------- */

#ifndef MONA_NO_VIDEO
typedef struct pipeline_streams {
    const bench_request *request;
    capacity_live *live;
    job job;
    double seconds;
    cJSON *first; /* a result of the last trial */
} pipeline_streams;

static cJSON *be_stream(void *context, live_gate *gate, unsigned camera)
{
    const pipeline_streams *p = context;
    return p->live(p->request, &p->job, p->seconds, gate, camera);
}

static bool run_pipelines(void *context, unsigned streams, double seconds, capacity_trial *trial)
{
    pipeline_streams *p = context;
    cJSON *first;
    p->seconds = seconds;
    const bool good = capacity_processes_run(be_stream, context, streams, trial, &first);
    if (first) {
        cJSON_Delete(p->first);
        p->first = first;
    }
    return good;
}

static bool make_clip(const bench_request *b, bench_clip *clip)
{
    enum { LOOP = 60 };
    const mona_size size = bench_synthetic_size(&b->arguments);
    return bench_clip_open(clip) && (!bench_is_synthetic(&b->arguments) ||
                                     bench_clip_make(clip, size, LOOP, LOOP, b->pace.fps));
}

int capacity_of_pipeline(const bench_request *b, const job *j, capacity_live *live)
{
    pipeline_streams p = {.request = b, .live = live, .job = *j};
    cJSON *result = cJSON_CreateObject();
    bench_clip clip;
    int status = EXIT_FAILED;
    if (make_clip(b, &clip)) {
        p.job.input.path = bench_is_synthetic(&b->arguments) ? clip.input : j->input.path;
        if (measure(b, (capacity_job){.run = run_pipelines, .context = &p}, result)) {
            const mona_size size = {(uint32_t)json_number(p.first, "width"),
                                    (uint32_t)json_number(p.first, "height")};
            char tier[OPTION_TEXT];
            add_given(result, "tier", option_text(&job_rows[JOB_TIER], j, tier));
            add_given(result, "stages", j->stages);
            add_given(result, "model", j->sr);
            cJSON_AddStringToObject(result, "networks", json_string(p.first, "networks"));
            describe(b, result, size);
            status = show(b, result);
        }
    }
    cJSON_Delete(p.first);
    cJSON_Delete(result);
    bench_clip_close(&clip);
    return status;
}
#endif
