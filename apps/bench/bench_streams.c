// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_streams.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "apps/bench/report/bench_result.h"
#include "engine/model_format.h"
#include "apps/cli/options.h"
#include "apps/cli/json_output.h"

enum { WARM_UP = 5, SECONDS = 5, PACED_WARM_UP_S = 1 };

struct group;

typedef struct stream {
    struct group *group;
    fair_queue *turns; /* of its device */
    unsigned number;
    bench_session session;
    samples times, waits;
    size_t left_out, warmed_up; /* frames, of a paced stream */
    pthread_t thread;
    bool started, failed;
} stream;

typedef struct group {
    const bench_model_job *job;
    const paced_streams *paced; /* NULL: each frame comes when the one before is done */
    stream *streams;
    unsigned count;
    /* Of each device, on which streams take turns: as many at once as there are cores for. */
    fair_queue turns[DEVICES_MAX];
    unsigned places;
    atomic_uint ready, done; /* streams that have warmed up; streams that have ended */
    atomic_bool stop;        /* one has failed */
    uint64_t start;          /* when the first turn began */
    size_t resident;         /* growth of the process by all streams but the first */
} group;

static bool keep_going(const group *g, const stream *s)
{
    const sampling *how = &g->job->how;
    const double seconds = how->seconds > 0 || how->iterations ? how->seconds : SECONDS;
    return !atomic_load(&g->stop) &&
           (!how->iterations || s->times.count < (size_t)how->iterations) &&
           (seconds <= 0 || 1e-9 * (double)(clock_ns() - g->start) < seconds);
}

/* The time of a frame is from when the stream has it until it is done, including the wait for its
 * turn. */
static bool run_frame(stream *s, uint64_t begin)
{
    const uint64_t turn = clock_ns();
    return bench_session_run(&s->session) &&
           samples_add(&s->times, 1e-6 * (double)(clock_ns() - begin)) &&
           samples_add(&s->waits, 1e-6 * (double)(turn - begin));
}

/* Frames come at a camera's pace. As in mona enhance --live, one that is too late when its turn
 * comes is left out, unless it is the latest there is. */
static void run_paced(stream *s)
{
    group *g = s->group;
    const paced_streams *how = g->paced;
    live_clock clock = live_clock_of(&how->pace, s->number, g->start);
    const uint64_t counts = g->start + (uint64_t)(1e9 * PACED_WARM_UP_S);
    const uint64_t end = counts + (uint64_t)(1e9 * how->seconds);
    uint64_t next = live_clock_next(&clock);
    for (uint64_t at = next; at < end && !s->failed && !atomic_load(&g->stop); at = next) {
        next = live_clock_next(&clock);
        clock_sleep_until(at);
        fair_queue_enter(s->turns, fair_queue_draw(s->turns));
        for (uint64_t now = clock_ns();
             now >= next && 1e-6 * (double)(now - at) > how->max_delay_ms && next < end;
             at = next, next = live_clock_next(&clock))
            s->left_out += at >= counts;
        s->failed = at < counts ? !bench_session_run(&s->session) : !run_frame(s, at);
        s->warmed_up += at < counts;
        fair_queue_leave(s->turns);
    }
    if (s->failed)
        atomic_store(&g->stop, true);
}

/* A stream requests its next turn before it leaves the current one, so that streams stay in order
 * and none is ever more than one frame ahead. The last ticket is not used. */
static void *run_stream(void *argument)
{
    stream *s = argument;
    group *g = s->group;
    for (int i = 0; i < WARM_UP && !s->failed; i++)
        s->failed = !bench_session_run(&s->session);
    uint64_t ticket = fair_queue_draw(s->turns), begin = 0;
    atomic_fetch_add(&g->ready, 1);
    for (bool more = true; more;) {
        fair_queue_enter(s->turns, ticket);
        if (g->paced)
            break;
        more = !s->failed && keep_going(g, s);
        if (more) {
            s->failed = !run_frame(s, begin ? begin : g->start);
            ticket = fair_queue_draw(s->turns);
            begin = clock_ns();
        }
        if (s->failed)
            atomic_store(&g->stop, true);
        fair_queue_leave(s->turns);
    }
    if (g->paced) {
        fair_queue_leave(s->turns);
        run_paced(s);
    }
    atomic_fetch_add(&g->done, 1);
    return NULL;
}

static size_t resident_now(void)
{
    unsigned long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lu %lu", &all, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* The first stream owns the weights. Each stream has run a frame before memory is measured. By
 * default a turn has all cores, so that a disturbance delays the frames of all streams alike.
 * Several turns at once, with fewer threads each, are no faster in total and less even. */
static bool open_streams(group *g)
{
    const device_set *devices = g->job->devices;
    const unsigned cores = machine_cores(g->job->config->device);
    mona_config config = *g->job->config;
    size_t before = 0;
    for (unsigned i = 0; i < devices->count; i++) {
        fair_queue_open(&g->turns[i],
                        config.threads && config.threads < cores ? cores / config.threads : 1);
        g->places += g->turns[i].places;
    }
    for (unsigned i = 0; i < g->count; i++) {
        stream *s = &g->streams[i];
        s->group = g;
        s->turns = &g->turns[i % devices->count];
        config.device = devices->at[i % devices->count];
        s->number = i;
        if (!bench_session_open(&s->session, g->job->name, g->job->model, &config) ||
            !bench_session_run(&s->session))
            return false;
        config.shared =
            mona_ascend_chip(config.device, 0) ? NULL : g->streams[0].session.bound.session;
        before = i ? before : resident_now();
    }
    g->resident = resident_now() - before;
    return true;
}

static bool run_streams(group *g, samples *all)
{
    bool done = true;
    const unsigned devices = g->job->devices->count;
    for (unsigned d = 0; d < devices; d++) /* nobody starts before all are ready */
        for (unsigned i = 0; i < g->turns[d].places; i++)
            fair_queue_enter(&g->turns[d], fair_queue_draw(&g->turns[d]));
    for (unsigned i = 0; i < g->count && done; i++) {
        stream *s = &g->streams[i];
        s->started = done = !pthread_create(&s->thread, NULL, run_stream, s);
    }
    if (!done)
        cli_fail(0, "a thread cannot be started");
    while (done && atomic_load(&g->ready) < g->count)
        usleep(1000);
    all->before = machine_now();
    telemetry_log_open(&all->sensors, g->job->config->device);
    atomic_store(&g->stop, !done);
    g->start = clock_ns();
    for (unsigned d = 0; d < devices; d++)
        for (unsigned i = 0; i < g->turns[d].places; i++)
            fair_queue_leave(&g->turns[d]);
    while (done && atomic_load(&g->done) < g->count) {
        usleep(2000);
        telemetry_log_look(&all->sensors);
    }
    for (unsigned i = 0; i < g->count; i++) {
        if (g->streams[i].started)
            pthread_join(g->streams[i].thread, NULL);
        done = done && !g->streams[i].failed;
    }
    telemetry_log_end(&all->sensors);
    all->after = machine_now();
    return done;
}

/* ---- the result ------------------------------------------------------------------------------ */

static bool add_stream(cJSON *list, const stream *s, double seconds)
{
    cJSON *o = json_add_object(list);
    if (!result_add_statistics(o, s->times.ms, s->times.count) ||
        !result_add_statistics(cJSON_AddObjectToObject(o, "wait"), s->waits.ms, s->waits.count))
        return false;
    json_add_rounded(o, "fps", (double)s->times.count / seconds);
    result_add_crc(o, "output_crc32", bench_planes_output_crc(&s->session.planes));
    return true;
}

/* The smallest value of a figure over the streams, divided by the largest. */
static double evenness(const cJSON *list, const char *key)
{
    double min = INFINITY, max = 0;
    const cJSON *o;
    cJSON_ArrayForEach(o, list)
    {
        min = fmin(min, json_number(o, key));
        max = fmax(max, json_number(o, key));
    }
    return max > 0 ? min / max : 0;
}

static bool add_streams(cJSON *result, const group *g, samples *all)
{
    cJSON *list = cJSON_AddArrayToObject(result, "each");
    const double seconds = all->after.wall - all->before.wall;
    for (unsigned i = 0; i < g->count; i++) {
        const samples *own = &g->streams[i].times;
        if (!add_stream(list, &g->streams[i], seconds))
            return false;
        for (size_t f = 0; f < own->count; f++)
            if (!samples_add(all, own->ms[f]))
                return false;
    }
    JSON_ADD(result, ROUNDED("fairness", evenness(list, "iterations")),
             ROUNDED("p99_fairness", evenness(list, "p99_ms")),
             ROUNDED("fps", (double)all->count / seconds));
    return all->count || cli_fail(0, "no stream finished a frame in the given time");
}

static void describe(cJSON *result, const group *g)
{
    const mona_plan *first = g->streams[0].session.bound.plan;
    const mona_plan *last = g->streams[g->count - 1].session.bound.plan;
    result_describe(result, "streams", g->job->name, g->job->config->device, first);
    JSON_ADD(result, NUMBER("streams", g->count), NUMBER("devices", g->job->devices->count),
             NUMBER("at_once", g->places), NUMBER("arena_bytes", mona_plan_arena_bytes(first)));
    if (g->count > 1) {
        JSON_ADD(result, NUMBER("added_bytes", mona_plan_arena_bytes(last)),
                 NUMBER("resident_bytes", (double)(g->resident / (g->count - 1))),
                 NUMBER("plane_bytes", bench_planes_bytes(&g->streams[0].session.planes)),
                 NUMBER("plan_bytes", mona_plan_bytes(g->job->model)));
    }
    result_add_crc(result, "model_crc32", g->job->model->header->crc32);
}

static bool fill(cJSON *result, const group *g, samples *all)
{
    describe(result, g);
    if (!add_streams(result, g, all) || !result_add_samples(result, all, g->job->percentile))
        return false;
    cJSON_AddItemToObject(result, "provenance", provenance());
    return true;
}

/* Streams that use the first one's weights are closed before it. */
static void close_streams(group *g)
{
    for (unsigned i = g->count; g->streams && i-- > 0;) {
        bench_session_close(&g->streams[i].session);
        samples_free(&g->streams[i].times);
        samples_free(&g->streams[i].waits);
    }
    free(g->streams);
    for (unsigned d = 0; d < DEVICES_MAX; d++)
        if (g->turns[d].places)
            fair_queue_close(&g->turns[d]);
}

static cJSON *run_so_many(const bench_model_job *job, unsigned streams)
{
    group g = {.job = job, .count = streams, .streams = calloc(streams, sizeof *g.streams)};
    samples all = {.settled = true, .warm_up = WARM_UP};
    cJSON *result = NULL;
    if (!g.streams)
        cli_fail(0, "out of memory");
    else if (open_streams(&g) && run_streams(&g, &all)) {
        result = cJSON_CreateObject();
        result = result_if(fill(result, &g, &all), result);
    }
    samples_free(&all);
    close_streams(&g);
    return result;
}

/* ---- paced ----------------------------------------------------------------------------------- */

static bool collect(const group *g, capacity_trial *trial)
{
    size_t frames = 0;
    bool good = true;
    for (unsigned i = 0; i < g->count; i++) {
        const stream *s = &g->streams[i];
        for (size_t f = 0; f < s->times.count && good; f++)
            good = samples_add(&trial->times, s->times.ms[f]);
        good = good && capacity_leave_out(trial, s->left_out);
        frames += s->warmed_up + s->times.count;
    }
    const double cpu = trial->times.after.own - trial->times.before.own;
    trial->cpu_ms[CAPACITY_NETWORK] = frames ? 1e3 * cpu / (double)frames : 0;
    trial->stream_bytes = g->count > 1
                              ? (double)(g->resident / (g->count - 1))
                              : (double)mona_plan_arena_bytes(g->streams->session.bound.plan) +
                                    (double)bench_planes_bytes(&g->streams->session.planes);
    return good;
}

bool bench_streams_paced(const bench_model_job *job, const paced_streams *how, unsigned streams,
                         capacity_trial *trial)
{
    group g = {
        .job = job, .paced = how, .count = streams, .streams = calloc(streams, sizeof *g.streams)};
    const bool good = (g.streams || cli_fail(0, "out of memory")) && open_streams(&g) &&
                      run_streams(&g, &trial->times) && collect(&g, trial);
    close_streams(&g);
    return good;
}

/* ---- a range --------------------------------------------------------------------------------- */

static cJSON *scan_row(const cJSON *result)
{
    static const char *const keys[] = {"streams", "threads", "at_once",  "fps",         "p50_ms",
                                       "p99_ms",  "max_ms",  "fairness", "p99_fairness"};
    cJSON *row = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        cJSON_AddNumberToObject(row, keys[i], json_number(result, keys[i]));
    cJSON_AddNumberToObject(row, "arena_bytes",
                            json_number(result, "arena_bytes") +
                                (json_number(result, "streams") - 1) *
                                    json_number(result, "added_bytes"));
    return row;
}

cJSON *bench_streams(const bench_model_job *job, stream_range streams)
{
    cJSON *result = NULL, *scan = cJSON_CreateArray();
    for (unsigned n = streams.first; n <= streams.last; n++) {
        cJSON_Delete(result);
        result = run_so_many(job, n);
        if (!result)
            break;
        cJSON_AddItemToArray(scan, scan_row(result));
    }
    if (result && streams.last > streams.first)
        cJSON_AddItemToObject(result, "scan", scan);
    else
        cJSON_Delete(scan);
    return result;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void print_each(const cJSON *result)
{
    const cJSON *o;
    int number = 0;
    printf("  %-8s %8s %9s %9s %9s %9s %9s %9s %9s\n", "stream", "frames", "a second", "p50, ms",
           "p90", "p99", "max", "std dev", "wait p50");
    cJSON_ArrayForEach(o, json_get(result, "each"))
        printf("  %-8d %8.0f %9.2f %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f\n", ++number,
               json_number(o, "iterations"), json_number(o, "fps"), json_number(o, "p50_ms"),
               json_number(o, "p90_ms"), json_number(o, "p99_ms"), json_number(o, "max_ms"),
               json_number(o, "stddev_ms"), json_number(json_get(o, "wait"), "p50_ms"));
}

static void print_scan(const cJSON *scan)
{
    const cJSON *o;
    if (!scan)
        return;
    printf("  %-8s %9s %9s %9s %9s %7s %10s %12s\n", "streams", "a second", "p50, ms", "p99", "max",
           "even by", "p99 within", "arena bytes");
    cJSON_ArrayForEach(o, scan)
        printf("  %-8.0f %9.2f %9.3f %9.3f %9.3f %6.1f%% %9.1f%% %12.0f\n",
               json_number(o, "streams"), json_number(o, "fps"), json_number(o, "p50_ms"),
               json_number(o, "p99_ms"), json_number(o, "max_ms"), 100 * json_number(o, "fairness"),
               100 * (1 - json_number(o, "p99_fairness")), json_number(o, "arena_bytes"));
}

static void print_memory(const cJSON *result)
{
    printf("  memory     %.0f bytes of arena for the first stream",
           json_number(result, "arena_bytes"));
    if (json_get(result, "added_bytes"))
        printf(", %.0f for each further one%s\n"
               "             (with its planes, %.0f, and its plan, %.0f: the process grew by %.0f)",
               json_number(result, "added_bytes"),
               json_number(result, "added_bytes") < json_number(result, "arena_bytes")
                   ? ": it reads the first one's weights"
                   : "",
               json_number(result, "plane_bytes"), json_number(result, "plan_bytes"),
               json_number(result, "resident_bytes"));
    putchar('\n');
}

void bench_streams_print(const cJSON *result)
{
    const double threads = json_number(result, "threads");
    printf("%s at %.0fx%.0f, %s, %.0f streams of %.0f thread%s, %.0f at once\n",
           json_string(result, "model"), json_number(result, "width"),
           json_number(result, "height"), json_string(result, "isa"),
           json_number(result, "streams"), threads, threads > 1 ? "s" : "",
           json_number(result, "at_once"));
    print_each(result);
    printf("  together   %.2f frames a second; the slowest stream has %.1f %% of the fastest's "
           "rate, the lowest p99 is %.1f %% of the highest\n",
           json_number(result, "fps"), 100 * json_number(result, "fairness"),
           100 * json_number(result, "p99_fairness"));
    print_memory(result);
    print_scan(json_get(result, "scan"));
}
