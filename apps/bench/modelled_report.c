// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/modelled_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/report/advice.h"
#include "apps/cli/json_output.h"
#include "apps/cli/table.h"
#include "apps/cli/options.h"
#include "engine/model_format.h"
#include "apps/cli/printable.h"

static ac_pipe busiest(const mona_modelled_op *op)
{
    ac_pipe longest = AC_PIPE_S;
    for (int p = 1; p < AC_PIPE_ALL; p++)
        longest = op->busy[p] > op->busy[longest] ? (ac_pipe)p : longest;
    return longest;
}

/* The frame's cycles with the losses of published kernels. */
static double with_losses(const modelled_sample *s)
{
    double cycles = s->cycles;
    for (unsigned o = 0; o < s->op_count; o++)
        cycles += mona_modelled_with_losses(&s->ops[o], s->costs.serial_share) - s->ops[o].cycles;
    return cycles;
}

double modelled_longest_ms(const modelled_sample *own, const modelled_sample *replay)
{
    return modelled_ms(own, fmax(with_losses(own), replay->cycles));
}

static void print_findings(const modelled_sample *s)
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

static void print_times(const char *name, const modelled_sample *s, const modelled_sample *replay)
{
    printable_print(stdout, "%s on an Ascend 310, modelled, %u core%s%s", name, s->cores,
                    s->cores > 1 ? "s" : "", s->sampled ? ", sampled" : "");
    putchar('\n');
    printf("  time        %.3f ms a frame, modelled, ideal (%.0f cycles)\n",
           modelled_ms(s, s->cycles), s->cycles);
    printf("  with losses %.3f ms, if pipes wait for each other as in the vendor's published "
           "kernels\n",
           modelled_ms(s, with_losses(s)));
    printf(
        "  replay      %.3f ms, modelled, ideal, by the replay kernel; the others are of a kernel "
        "of its own\n",
        modelled_ms(s, replay->cycles));
    printf("  memory      %.2f MB read and %.2f MB written a frame, modelled\n", s->gm_read * 1e-6,
           s->gm_written * 1e-6);
}

static void print_operators(const modelled_sample *s)
{
    const mona_model *model = &s->model;
    printf("  %-16s %9s  %5s %5s %5s %5s %5s  %s\n", "operator", "ms", "cube", "MTE1", "V", "MTE3",
           "S", "bound by (modelled)");
    double launch = s->cycles;
    char text[256];
    for (unsigned o = 0; o < s->op_count; o++)
        launch -= s->ops[o].cycles;
    printf("  %-16s %9.4f\n", "launch", modelled_ms(s, launch));
    for (unsigned o = 0; o < s->op_count; o++) {
        const mona_modelled_op *op = &s->ops[o];
        if (op->cycles <= 0)
            continue;
        const ac_pipe longest = busiest(op);
        const double percent = 100 / op->cycles;
        char op_name[192];
        printable(op_name, sizeof op_name, model->strings + model->ops[o].name);
        const int columns = table_columns(op_name);
        printf("  %s %9.4f  %4.0f%% %4.0f%% %4.0f%% %4.0f%% %4.0f%%  %s\n",
               table_pad(text, sizeof text, op_name, columns > 16 ? columns : 16),
               modelled_ms(s, op->cycles), op->busy[AC_PIPE_M] * percent,
               op->busy[AC_PIPE_MTE1] * percent, op->busy[AC_PIPE_V] * percent,
               op->busy[AC_PIPE_MTE3] * percent, op->busy[AC_PIPE_S] * percent,
               modelled_is_estimate(s, o) ? "AI CPUs, an estimate" : ac_pipe_name(longest));
    }
}

static void print_checks(const modelled_sample *s)
{
    printf("  checks      %llu instructions run, %llu findings\n",
           (unsigned long long)s->instructions, (unsigned long long)s->findings);
    if (!s->sampled)
        printf("  output      CRC-32 %08x\n", s->crc);
}

static cJSON *json_op(const modelled_sample *s, unsigned index)
{
    cJSON *row = cJSON_CreateObject();
    const mona_modelled_op *op = &s->ops[index];
    const mona_file_op *file = &s->model.ops[index];
    JSON_ADD(row, TEXT("name", s->model.strings + file->name),
             NUMBER("ms", modelled_ms(s, op->cycles)));
    cJSON *busy = cJSON_AddObjectToObject(row, "busy");
    for (int p = 0; p < AC_PIPE_ALL; p++)
        cJSON_AddNumberToObject(busy, ac_pipe_name((ac_pipe)p), op->busy[p] / op->cycles);
    cJSON_AddStringToObject(row, "bound_by",
                            modelled_is_estimate(s, index) ? "AI CPUs" : ac_pipe_name(busiest(op)));
    return row;
}

static bool print_json(const char *name, const modelled_sample *s, const modelled_sample *replay,
                       cJSON *o)
{
    JSON_ADD(o, TEXT("model", name), TEXT("device", "model310"), TRUTH("modelled", true),
             TRUTH("sampled", s->sampled), NUMBER("cores", s->cores),
             NUMBER("modelled_ms", modelled_ms(s, s->cycles)),
             NUMBER("modelled_ms_with_losses", modelled_ms(s, with_losses(s))),
             NUMBER("modelled_ms_replayed", modelled_ms(s, replay->cycles)),
             NUMBER("modelled_cycles", nearbyint(s->cycles)),
             NUMBER("modelled_gm_read", nearbyint(s->gm_read)),
             NUMBER("modelled_gm_written", nearbyint(s->gm_written)),
             NUMBER("instructions", s->instructions), NUMBER("findings", s->findings),
             NUMBER("arena_bytes", s->arena_bytes));
    cJSON *ops = cJSON_AddArrayToObject(o, "operators");
    for (unsigned i = 0; i < s->op_count; i++)
        if (s->ops[i].cycles > 0)
            cJSON_AddItemToArray(ops, json_op(s, i));
    char crc[16];
    snprintf(crc, sizeof crc, "%08x", s->crc);
    if (!s->sampled)
        cJSON_AddStringToObject(o, "output_crc32", crc);
    return json_print_line(o) == EXIT_SUCCESS;
}

bool modelled_report(const bench_model_job *job, const modelled_sample *s,
                     const modelled_sample *replay, const modelled_options *options)
{
    cJSON *o = cJSON_CreateObject();
    bool done = verdict_modelled(o, options->rules, modelled_longest_ms(s, replay));
    if (options->advise && !bench_advise_modelled(o, job, s, replay)) {
        done = false;
    } else if (options->json) {
        done = print_json(job->name, s, replay, o) && done;
    } else {
        print_times(job->name, s, replay);
        if (options->advise)
            advice_print(o);
        else
            print_operators(s);
        print_checks(s);
        verdict_print(o);
    }
    cJSON_Delete(o);
    print_findings(s);
    return s->findings ? cli_fail(0, "%s: the checks found %llu fault%s", job->name,
                                  (unsigned long long)s->findings, s->findings == 1 ? "" : "s")
                       : done;
}
