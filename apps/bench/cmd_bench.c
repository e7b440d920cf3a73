// SPDX-License-Identifier: Apache-2.0
/* mona bench: how long a frame takes, and what share of the machine's peak that is. */
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/capacity.h"
#include "apps/bench/chip_report.h"
#include "apps/bench/bench_model.h"
#include "apps/bench/bench_options.h"
#ifndef MONA_NO_VIDEO
#include "apps/bench/bench_pipeline.h"
#endif
#include "apps/bench/report/bench_result.h"
#include "apps/bench/bench_streams.h"
#include "apps/cli/commands.h"
#include "apps/compile/onnx_source.h"
#include "apps/page/page.h"
#include "pipeline/job/model_source.h"
#include "apps/bench/modelled_report.h"
#include "apps/devices/machine.h"
#include "engine/mona_ascend.h"
#include "apps/bench/report/pipeline_marks.h"
#include "pipeline/job/devices.h"

static int report_peak(unsigned threads, bool json)
{
    peak p;
    if (!peak_measure(threads, &p))
        return cli_fail(EXIT_FAILED, "the peak cannot be measured: no threads or memory left");
    if (json)
        printf("{\"threads\":%u,\"int8_gmac_per_s\":%.1f,\"fp16_gmac_per_s\":%.1f,"
               "\"fp32_gmac_per_s\":%.1f,\"copy_gb_per_s\":%.2f,\"cache_copy_gb_per_s\":%.2f}\n",
               threads, p.int8_gmac_per_s, p.fp16_gmac_per_s, p.fp32_gmac_per_s, p.copy_gb_per_s,
               p.cache_copy_gb_per_s);
    else
        printf("peak of %u thread%s: int8 %.0f GMAC/s (%s), fp16 and fp32 %.0f GMAC/s (%s), "
               "copy %.1f GB/s, in cache %.1f GB/s\n",
               threads, threads > 1 ? "s" : "", p.int8_gmac_per_s, p.int8_instruction,
               p.fp32_gmac_per_s, p.fp32_instruction, p.copy_gb_per_s, p.cache_copy_gb_per_s);
    return EXIT_SUCCESS;
}

/* Judges a result and prints it in the requested form. */
static int conclude(const bench_request *b, cJSON *result, void (*print)(const cJSON *))
{
    bool pass = true;
    bool done = verdict_reach(result, &b->rules, &pass);
    if (done && b->arguments.html)
        done = page_save(PAGE_BENCH, result, b->arguments.html);
    if (done && b->arguments.json)
        done = result_print_json(result);
    else if (done) {
        print(result);
        result_print_telemetry(result);
        result_print_warnings(result);
        verdict_print(result);
    }
    return done && pass ? EXIT_SUCCESS : EXIT_FAILED;
}

/* Of --device ascend; NULL: no trace is wanted. */
static bool save_steps(const bench_request *b, const cJSON *result)
{
    const cJSON *steps = chip_steps_of(result);
    return !b->arguments.trace ||
           (cJSON_HasObjectItem(steps, "timeline")
                ? pipeline_trace_save(steps, b->arguments.trace)
                : cli_fail(0, "--trace: the chip does not tell when its steps begin and end"));
}

/* The modelled chip runs programs of kernels, this machine their code. */
static bool open_model(model_source *source, const bench_request *b)
{
    const char *folder = b->arguments.kernels;
    if (!modelled_device(b->config.device) ? !kernels_load(folder) : !kernels_list(folder))
        return false;
    return kernels_model(source, b->arguments.model);
}

static int run_model(const bench_request *b)
{
    const char *name = b->arguments.model;
    const mona_size asked = b->arguments.computing.size;
    model_source source = {0};
    int status = EXIT_FAILED;
    if (!open_model(&source, b)) {
        model_source_close(&source);
        return status;
    }
    const mona_model *model = &source.model.model;
    const mona_tensor_info input = mona_model_input(model, 0);
    const bench_model_job job = {name,
                                 model,
                                 &b->config,
                                 &b->devices,
                                 b->how,
                                 b->rules.percentile,
                                 b->arguments.layers,
                                 b->arguments.advise};
    if (!input.array && !input.width && !b->arguments.computing.size.width) {
        model_source_close(&source);
        return cli_fail(EXIT_USAGE, "%s: the model takes frames of any size: expected --size WxH",
                        name);
    }
    if (b->arguments.capacity) {
        status = capacity_of_model(b, &job,
                                   asked.width ? asked : (mona_size){input.width, input.height});
    } else if (modelled_device(b->config.device)) {
        const modelled_options wanted = {b->arguments.json, b->arguments.advise, b->arguments.trace,
                                         &b->costs, &b->rules};
        status = modelled_bench(name, model, &b->config, &wanted) ? EXIT_SUCCESS : EXIT_FAILED;
    } else {
        const bool streams = b->streams.last;
        cJSON *result = streams ? bench_streams(&job, b->streams) : bench_model(&job);
        if (result && save_steps(b, result))
            status = conclude(b, result, streams ? bench_streams_print : bench_model_print);
        cJSON_Delete(result);
    }
    model_source_close(&source);
    return status;
}

static int run_om(const bench_request *b)
{
    const bench_arguments *a = &b->arguments;
    model_source source = {0};
    int status = EXIT_FAILED;
    if (options_model_om(&source, a->model, b->config.device)) {
        const bench_om_job job = {&source.model, b->config.device, b->config.sizes[0], b->how,
                                  b->rules.percentile};
        cJSON *result = bench_om(&job);
        if (result)
            status = conclude(b, result, bench_om_print);
        cJSON_Delete(result);
    }
    model_source_close(&source);
    return status;
}

#ifndef MONA_NO_VIDEO
/* One run of the pipeline: a result of bench_pipeline or bench_live. asked: of mona enhance; gate,
 * camera: as for bench_live. NULL, with a message. */
static cJSON *time_pipeline(const bench_request *b, const job *asked, double seconds,
                            live_gate *gate, unsigned camera)
{
    const bench_arguments *a = &b->arguments;
    job_run run = {.job = *asked, .delays = true};
    job *j = &run.job;
    j->max_delay = a->max_delay;
    j->stage.devices = b->devices;
    j->stage.or_host = devices_or_host(a->computing.device);
    j->stage.cpu = b->config.cpu;
    j->stage.threads = b->config.threads;
    j->stage.strip_rows = b->config.strip_rows;
    const bench_pipeline_job wanted = {
        .enhance = j,
        .size = bench_synthetic_size(a),
        .frames = a->iterations ? a->iterations
                  : seconds > 0 ? 0
                                : SAMPLING_ITERATIONS,
        .seconds = seconds,
        .layers = a->layers,
        .warm_up = b->how.warm_up,
        .fps = a->fps,
        .budget_ms = b->rules.budget_ms,
        .percentile = b->rules.percentile,
    };
    if (bench_is_synthetic(a))
        run.shown = wanted.size;
    pipeline_error error = {0};
    cJSON *result = NULL;
    if (!job_open(&run, 0, &error))
        cli_fail_of(&error);
    else if (gate || a->live)
        result = bench_live(&wanted, &b->pace, gate, camera);
    else
        result = bench_pipeline(&wanted);
    job_close(&run);
    return result;
}

static int run_pipeline(const bench_request *b)
{
    const bench_arguments *a = &b->arguments;
    pipeline_error error = {0};
    job j = a->job;
    j.input.path = a->pipeline;
    j.kernels = a->kernels;
    if (!bench_is_synthetic(a))
        j.size.size = a->computing.size;
    if (!job_complete(&j, &error))
        return cli_fail_of(&error);
    if (a->capacity)
        return capacity_of_pipeline(b, &j, time_pipeline);
    cJSON *result = time_pipeline(b, &j, b->how.seconds, NULL, 0);
    const bool traced = result && (!a->trace || pipeline_trace_save(result, a->trace));
    const int status = traced
                           ? conclude(b, result, a->live ? bench_live_print : bench_pipeline_print)
                           : EXIT_FAILED;
    cJSON_Delete(result);
    return status;
}
#endif

static int run_report(const bench_request *b)
{
    const mona_size given = b->arguments.computing.size;
    const mona_size size = given.width ? given : (mona_size){640, 360};
    sampling how = b->how;
    how.device = &mona_device_ascend;
    return chip_report(b->arguments.report, size, &how) ? EXIT_SUCCESS : EXIT_FAILED;
}

int bench_run(void *values, const command_line *line)
{
    bench_request *b = values;
    bench_arguments *a = &b->arguments;
    b->given = line->given;
    a->model = line->operands[0];
    if (!bench_options_read(b))
        return EXIT_USAGE;
    if (a->peak) {
        mona_device_properties properties;
        mona_device_query(b->config.device, &properties);
        return report_peak(b->config.threads ? b->config.threads : properties.cores, a->json);
    }
    if (a->report)
        return run_report(b);
#ifndef MONA_NO_VIDEO
    if (a->pipeline)
        return run_pipeline(b);
#endif
    if (!a->model && a->capacity)
        a->model = "sr_x2_fast";
    if (!a->model)
        return cli_fail(EXIT_USAGE, "usage: mona bench %s", command_bench.usage);
    return ends_in(a->model, ".om") ? run_om(b) : run_model(b);
}
