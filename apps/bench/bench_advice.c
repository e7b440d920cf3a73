// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/modelled_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/bench_streams.h"
#include "apps/bench/chip_report.h"
#include "apps/bench/report/advice.h"
#include "apps/timing/statistics.h"
#include "apps/cli/json_output.h"
#include "apps/cli/options.h"

enum {
    NARROW = 32, /* columns of a small map: two fractals of 16, or two vectors of a CPU */
    BESIDE = 4   /* at most so many parts are of no layer */
};

/* The share of the cores that -j leaves; a plan may use fewer, which no option changes. */
static double used_by(const mona_config *config)
{
    return config->threads ? fmin((double)config->threads / machine_cores(config->device), 1) : 1;
}

static bool make_room(advice_frame *f, unsigned layers)
{
    f->parts = calloc(layers + BESIDE, sizeof *f->parts);
    return f->parts || cli_fail(0, "out of memory");
}

static void add_beside(advice_frame *f, advice_unit unit, double ms, double left)
{
    advice_part *p = &f->parts[f->count];
    if (ms <= 0)
        return;
    *p = (advice_part){.ms = ms, .left = left};
    p->busy[unit] = ms;
    f->count++;
}

/* ---- modelled layers ------------------------------------------------------------------------- */

static void add_modelled(advice_frame *f, const modelled_sample *s, unsigned op,
                         double ms_per_cycle)
{
    const mona_modelled_op *m = &s->ops[op];
    const mona_op_info *info = &s->infos[op];
    advice_part *p = &f->parts[f->count];
    if (m->cycles <= 0)
        return;
    *p = (advice_part){
        .layer = s->model.strings + s->model.ops[op].name,
        .ms = m->cycles * ms_per_cycle,
        .fp16 = info->input == MONA_F16,
        .busy = {[ADVICE_COMPUTE] = m->busy[AC_PIPE_M],
                 [ADVICE_FEED] = m->busy[AC_PIPE_MTE1],
                 [ADVICE_VECTOR] = m->busy[AC_PIPE_V],
                 [ADVICE_SCALAR] = m->busy[AC_PIPE_S],
                 [ADVICE_MEMORY] = fmax(m->busy[AC_PIPE_MTE2], m->busy[AC_PIPE_MTE3])}};
    if (modelled_is_estimate(s, op))
        memset(p->busy, 0, sizeof p->busy), p->busy[ADVICE_ARRAYS] = m->cycles;
    else
        p->small = info->macs && info->columns <= NARROW;
    for (unsigned unit = 0; unit < ADVICE_UNITS; unit++)
        p->busy[unit] *= ms_per_cycle;
    f->count++;
}

/* Layers, launch and replay of a frame that takes `ms`, of which the model tells the shares. */
static void add_program(advice_frame *f, const modelled_sample *own, const modelled_sample *replay,
                        double ms)
{
    const double ms_per_cycle = ms / replay->cycles;
    double launch = own->cycles;
    for (unsigned op = 0; op < own->op_count; op++) {
        add_modelled(f, own, op, ms_per_cycle);
        launch -= own->ops[op].cycles;
    }
    add_beside(f, ADVICE_LAUNCH, launch * ms_per_cycle, 0);
    add_beside(f, ADVICE_KERNEL, (replay->cycles - own->cycles) * ms_per_cycle, 0);
}

typedef struct modelled_trial {
    const bench_model_job *job;
    const ac_costs *costs;
} modelled_trial;

static bool try_modelled(const void *context, advice_unit unit, advice_trial *trial)
{
    const modelled_trial *m = context;
    modelled_sample own = {.costs = *m->costs}, replay = own;
    mona_config config = *m->job->config;
    config.threads = 0;
    if (unit != ADVICE_THREADS)
        return true;
    const bool done = modelled_samples(&own, &replay, m->job->name, m->job->model, &config, NULL);
    *trial = (advice_trial){"all cores", modelled_ms(&replay, replay.cycles)};
    modelled_free(&own), modelled_free(&replay);
    return done;
}

bool bench_advise_modelled(cJSON *result, const bench_model_job *job, const modelled_sample *own,
                           const modelled_sample *replay)
{
    const modelled_trial m = {job, &own->costs};
    const double used = used_by(job->config);
    advice_frame f = {.how = "modelled, by the replay kernel",
                      .chip = true,
                      .ms = modelled_ms(replay, replay->cycles),
                      .used = used,
                      .int8 = 0.5,
                      .try = try_modelled,
                      .context = &m};
    if (!make_room(&f, own->op_count))
        return false;
    add_program(&f, own, replay, f.ms * used);
    add_beside(&f, ADVICE_THREADS, f.ms * (1 - used), 0);
    const bool done = advice_add(result, &f);
    free(f.parts);
    return done;
}

/* ---- the host -------------------------------------------------------------------------------- */

typedef struct host {
    const bench_model_job *job;
    unsigned cores;
} host;

/* A row of bench_layers: its roofs are the least that each unit takes. */
static void add_layer(advice_frame *f, const cJSON *row, const cJSON *result)
{
    const double ms = json_number(row, "ms");
    unsigned columns = 0;
    sscanf(json_string(row, "tile"), "%u", &columns);
    f->parts[f->count++] =
        (advice_part){.layer = json_string(row, "name"),
                      .ms = ms,
                      .fp16 = !strcmp(json_string(row, "precision"), "fp16"),
                      .small = json_number(row, "gmac") > 0 && columns <= NARROW,
                      .busy = {[ADVICE_COMPUTE] = ms * json_number(row, "peak_share"),
                               [ADVICE_FEED] = 1e-6 * json_number(row, "cache_bytes") /
                                               json_number(result, "cache_gb_per_s"),
                               [ADVICE_MEMORY] = 1e-6 * json_number(row, "memory_bytes") /
                                                 json_number(result, "memory_gb_per_s")}};
}

/* Times are those of the observed frames, scaled to the others'; of CPUs that are left alone
 * nothing is used. */
static void add_layers(advice_frame *f, const cJSON *result)
{
    const cJSON *row;
    double observed = 0, other = f->ms * f->used;
    cJSON_ArrayForEach(row, json_get(result, "layers")) observed += json_number(row, "ms");
    const double scale = other / observed;
    cJSON_ArrayForEach(row, json_get(result, "layers"))
    {
        if (!json_get(row, "bound"))
            continue;
        add_layer(f, row, result);
        advice_part *p = &f->parts[f->count - 1];
        p->ms *= scale;
        for (unsigned unit = 0; unit < ADVICE_UNITS; unit++)
            p->busy[unit] *= scale;
        other -= p->ms;
    }
    add_beside(f, ADVICE_LAUNCH, other, 0);
    add_beside(f, ADVICE_THREADS, f->ms * (1 - f->used), 0);
}

/* Half as long as a run by default: the median needs fewer frames than percentiles do. */
static const sampling shortly = {
    .warm_up = -1, .iterations = SAMPLING_ITERATIONS / 2, .seconds = SAMPLING_SECONDS / 2};

static bool try_threads(const bench_model_job *job, unsigned threads, double *ms)
{
    mona_config config = *job->config;
    bench_session session = {0};
    samples s = {0};
    config.threads = threads;
    const bool done = bench_session_open(&session, job->name, job->model, &config) &&
                      bench_session_sample(&session, &shortly, &s);
    if (done)
        *ms = statistics_select(s.ms, s.count, 50);
    samples_free(&s);
    bench_session_close(&session);
    return done;
}

/* Time of a frame where each of `streams` streams has one thread. */
static bool try_streams(const bench_model_job *job, unsigned streams, double *ms)
{
    mona_config config = *job->config;
    config.threads = 1;
    bench_model_job alone = *job;
    alone.config = &config;
    alone.how = shortly;
    cJSON *result = bench_streams(&alone, (stream_range){streams, streams});
    *ms = 1000 / json_number(result, "fps");
    cJSON_Delete(result);
    return result;
}

static bool try_host(const void *context, advice_unit unit, advice_trial *trial)
{
    const host *h = context;
    if (unit == ADVICE_THREADS) {
        trial->option = "all cores";
        return try_threads(h->job, h->cores, &trial->ms);
    }
    if (unit == ADVICE_LAUNCH && h->cores > 1) {
        trial->option = "as many streams as cores, -j 1 each";
        return try_streams(h->job, h->cores, &trial->ms);
    }
    return true;
}

static bool advise_host(cJSON *result, const bench_model_job *job, const peak *limit)
{
    host h = {job, machine_cores(job->config->device)};
    advice_frame f = {.how = "measured",
                      .ms = json_number(result, "p50_ms"),
                      .used = used_by(job->config),
                      .int8 = limit->fp16_gmac_per_s / limit->int8_gmac_per_s,
                      .try = try_host,
                      .context = &h};
    if (!make_room(&f, (unsigned)cJSON_GetArraySize(json_get(result, "layers"))))
        return false;
    add_layers(&f, result);
    const bool done = advice_add(result, &f);
    free(f.parts);
    return done;
}

/* ---- the chip -------------------------------------------------------------------------------- */

static bool try_chip(const void *context, advice_unit unit, advice_trial *trial)
{
    const cJSON *chip = context;
    if (unit == ADVICE_TRANSFER)
        *trial = (advice_trial){"two frames in flight", json_number(chip, "overlapped_ms")};
    return true;
}

/* Its clock tells the three steps of a frame, and the model what the run consists of. */
static bool advise_chip(cJSON *result, const bench_model_job *job)
{
    const cJSON *chip = chip_steps_of(result);
    const double up = json_number(chip, "upload_ms"), down = json_number(chip, "download_ms"),
                 run = json_number(chip, "run_ms"),
                 ms = fmax(json_number(result, "p50_ms"), up + run + down);
    advice_frame f = {.how = "measured; what the run consists of is modelled, by the replay kernel",
                      .chip = true,
                      .ms = ms,
                      .used = 1,
                      .int8 = 0.5,
                      .try = try_chip,
                      .context = chip};
    modelled_sample own = {.costs = ac_costs_310}, replay = own;
    mona_config config = *job->config;
    config.device = &mona_device_model310;
    bool done = modelled_samples(&own, &replay, job->name, job->model, &config, NULL) &&
                make_room(&f, own.op_count);
    if (done) {
        add_program(&f, &own, &replay, run > 0 ? run : ms);
        add_beside(&f, ADVICE_TRANSFER, up + down, fmax(fmax(up, down) - run, 0));
        add_beside(&f, ADVICE_LAUNCH, run > 0 ? ms - up - down - run : 0, 0);
        done = advice_add(result, &f);
    }
    free(f.parts);
    modelled_free(&own), modelled_free(&replay);
    return done;
}

bool bench_advise(cJSON *result, const bench_model_job *job, const peak *limit)
{
    return limit ? advise_host(result, job, limit) : advise_chip(result, job);
}
