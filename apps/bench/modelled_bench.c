// SPDX-License-Identifier: Apache-2.0
/* Benchmarks on the model of the Ascend 310. All figures are modelled; tall frames are sampled
 * (modelled.h). */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/bench_model.h"
#include "apps/bench/modelled_report.h"
#include "apps/cli/options.h"
#include "formats/compiler/program/programs.h"

bool modelled_device(const mona_device *device)
{
    mona_device_properties p;
    return device && mona_device_query(device, &p) == MONA_OK && strcmp(p.name, "model310") == 0;
}

static void collect(modelled_sample *s, const bench_session *run)
{
    unsigned slowest = 0;
    s->cores = mona_plan_threads(run->bound.plan);
    for (unsigned core = 0; core < s->cores; core++) {
        const ac_model_report *r = mona_session_modelled(run->bound.session, core);
        s->gm_read += (double)r->gm_read;
        s->gm_written += (double)r->gm_written;
        s->instructions += r->instructions;
        if (r->finding_count && !s->findings)
            memcpy(s->first, r->findings, sizeof s->first);
        s->findings += r->finding_count;
        if (r->cycles > s->cycles) {
            s->cycles = r->cycles;
            slowest = core;
        }
    }
    for (unsigned o = 0; o < s->op_count; o++)
        s->ops[o] = *mona_session_modelled_op(run->bound.session, slowest, o);
    for (unsigned o = 0; o < s->op_count; o++)
        mona_plan_op_at(run->bound.plan, o, &s->infos[o]);
}

static bool make_room(modelled_sample *s, const mona_plan *plan)
{
    s->model = *mona_plan_model(plan);
    s->op_count = s->model.header->op_count;
    s->ops = calloc(s->op_count, sizeof *s->ops);
    s->infos = calloc(s->op_count, sizeof *s->infos);
    return (s->ops && s->infos) || cli_fail(0, "out of memory");
}

/* rows: of the first input; 0: as configured. */
static bool take_sample(modelled_sample *s, const char *name, const mona_model *model,
                        mona_config config, uint32_t rows, npu_trace *t)
{
    bench_session run = {0};
    if (rows)
        config.sizes[0].height = rows;
    bool done = bench_session_open(&run, name, model, &config) && make_room(s, run.bound.plan);
    if (done)
        mona_session_set_model(run.bound.session, &s->costs, t ? npu_trace_record : NULL, t);
    done = done && bench_session_run(&run);
    if (done) {
        collect(s, &run);
        s->crc = bench_planes_output_crc(&run.planes);
        s->arena_bytes = mona_plan_arena_bytes(run.bound.plan);
    }
    bench_session_close(&run);
    return done;
}

/* Extrapolates *s to a frame of `rows` rows. */
static void extrapolate(modelled_sample *s, const modelled_sample *longer, uint32_t rows)
{
    s->cycles = modelled_grown(s->cycles, longer->cycles, rows);
    s->gm_read = modelled_grown(s->gm_read, longer->gm_read, rows);
    s->gm_written = modelled_grown(s->gm_written, longer->gm_written, rows);
    s->findings += longer->findings;
    for (unsigned o = 0; o < s->op_count; o++) {
        mona_modelled_op *a = &s->ops[o];
        const mona_modelled_op *b = &longer->ops[o];
        a->cycles = modelled_grown(a->cycles, b->cycles, rows);
        a->cube_useful = modelled_grown(a->cube_useful, b->cube_useful, rows);
        for (int p = 0; p < AC_PIPE_ALL; p++)
            a->busy[p] = modelled_grown(a->busy[p], b->busy[p], rows);
    }
}

static bool write_trace(const npu_trace *t, const char *path, double clock_mhz)
{
    if (t->full)
        fprintf(stderr, "mona: the timeline holds the first %zu instructions\n", t->count);
    return npu_trace_write(t, path, clock_mhz) ||
           cli_fail(0, "%s: cannot be written: %s", path, strerror(errno));
}

/* Tall frames from two short ones. */
static bool measure(modelled_sample *s, const char *name, const mona_model *model,
                    const mona_config *config, bool sampled, npu_trace *t)
{
    modelled_sample longer = {.costs = s->costs};
    bool done = take_sample(s, name, model, *config, sampled ? MODELLED_SHORT_ROWS : 0, t) &&
                (!sampled || take_sample(&longer, name, model, *config, MODELLED_LONG_ROWS, NULL));
    if (done && sampled)
        extrapolate(s, &longer, config->sizes[0].height);
    modelled_free(&longer);
    return done;
}

/* Plans the frame that was asked for, before short ones stand for it. Where that needs a program,
 * the model is replaced by one that has it, *bytes; *bytes NULL: it does not. */
static bool prepare(mona_model *model, const char *name, const mona_config *config, uint8_t **bytes)
{
    const mona_tensor_info input = mona_model_input(model, 0);
    const mona_size asked = config->sizes[0];
    const mona_size size = asked.width ? asked : (mona_size){input.width, input.height};
    pipeline_error error = {0};
    format_error why = {0};
    session_binding bound;
    size_t count;
    *bytes = NULL;
    const bool planned = session_binding_plan(&bound, model, name, 8, config, &error);
    session_binding_close(&bound);
    if (planned)
        return true;
    const mona_guard guard = {.kernels = model->kernels};
    if (program_add(model, size, bytes, &count, &why) &&
        !mona_model_open_guarded(model, *bytes, count, &guard))
        return true;
    return !cli_fail_of(&error);
}

bool modelled_samples(modelled_sample *own, modelled_sample *replay, const char *name,
                      const mona_model *model, const mona_config *config, npu_trace *t)
{
    mona_model planned = *model;
    replay->costs.operands = own->costs.replay;
    own->sampled = !model->tensors[0].height && config->sizes[0].height > MODELLED_LONG_ROWS;
    return prepare(&planned, name, config, &own->file) &&
           measure(own, name, &planned, config, own->sampled, t) &&
           measure(replay, name, &planned, config, own->sampled, NULL);
}

void modelled_free(modelled_sample *s)
{
    free(s->ops);
    free(s->infos);
    free(s->file);
}

bool modelled_bench(const char *name, const mona_model *model, const mona_config *config,
                    const modelled_options *options)
{
    modelled_sample own = {.costs = *options->costs}, replay = own;
    const bench_model_job job = {.name = name, .model = model, .config = config};
    npu_trace t = {0};
    const bool done =
        modelled_samples(&own, &replay, name, model, config, options->trace ? &t : NULL) &&
        (!options->trace || write_trace(&t, options->trace, own.costs.clock_mhz)) &&
        modelled_report(&job, &own, &replay, options);
    modelled_free(&own), modelled_free(&replay);
    npu_trace_free(&t);
    return done;
}

bool modelled_frame_ms(double *ms, const char *name, const mona_model *model,
                       const mona_config *config, const ac_costs *costs)
{
    modelled_sample own = {.costs = *costs}, replay = own;
    bool done = modelled_samples(&own, &replay, name, model, config, NULL);
    if (done && own.findings)
        done =
            cli_fail(0, "%s: the checks found faults, which --device model310 alone lists", name);
    if (done)
        *ms = modelled_longest_ms(&own, &replay);
    modelled_free(&own), modelled_free(&replay);
    return done;
}
