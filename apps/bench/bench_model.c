// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_model.h"

#include <math.h>
#include <stdio.h>

#include "apps/bench/modelled_report.h"
#include "apps/bench/chip_report.h"
#include "apps/bench/report/advice.h"
#include "apps/bench/report/bench_result.h"
#include "engine/model_format.h"
#include "apps/cli/options.h"
#include "apps/devices/machine.h"
#include "apps/cli/json_output.h"
#include "engine/op/op.h"

/* Whether most convolutions of a model are INT8. */
static bool mostly_int8(const mona_model *model)
{
    unsigned int8 = 0, fp16 = 0;
    for (uint32_t i = 0; i < model->header->op_count; i++)
        if (mona_ops[model->ops[i].kind]->has_filter)
            *(model->ops[i].conv.scales == MONA_NONE ? &fp16 : &int8) += 1;
    return int8 >= fp16;
}

static void add_work(cJSON *result, const bench_model_job *job, const mona_plan *plan)
{
    const double macs = (double)mona_plan_macs(plan);
    JSON_ADD(result, ROUNDED("gmac", macs * 1e-9),
             ROUNDED("gmac_per_s", macs / json_number(result, "p50_ms") * 1e-6),
             TEXT("precision", mostly_int8(job->model) ? "int8" : "fp16"));
}

static bool runs_here(const bench_model_job *job)
{
    return !job->config->device || job->config->device == &mona_device_host;
}

/* What this machine can do at most, which says nothing of a chip. */
static void add_peak(cJSON *result, const bench_model_job *job, const peak *limit)
{
    const bool int8 = mostly_int8(job->model);
    const double rate = json_number(result, "gmac_per_s");
    const double peak_rate = int8 ? limit->int8_gmac_per_s : limit->fp16_gmac_per_s;
    JSON_ADD(result, ROUNDED("peak_gmac_per_s", peak_rate),
             ROUNDED("peak_share", peak_rate > 0 ? rate / peak_rate : 0));
    if (peak_rate > 0 && rate > peak_rate)
        result_warn(result, "faster than the peak, which was measured while others used the CPUs");
    JSON_ADD(result, ROUNDED("memory_gb_per_s", 2 * limit->copy_gb_per_s),
             ROUNDED("cache_gb_per_s", 2 * limit->cache_copy_gb_per_s));
}

static bool fill(cJSON *result, const bench_model_job *job, bench_session *session,
                 const samples *s)
{
    enum { CHIP_FRAMES = 50 };
    const bool here = runs_here(job), layers = job->layers || (job->advise && here);
    const double resident = machine_peak_bytes(); /* before the peak's copies add to it */
    result_describe(result, "model", job->name, job->config->device, session->bound.plan);
    if (!result_add_samples(result, s, job->percentile))
        return false;
    peak limit = {0};
    add_work(result, job, session->bound.plan);
    if (here) {
        if (!peak_measure(mona_plan_threads(session->bound.plan), &limit) && layers)
            return cli_fail(0, "the peak cannot be measured: no threads or memory left");
        add_peak(result, job, &limit);
    }
    const double frames = 2000 / json_number(result, "p50_ms"); /* of a few seconds */
    if (layers && !bench_layers(result, session, &limit, (unsigned)fmax(2, fmin(frames, 200))))
        return false;
    if (device_is_ascend(job->config->device) &&
        !chip_steps_add(result, session, job->model, CHIP_FRAMES))
        return false;
    JSON_ADD(result, NUMBER("arena_bytes", mona_plan_arena_bytes(session->bound.plan)),
             NUMBER("rss_bytes", resident));
    result_add_crc(result, "model_crc32", job->model->header->crc32);
    result_add_crc(result, "input_crc32", bench_planes_input_crc(&session->planes));
    result_add_crc(result, "output_crc32", bench_planes_output_crc(&session->planes));
    cJSON_AddItemToObject(result, "provenance", provenance());
    return !job->advise || bench_advise(result, job, here ? &limit : NULL);
}

cJSON *bench_model(const bench_model_job *job)
{
    bench_session session = {0};
    samples s = {0};
    cJSON *result = NULL;
    if (bench_session_open(&session, job->name, job->model, job->config) &&
        bench_session_sample(&session, &job->how, &s)) {
        result = cJSON_CreateObject();
        result = result_if(result && fill(result, job, &session, &s), result);
    }
    samples_free(&s);
    bench_session_close(&session);
    return result;
}

void bench_model_print(const cJSON *result)
{
    const double threads = json_number(result, "threads");
    printf("%s at %.0fx%.0f, %s, %.0f thread%s\n", json_string(result, "model"),
           json_number(result, "width"), json_number(result, "height"), json_string(result, "isa"),
           threads, threads > 1 ? "s" : "");
    result_print_times(result);
    printf("  work       %.3f GMAC a frame, %.1f GMAC/s", json_number(result, "gmac"),
           json_number(result, "gmac_per_s"));
    if (json_get(result, "peak_share"))
        printf(", %.1f %% of this machine's %s peak of %.0f",
               100 * json_number(result, "peak_share"), json_string(result, "precision"),
               json_number(result, "peak_gmac_per_s"));
    putchar('\n');
    chip_steps_print(result);
    if (json_get(result, "advice"))
        advice_print(result);
    else
        bench_layers_print(result);
    printf("  memory     %.0f bytes of arena; process at most %.0f\n",
           json_number(result, "arena_bytes"), json_number(result, "rss_bytes"));
    printf("  output     CRC-32 %s\n", json_string(result, "output_crc32"));
}
