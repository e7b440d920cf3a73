// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/chip_report.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "apps/bench/bench_model.h"
#include "apps/bench/report/bench_result.h"
#include "apps/timing/sampling.h"
#include "apps/timing/statistics.h"
#include "apps/cli/options.h"
#include "engine/mona_ascend.h"
#include "apps/cli/json_output.h"

enum { STEPS = 3, WARM_UP = 8 };

static const char *const names[STEPS] = {[MONA_ASCEND_UPLOAD] = "upload",
                                         [MONA_ASCEND_RUN] = "run",
                                         [MONA_ASCEND_DOWNLOAD] = "download"};
static const char *const keys[STEPS] = {"upload_ms", "run_ms", "download_ms"};

typedef struct watched {
    pthread_mutex_t lock;
    samples begin[STEPS], end[STEPS];
} watched;

static void see(void *context, mona_ascend_step step, double begin, double end)
{
    watched *w = context;
    pthread_mutex_lock(&w->lock);
    samples_add(&w->begin[step], begin);
    samples_add(&w->end[step], end);
    pthread_mutex_unlock(&w->lock);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool watch_frames(watched *w, bench_transfer *t, unsigned frames, double *ms)
{
    if (!bench_transfer_run(t, WARM_UP))
        return false;
    const mona_status status = mona_ascend_watch(t->session->bound.device, see, w);
    const uint64_t begin = clock_ns();
    const bool ran = bench_transfer_run(t, frames);
    *ms = 1e-6 * (double)(clock_ns() - begin) / frames;
    mona_ascend_watch(t->session->bound.device, NULL, NULL);
    return ran && (!status || cli_fail(0, "%s", pipeline_reason(status)));
}

/* A frame may take several copies: they become one step. False: they are not as many for each. */
static bool join(watched *w, unsigned frames)
{
    for (unsigned step = 0; step < STEPS; step++) {
        samples *begin = &w->begin[step], *end = &w->end[step];
        const size_t each = begin->count / frames;
        if (!each || begin->count % frames || end->count != begin->count)
            return false;
        for (size_t i = 0; i < frames; i++) {
            begin->ms[i] = begin->ms[i * each];
            end->ms[i] = end->ms[(i + 1) * each - 1];
        }
        begin->count = end->count = frames;
    }
    return true;
}

/* ---- the result ------------------------------------------------------------------------------ */

static bool add_median(cJSON *chip, const watched *w, unsigned step)
{
    samples lengths = {0};
    bool good = true;
    for (size_t i = 0; i < w->begin[step].count && good; i++)
        good = samples_add(&lengths, w->end[step].ms[i] - w->begin[step].ms[i]);
    if (good)
        json_add_rounded(chip, keys[step], statistics_select(lengths.ms, lengths.count, 50));
    samples_free(&lengths);
    return good;
}

/* Steps of one kind do not overlap, so the parts that three have in common add up. */
static double together(const watched *w, unsigned frames)
{
    double sum = 0;
    for (unsigned u = 0; u < frames; u++)
        for (unsigned r = 0; r < frames; r++)
            for (unsigned d = 0; d < frames; d++) {
                const double begin =
                    fmax(w->begin[0].ms[u], fmax(w->begin[1].ms[r], w->begin[2].ms[d]));
                const double end = fmin(w->end[0].ms[u], fmin(w->end[1].ms[r], w->end[2].ms[d]));
                sum += fmax(0, end - begin);
            }
    const double whole = w->end[STEPS - 1].ms[frames - 1] - w->begin[0].ms[0];
    return whole > 0 ? sum / whole : 0;
}

static void add_timeline(cJSON *chip, const watched *w, unsigned frames)
{
    cJSON *steps = cJSON_AddArrayToObject(chip, "steps");
    cJSON *list = cJSON_AddArrayToObject(chip, "timeline");
    for (unsigned step = 0; step < STEPS; step++) {
        cJSON *o = json_add_object(steps);
        cJSON_AddStringToObject(o, "name", names[step]);
    }
    for (unsigned i = 0; i < frames; i++) {
        double row[1 + 2 * STEPS] = {w->begin[0].ms[i]};
        for (unsigned step = 0; step < STEPS; step++) {
            row[1 + 2 * step] = w->begin[step].ms[i];
            row[2 + 2 * step] = w->end[step].ms[i];
        }
        cJSON_AddItemToArray(list, cJSON_CreateDoubleArray(row, 1 + 2 * STEPS));
    }
}

static bool fill(cJSON *chip, watched *w, unsigned frames, double ms)
{
    bool good = true;
    if (join(w, frames)) {
        for (unsigned step = 0; step < STEPS && good; step++)
            good = add_median(chip, w, step);
        json_add_rounded(chip, "together", together(w, frames));
        add_timeline(chip, w, frames);
    }
    json_add_rounded(chip, "overlapped_ms", ms);
    return good;
}

bool chip_steps_add(cJSON *result, bench_session *session, const mona_model *model, unsigned frames)
{
    bench_transfer t;
    watched w = {.lock = PTHREAD_MUTEX_INITIALIZER};
    double ms;
    const bool good = bench_transfer_open(&t, session, model) &&
                      watch_frames(&w, &t, frames, &ms) &&
                      fill(cJSON_AddObjectToObject(result, "chip"), &w, frames, ms);
    bench_transfer_close(&t);
    for (unsigned step = 0; step < STEPS; step++) {
        samples_free(&w.begin[step]);
        samples_free(&w.end[step]);
    }
    return good;
}

const cJSON *chip_steps_of(const cJSON *result)
{
    return json_get(result, "chip");
}

void chip_steps_print(const cJSON *result)
{
    const cJSON *chip = chip_steps_of(result);
    if (!chip)
        return;
    const bool timed = cJSON_HasObjectItem(chip, "timeline");
    if (timed)
        printf("  steps      upload %.3f ms, run %.3f ms, download %.3f ms (medians, by the chip's "
               "clock)\n",
               json_number(chip, keys[0]), json_number(chip, keys[1]), json_number(chip, keys[2]));
    printf("  overlapped %.3f ms a frame", json_number(chip, "overlapped_ms"));
    if (timed)
        printf(", all three steps at once for %.0f %% of the time",
               100 * json_number(chip, "together"));
    putchar('\n');
}
