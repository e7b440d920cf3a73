// SPDX-License-Identifier: Apache-2.0
/* Benchmarks on the model of the Ascend 310. All figures are modelled; tall frames are sampled
 * (modelled.h). */
#include "apps/bench/modelled_bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/bench_session.h"
#include "apps/cli/json_output.h"
#include "engine/model_format.h"
#include "engine/model310/modelled.h"
#include "apps/cli/options.h"
#include "apps/bench/npu_trace.h"

/* One run, or an extrapolation from two: all its figures grow linearly with the rows. */
typedef struct sample {
    const ac_costs *costs;
    mona_model model; /* planned for this size */
    double cycles;    /* of the slowest core */
    double gm_read, gm_written;
    mona_modelled_op *ops; /* of that core */
    unsigned op_count, cores;
    uint64_t findings, instructions;
    ac_finding first[AC_MODEL_FINDINGS];
    uint32_t crc;
    size_t arena_bytes;
} sample;

bool modelled_device(const mona_device *device)
{
    mona_device_properties p;
    return device && mona_device_query(device, &p) == MONA_OK && strcmp(p.name, "model310") == 0;
}

static void collect(sample *s, const bench_session *run)
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
}

static bool make_room(sample *s, const mona_plan *plan)
{
    s->model = *mona_plan_model(plan);
    s->op_count = s->model.header->op_count;
    s->ops = calloc(s->op_count, sizeof *s->ops);
    return s->ops || !cli_fail(0, "out of memory");
}

/* rows: of the first input; 0: as configured. */
static bool take_sample(sample *s, const char *name, const mona_model *model, mona_config config,
                        uint32_t rows, npu_trace *t)
{
    bench_session run = {0};
    if (rows)
        config.sizes[0].height = rows;
    bool done = bench_session_open(&run, name, model, &config) && make_room(s, run.bound.plan);
    if (done && t)
        mona_session_observe(run.bound.session, npu_trace_record, t);
    if (done)
        mona_session_set_costs(run.bound.session, s->costs);
    done = done && bench_session_run(&run, name);
    if (done) {
        collect(s, &run);
        s->crc = bench_planes_output_crc(&run.planes);
        s->arena_bytes = mona_plan_arena_bytes(run.bound.plan);
    }
    bench_session_close(&run);
    return done;
}

/* Extrapolates *s to a frame of `rows` rows. */
static void extrapolate(sample *s, const sample *longer, uint32_t rows)
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

static ac_pipe busiest(const mona_modelled_op *op)
{
    ac_pipe longest = AC_PIPE_S;
    for (int p = 1; p < AC_PIPE_ALL; p++)
        longest = op->busy[p] > op->busy[longest] ? (ac_pipe)p : longest;
    return longest;
}

static double milliseconds(const sample *s, double cycles)
{
    return cycles / s->costs->clock_mhz * 1e-3;
}

/* The frame's cycles with the losses of published kernels. */
static double with_losses(const sample *s)
{
    double cycles = s->cycles;
    for (unsigned o = 0; o < s->op_count; o++)
        cycles += mona_modelled_with_losses(&s->ops[o], s->costs->serial_share) - s->ops[o].cycles;
    return cycles;
}

static void print_findings(const sample *s)
{
    const uint64_t shown = s->findings < AC_MODEL_FINDINGS ? s->findings : AC_MODEL_FINDINGS;
    for (uint64_t i = 0; i < shown; i++) {
        const ac_finding *f = &s->first[i];
        if (!f->kernel || !f->instruction)
            continue;
        fprintf(stderr, "mona: %s: %s, instruction %llu (%s), %s: found %lld, limit %lld",
                ac_finding_kind_name(f->kind), f->kernel, (unsigned long long)f->index,
                f->instruction, f->operand ? f->operand : "-", (long long)f->found,
                (long long)f->limit);
        if (f->other)
            fprintf(stderr, ", against instruction %llu (%s)", (unsigned long long)f->other_index,
                    f->other);
        fputc('\n', stderr);
    }
}

/* Operators without an AI Core program run on the chip's AI CPUs; their time is an estimate. */
static bool is_estimate(const mona_file_op *op)
{
    return op->kind >= MONA_OP_ARRAY_MAP && op->kind <= MONA_OP_ARRAY_GATHER;
}

static void print_text(const char *name, const sample *s, bool sampled)
{
    const mona_model *model = &s->model;
    printf("%s on an Ascend 310, modelled, %u core%s%s\n", name, s->cores, s->cores > 1 ? "s" : "",
           sampled ? ", sampled" : "");
    printf("  time        %.3f ms a frame, modelled, ideal (%.0f cycles)\n",
           milliseconds(s, s->cycles), s->cycles);
    printf("  with losses %.3f ms, if pipes wait for each other as in the vendor's published "
           "kernels\n",
           milliseconds(s, with_losses(s)));
    printf("  memory      %.2f MB read and %.2f MB written a frame, modelled\n", s->gm_read * 1e-6,
           s->gm_written * 1e-6);
    printf("  %-16s %9s  %5s %5s %5s %5s %5s  %s\n", "operator", "ms", "cube", "MTE1", "V", "MTE3",
           "S", "bound by (modelled)");
    double launch = s->cycles;
    for (unsigned o = 0; o < s->op_count; o++)
        launch -= s->ops[o].cycles;
    printf("  %-16s %9.4f\n", "launch", milliseconds(s, launch));
    for (unsigned o = 0; o < s->op_count; o++) {
        const mona_modelled_op *op = &s->ops[o];
        if (op->cycles <= 0)
            continue;
        const ac_pipe longest = busiest(op);
        const double percent = 100 / op->cycles;
        printf("  %-16s %9.4f  %4.0f%% %4.0f%% %4.0f%% %4.0f%% %4.0f%%  %s\n",
               model->strings + model->ops[o].name, milliseconds(s, op->cycles),
               op->busy[AC_PIPE_M] * percent, op->busy[AC_PIPE_MTE1] * percent,
               op->busy[AC_PIPE_V] * percent, op->busy[AC_PIPE_MTE3] * percent,
               op->busy[AC_PIPE_S] * percent,
               is_estimate(&model->ops[o]) ? "AI CPUs, an estimate" : ac_pipe_name(longest));
    }
    printf("  checks      %llu instructions run, %llu findings\n",
           (unsigned long long)s->instructions, (unsigned long long)s->findings);
    if (!sampled)
        printf("  output      CRC-32 %08x\n", s->crc);
}

static cJSON *json_op(const sample *s, unsigned index)
{
    cJSON *row = cJSON_CreateObject();
    const mona_modelled_op *op = &s->ops[index];
    const mona_file_op *file = &s->model.ops[index];
    cJSON_AddStringToObject(row, "name", s->model.strings + file->name);
    cJSON_AddNumberToObject(row, "ms", milliseconds(s, op->cycles));
    cJSON *busy = cJSON_AddObjectToObject(row, "busy");
    for (int p = 0; p < AC_PIPE_ALL; p++)
        cJSON_AddNumberToObject(busy, ac_pipe_name((ac_pipe)p), op->busy[p] / op->cycles);
    cJSON_AddStringToObject(row, "bound_by",
                            is_estimate(file) ? "AI CPUs" : ac_pipe_name(busiest(op)));
    return row;
}

static bool print_json(const char *name, const sample *s, bool sampled)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "model", name);
    cJSON_AddStringToObject(o, "device", "model310");
    cJSON_AddBoolToObject(o, "modelled", true);
    cJSON_AddBoolToObject(o, "sampled", sampled);
    cJSON_AddNumberToObject(o, "cores", s->cores);
    cJSON_AddNumberToObject(o, "modelled_ms", milliseconds(s, s->cycles));
    cJSON_AddNumberToObject(o, "modelled_ms_with_losses", milliseconds(s, with_losses(s)));
    cJSON_AddNumberToObject(o, "modelled_cycles", nearbyint(s->cycles));
    cJSON_AddNumberToObject(o, "modelled_gm_read", nearbyint(s->gm_read));
    cJSON_AddNumberToObject(o, "modelled_gm_written", nearbyint(s->gm_written));
    cJSON_AddNumberToObject(o, "instructions", (double)s->instructions);
    cJSON_AddNumberToObject(o, "findings", (double)s->findings);
    cJSON_AddNumberToObject(o, "arena_bytes", (double)s->arena_bytes);
    cJSON *ops = cJSON_AddArrayToObject(o, "operators");
    for (unsigned i = 0; i < s->op_count; i++)
        if (s->ops[i].cycles > 0)
            cJSON_AddItemToArray(ops, json_op(s, i));
    char crc[16];
    snprintf(crc, sizeof crc, "%08x", s->crc);
    if (!sampled)
        cJSON_AddStringToObject(o, "output_crc32", crc);
    const bool done = json_print_line(o) == EXIT_SUCCESS;
    cJSON_Delete(o);
    return done;
}

static bool write_trace(const npu_trace *t, const char *path, double clock_mhz)
{
    if (t->full)
        fprintf(stderr, "mona: the timeline holds the first %zu instructions\n", t->count);
    return npu_trace_write(t, path, clock_mhz) ||
           cli_fail(0, "%s: cannot be written: %s", path, strerror(errno));
}

bool modelled_bench(const char *name, const mona_model *model, const mona_config *config,
                    const modelled_options *options)
{
    const uint32_t rows = config->sizes[0].height;
    const bool sampled = !model->tensors[0].height && rows > MODELLED_LONG_ROWS;
    sample s = {.costs = options->costs}, longer = {.costs = options->costs};
    npu_trace t = {0};
    bool done = take_sample(&s, name, model, *config, sampled ? MODELLED_SHORT_ROWS : 0,
                            options->trace ? &t : NULL);
    if (done && sampled) {
        done = take_sample(&longer, name, model, *config, MODELLED_LONG_ROWS, NULL);
        if (done)
            extrapolate(&s, &longer, rows);
    }
    done = done && (!options->trace || write_trace(&t, options->trace, options->costs->clock_mhz));
    if (done) {
        if (options->json)
            done = print_json(name, &s, sampled);
        else
            print_text(name, &s, sampled);
        print_findings(&s);
        if (s.findings) {
            cli_fail(0, "%s: the checks found %llu faults", name, (unsigned long long)s.findings);
            done = false;
        }
    }
    free(s.ops), free(longer.ops);
    npu_trace_free(&t);
    return done;
}
