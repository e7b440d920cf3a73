// SPDX-License-Identifier: Apache-2.0
/* The options of mona bench. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "apps/bench/bench_streams.h"
#include "engine/model310/model310.h"
#include "mona.h"
#include "apps/cli/options.h"
#ifndef MONA_NO_VIDEO
#include "pipeline/job/job.h"
#endif
#include "apps/timing/sampling.h"
#include "apps/bench/report/bench_result.h"

typedef struct bench_arguments {
#ifndef MONA_NO_VIDEO
    job job; /* first: the fields of the job's rows are of it */
#endif
    const char *model, *trace, *costs, *kernels;
    option_computing computing;
    const char *pipeline, *streams, *report;
    const char *warm_up, *old, *regression, *html;
    const char *budget;
    double duration; /* seconds; 0: not given */
    long iterations;
    const char *jitter, *late, *burst;
    double fps, max_delay;
    bool json, peak, layers, advise, live, capacity;
} bench_arguments;

/* What a run is; the bits of its modes. Those that an option stands for are set whatever else is
 * given, so that what cannot be together is refused. */
enum {
    BENCH_MODEL = 1 << 0,
    BENCH_OM = 1 << 1,
    BENCH_STREAMS = 1 << 2,
    BENCH_PIPELINE = 1 << 3,
    BENCH_LIVE = 1 << 4,
    BENCH_REPORT = 1 << 5,
    BENCH_PEAK = 1 << 6,
    BENCH_MODEL310 = 1 << 7,
    BENCH_CHIP = 1 << 8,
    BENCH_CAPACITY = 1 << 9,
};

typedef struct bench_request {
    bench_arguments arguments; /* first: the fields of the command's rows are of it */
    option_set given;
    mona_config config;
    device_set devices;
    ac_costs costs; /* of model310 */
    stream_range streams;
    sampling how;
    verdict_rules rules;
    live_pace pace; /* of --live and --capacity */
} bench_request;

/* Frames of --pipeline that are generated, and their size. */
bool bench_is_synthetic(const bench_arguments *a);
mona_size bench_synthetic_size(const bench_arguments *a);

/* Fills the rest of the request from its arguments. False, with a message: they are invalid. */
bool bench_options_read(bench_request *b);

/* The command. Its row in the table of commands is in bench_options.c. */
int bench_run(void *values, const command_line *line);

#endif
