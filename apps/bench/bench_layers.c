// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/report/bench_result.h"
#include "apps/bench/report/layer_log.h"
#include "apps/devices/machine.h"
#include "apps/cli/options.h"
#include "apps/timing/statistics.h"
#include "apps/cli/json_output.h"
#include "pipeline/base/clock.h"

/* Processor time of all threads, which other programs do not affect. */
static uint64_t worked_ns(void)
{
    return clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Runs a frame. *ticks: its time; *worked: processor time. */
static bool timed_frame(bench_session *session, const mona_op_observer *observer, double *ticks,
                        double *worked)
{
    mona_session_observe_ops(session->bound.session, observer);
    const uint64_t start = machine_ticks(), work = worked_ns();
    const bool done = bench_session_run(session);
    *worked = (double)(worked_ns() - work);
    *ticks = (double)(machine_ticks() - start);
    return done;
}

/* Runs observed and plain frames alternately, with a changing order. *observed_ticks: the time of
 * all observed frames. *cost: the extra processor time of the cheapest tenth of observed frames
 * over the cheapest tenth of plain ones, since hardly anything but observing affects these. */
static bool run_pairs(const layer_log *l, bench_session *session, unsigned frames,
                      double *observed_ticks, double *cost)
{
    double *plain = malloc(2 * (size_t)frames * sizeof *plain);
    if (!plain)
        return cli_fail(0, "out of memory");
    double *observed = plain + frames;
    bool done = true;
    *observed_ticks = 0;
    for (unsigned i = 0; i < 2 * frames && done; i++) {
        const bool watched = (i & 1) == (i >> 1 & 1);
        double ticks;
        done = timed_frame(session, watched ? &l->observer : NULL, &ticks,
                           &(watched ? observed : plain)[i / 2]);
        *observed_ticks += watched ? ticks : 0;
    }
    if (done)
        *cost = statistics_select(observed, frames, 10) / statistics_select(plain, frames, 10) - 1;
    mona_session_observe_ops(session->bound.session, NULL);
    free(plain);
    return done;
}

bool bench_layers(cJSON *result, bench_session *session, const peak *limit, unsigned frames)
{
    layer_log l;
    double observed = 0, cost = 0;
    const uint64_t ticks = machine_ticks();
    const double start = machine_clock_ms();
    const bool done =
        layer_log_open(&l, session->bound.plan) && run_pairs(&l, session, frames, &observed, &cost);
    if (done) {
        const double rate = (machine_clock_ms() - start) / (double)(machine_ticks() - ticks);
        const double frame_ms = observed * rate / frames;
        cJSON *rows = cJSON_AddArrayToObject(result, "layers");
        layer_log_add_other(rows, layer_log_add(rows, &l, limit, rate / frames, 1, frame_ms, NULL),
                            frame_ms, NULL);
        json_add_rounded(result, "observing", cost);
    }
    layer_log_close(&l);
    return done;
}

void bench_layers_print(const cJSON *result)
{
    const cJSON *list = json_get(result, "layers");
    if (!list)
        return;
    layer_log_print(list);
    if (json_get(result, "observing"))
        printf("  observing  %+.2f %% more processor time\n",
               100 * json_number(result, "observing"));
}
