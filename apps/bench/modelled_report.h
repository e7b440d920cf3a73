// SPDX-License-Identifier: Apache-2.0
#ifndef MODELLED_REPORT_H
#define MODELLED_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/bench/bench_model.h"
#include "engine/model310/model310.h"
#include "engine/model310/modelled.h"
#include "engine/op/op.h"
#include "mona.h"
#include "apps/bench/report/bench_result.h"
#include "apps/devices/machine.h"

/* mona bench --device model310: a frame's modelled time, where it goes, and what the checks found.
 */

typedef struct modelled_options {
    bool json, advise;
    const char *trace; /* a file to write, or NULL */
    const ac_costs *costs;
    const verdict_rules *rules; /* of which only the budget counts */
} modelled_options;

bool modelled_device(const mona_device *device);

/* Prints the report. False: the budget is not kept; or, with a message, it could not run, or a
 * check found something. */
bool modelled_bench(const char *name, const mona_model *model, const mona_config *config,
                    const modelled_options *options);

/* The longest of a frame's modelled times. False, with a message. */
bool modelled_frame_ms(double *ms, const char *name, const mona_model *model,
                       const mona_config *config, const ac_costs *costs);

/* Constants of model310's time in a file: an object of JSON with a number for each that differs. */

/* Replaces those of *costs that the file names. False, with a message: it cannot be read. */
bool costs_read(const char *path, ac_costs *costs);

/* The activity of model310's pipes over time: recorded from a session, written as a trace. All of
 * it is modelled. */

typedef struct npu_trace {
    ac_model_event *events;
    size_t count, room;
    bool full; /* events were left out: out of memory, or more than a trace viewer can show */
} npu_trace;

/* For mona_session_set_model; the observer is a zeroed timeline. */
void npu_trace_record(void *trace, const ac_model_event *event);
void npu_trace_free(npu_trace *t);

/* Chrome trace format, which Perfetto and chrome://tracing open: a process for each core, a thread
 * for each pipe, an arrow from every set_flag to its wait_flag. False: not written, errno says why.
 */
bool npu_trace_write(const npu_trace *t, const char *path, double clock_mhz);

/* One run, or an extrapolation from two: all its figures grow linearly with the rows. */
typedef struct modelled_sample {
    ac_costs costs;
    mona_model model; /* planned for this size */
    uint8_t *file;    /* that it lies in, where it needed a program of its own */
    bool sampled;     /* extrapolated */
    double cycles;    /* of the slowest core */
    double gm_read, gm_written;
    mona_modelled_op *ops; /* of that core */
    mona_op_info *infos;   /* of each, likewise */
    unsigned op_count, cores;
    uint64_t findings, instructions;
    ac_finding first[AC_MODEL_FINDINGS];
    uint32_t crc;
    size_t arena_bytes;
} modelled_sample;

static inline double modelled_ms(const modelled_sample *s, double cycles)
{
    return cycles / s->costs.clock_mhz * 1e-3;
}

/* Operators on arrays run on the chip's AI CPUs, and their time is an estimate, but for kernels of
 * an application that are programs of the vector unit. */
static inline bool modelled_is_estimate(const modelled_sample *s, unsigned op)
{
    return mona_ops[s->model.ops[op].kind]->run->array && s->ops[op].busy[AC_PIPE_V] <= 0;
}

/* Fills *own and *replay, which hold the costs of model310, with a frame by a kernel of its own and
 * by the replay kernel, and *t with the first, if it is not NULL. Free both in any case. False,
 * with a message. */
bool modelled_samples(modelled_sample *own, modelled_sample *replay, const char *name,
                      const mona_model *model, const mona_config *config, npu_trace *t);
void modelled_free(modelled_sample *s);

/* The longest of a frame's times: that with losses, or that by the replay kernel. */
double modelled_longest_ms(const modelled_sample *own, const modelled_sample *replay);

/* Prints it, as text or JSON, and whether the longest of its times keeps the budget, if rules
 * have one. replay: the same by the replay kernel. False: it does not; or, with a message, a check
 * found something, or printing failed. */
bool modelled_report(const bench_model_job *job, const modelled_sample *sample,
                     const modelled_sample *replay, const modelled_options *options);

/* The parts of a frame on each device for mona bench --advise, and the trials of its advice. */

/* Of a model on model310: own, by a kernel of its own; replay, by the replay kernel, which runs
 * unless somebody compiles one. False, with a message. */
bool bench_advise_modelled(cJSON *result, const bench_model_job *job, const modelled_sample *own,
                           const modelled_sample *replay);

/* Of a result of bench_model, which on the host has "layers", with these limits. limit NULL: on the
 * chip, where the result has "chip" and the model stands for layers. */
bool bench_advise(cJSON *result, const bench_model_job *job, const peak *limit);

#endif
