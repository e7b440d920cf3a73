/* The roofline (Williams, Waterman and Patterson 2009) with two slopes. An operator takes no less
 * than each of
 *
 *     macs / peak               "compute"
 *     plane bytes / memory's    "memory": bytes of frames, and of maps between groups
 *     ring bytes / cache's      "cache": bytes of rows that stay in a core's cache
 *
 * the largest of which says what limits it; that one over the time it took is its share of the
 * roof. Bandwidths are those of copies, which read as many bytes as they write: twice the bytes
 * copied. Weights stay in the cache and are left out. */
#include "bench_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_result.h"
#include "machine.h"
#include "options.h"
#include "statistics.h"

typedef struct tally {
    uint64_t ticks, rows;
} tally;

/* One row of tallies for each core, so that cores write to no line of memory together but at its
 * ends. */
typedef struct layers {
    tally *tallies; /* [core * stride + op] */
    unsigned stride, cores, ops;
} layers;

static uint64_t now(void *context)
{
    (void)context;
    return machine_ticks();
}

static void add(void *context, const mona_op_event *event)
{
    const layers *l = context;
    tally *t = &l->tallies[event->core * l->stride + event->op];
    t->ticks += event->end - event->begin;
    t->rows += event->rows;
}

/* Processor time of all threads, which others' work does not lengthen. */
static uint64_t worked_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Runs a frame; *ticks it took, *worked: processor time. */
static bool timed_frame(bench_session *session, const char *name, const mona_op_observer *observer,
                        double *ticks, double *worked)
{
    mona_session_observe_ops(session->session, observer);
    const uint64_t start = machine_ticks(), work = worked_ns();
    const bool done = bench_session_run(session, name);
    *worked = (double)(worked_ns() - work);
    *ticks = (double)(machine_ticks() - start);
    return done;
}

/* Observed and plain frames in turns, first the one and then the other first. *observed_ticks: of
 * all observed frames together; *cost: by how much more processor time the cheapest tenth of them
 * takes than that of the plain ones, which is what hardly anything but the observing can make of
 * it. */
static bool run_pairs(layers *l, bench_session *session, const char *name, unsigned frames,
                      double *observed_ticks, double *cost)
{
    const mona_op_observer observer = {now, add, l};
    double *plain = malloc(2 * (size_t)frames * sizeof *plain);
    if (!plain)
        return cli_fail(0, "out of memory");
    double *observed = plain + frames;
    bool done = true;
    *observed_ticks = 0;
    for (unsigned i = 0; i < 2 * frames && done; i++) {
        const bool watched = (i & 1) == (i >> 1 & 1);
        double ticks;
        done = timed_frame(session, name, watched ? &observer : NULL, &ticks,
                           &(watched ? observed : plain)[i / 2]);
        *observed_ticks += watched ? ticks : 0;
    }
    if (done)
        *cost = statistics_select(observed, frames, 10) / statistics_select(plain, frames, 10) - 1;
    mona_session_observe_ops(session->session, NULL);
    free(plain);
    return done;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static void add_roof(cJSON *row, const mona_op_info *info, const peak *limit, double ms)
{
    static const char *const names[] = {"compute", "cache", "memory"};
    const bool int8 = info->input != MONA_F16;
    const double most = int8 ? limit->int8_gmac_per_s : limit->fp16_gmac_per_s;
    const double least[] = {1e-6 * (double)info->macs / most,
                            1e-6 * (double)info->ring_bytes / (2 * limit->cache_copy_gb_per_s),
                            1e-6 * (double)info->plane_bytes / (2 * limit->copy_gb_per_s)};
    unsigned bound = 0;
    for (unsigned i = 1; i < 3; i++)
        bound = least[i] > least[bound] ? i : bound;
    result_add_number(row, "gmac", 1e-9 * (double)info->macs);
    result_add_number(row, "gmac_per_s", 1e-6 * (double)info->macs / ms);
    result_add_number(row, "peak_share", 1e-6 * (double)info->macs / ms / most);
    cJSON_AddStringToObject(row, "bound", names[bound]);
    result_add_number(row, "roof_share", least[bound] / ms);
}

/* Precision of the arithmetic, which the operands' types decide. */
static const char *precision(const mona_op_info *info)
{
    return info->input == MONA_F16 || info->output == MONA_F16 ? "fp16" : "int8";
}

static cJSON *make_row(const mona_op_info *info, double ms, double frame_ms)
{
    char tile[32];
    cJSON *row = cJSON_CreateObject();
    snprintf(tile, sizeof tile, "%ux%u", info->columns, info->rows);
    cJSON_AddStringToObject(row, "name", info->name);
    cJSON_AddStringToObject(row, "kind", info->kind);
    cJSON_AddStringToObject(row, "precision", precision(info));
    cJSON_AddStringToObject(row, "tile", tile);
    result_add_number(row, "ms", ms);
    result_add_number(row, "share", ms / frame_ms);
    cJSON_AddNumberToObject(row, "memory_bytes", (double)info->plane_bytes);
    cJSON_AddNumberToObject(row, "cache_bytes", (double)info->ring_bytes);
    cJSON_AddNumberToObject(row, "constant_bytes", (double)info->constant_bytes);
    return row;
}

/* Ticks of an operator, as if its cores had worked one after another, over their number: what it
 * added to the frame's time if they always worked together. */
static double ticks_of(const layers *l, unsigned op)
{
    double ticks = 0;
    for (unsigned core = 0; core < l->cores; core++)
        ticks += (double)l->tallies[core * l->stride + op].ticks;
    return ticks / l->cores;
}

static void add_rows(cJSON *list, const layers *l, const bench_session *session, const peak *limit,
                     double frame_ms, double ms_per_tick)
{
    double sum = 0;
    mona_op_info info;
    for (unsigned op = 0; mona_plan_op_at(session->plan, op, &info); op++) {
        const double ms = ticks_of(l, op) * ms_per_tick;
        if (info.fused || ms <= 0)
            continue;
        cJSON *row = make_row(&info, ms, frame_ms);
        add_roof(row, &info, limit, ms);
        cJSON_AddItemToArray(list, row);
        sum += ms;
    }
    cJSON *other = cJSON_CreateObject();
    cJSON_AddStringToObject(other, "name", "(other)");
    result_add_number(other, "ms", frame_ms - sum);
    result_add_number(other, "share", 1 - sum / frame_ms);
    cJSON_AddItemToArray(list, other);
}

static unsigned count_ops(const mona_plan *plan)
{
    mona_op_info info;
    unsigned count = 0;
    while (mona_plan_op_at(plan, count, &info))
        count++;
    return count;
}

bool bench_layers(cJSON *result, bench_session *session, const char *name, const peak *limit,
                  unsigned frames)
{
    enum { LINE = 64 / sizeof(tally) };
    layers l = {.cores = mona_plan_threads(session->plan), .ops = count_ops(session->plan)};
    l.stride = (l.ops + 2 * LINE - 1) / LINE * LINE;
    l.tallies = calloc((size_t)l.stride * l.cores, sizeof *l.tallies);
    if (!l.tallies)
        return cli_fail(0, "out of memory");
    double observed = 0, cost = 0;
    const uint64_t ticks = machine_ticks();
    const double start = machine_clock_ms();
    const bool done = run_pairs(&l, session, name, frames, &observed, &cost);
    if (done) {
        const double rate = (machine_clock_ms() - start) / (double)(machine_ticks() - ticks);
        const double ms_per_tick = rate / frames;
        add_rows(cJSON_AddArrayToObject(result, "layers"), &l, session, limit,
                 observed * ms_per_tick, ms_per_tick);
        result_add_number(result, "observing", cost);
    }
    free(l.tallies);
    return done;
}

/* ---- for people -------------------------------------------------------------------------------
 */

static const char *text(const cJSON *row, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

void bench_layers_print(const cJSON *result)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(result, "layers"), *row;
    if (!list)
        return;
    printf("  %-16s %-14s %-4s %9s %8s %6s %8s %6s %9s %9s  %s\n", "operator", "kind", "type",
           "tile", "ms", "share", "GMAC/s", "peak", "memory MB", "cache MB", "share of roof");
    cJSON_ArrayForEach(row, list)
    {
        printf("  %-16.16s %-14s %-4s %9s %8.3f %5.1f%%", text(row, "name"), text(row, "kind"),
               text(row, "precision"), text(row, "tile"), result_number(row, "ms"),
               100 * result_number(row, "share"));
        if (cJSON_GetObjectItemCaseSensitive(row, "bound"))
            printf(" %8.1f %5.1f%% %9.2f %9.2f  %3.0f%% of %s", result_number(row, "gmac_per_s"),
                   100 * result_number(row, "peak_share"),
                   1e-6 * result_number(row, "memory_bytes"),
                   1e-6 * result_number(row, "cache_bytes"), 100 * result_number(row, "roof_share"),
                   text(row, "bound"));
        putchar('\n');
    }
    printf("  observing  %+.2f %% more processor time\n", 100 * result_number(result, "observing"));
}
