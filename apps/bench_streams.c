#include "bench_streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_result.h"
#include "model_format.h"
#include "options.h"
#include "provenance.h"

enum { WARM_UP = 5, SECONDS = 5 };

struct group;

typedef struct stream {
    struct group *group;
    bench_session session;
    samples times;
    pthread_t thread;
    bool started, failed;
} stream;

typedef struct group {
    const bench_model_job *job;
    stream *streams;
    unsigned count;
    atomic_uint ready; /* streams that have warmed up */
    atomic_bool go, stop;
    size_t resident; /* bytes the process grew by for all streams but the first */
} group;

static bool keep_going(const group *g, const stream *s, uint64_t start)
{
    const sampling *how = &g->job->how;
    const double seconds = how->seconds > 0 || how->iterations ? how->seconds : SECONDS;
    return !atomic_load(&g->stop) &&
           (!how->iterations || s->times.count < (size_t)how->iterations) &&
           (seconds <= 0 || 1e-9 * (double)(clock_ns() - start) < seconds);
}

/* All begin together, and the first to end ends all, so that none runs alone. */
static void *run_stream(void *argument)
{
    stream *s = argument;
    group *g = s->group;
    const char *name = g->job->name;
    for (int i = 0; i < WARM_UP && !s->failed; i++)
        s->failed = !bench_session_run(&s->session, name);
    atomic_fetch_add(&g->ready, 1);
    while (!atomic_load(&g->go))
        usleep(1000);
    const uint64_t start = clock_ns();
    while (!s->failed && keep_going(g, s, start)) {
        const uint64_t begin = clock_ns();
        s->failed = !bench_session_run(&s->session, name) ||
                    !samples_add(&s->times, 1e-6 * (double)(clock_ns() - begin));
    }
    atomic_store(&g->stop, true);
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

/* The first stream owns the weights. Each has run a frame before memory is looked at. */
static bool open_streams(group *g)
{
    mona_config config = *g->job->config;
    size_t before = 0;
    for (unsigned i = 0; i < g->count; i++) {
        stream *s = &g->streams[i];
        s->group = g;
        if (!bench_session_open(&s->session, g->job->name, g->job->model, &config) ||
            !bench_session_run(&s->session, g->job->name))
            return false;
        config.shared = g->streams[0].session.session;
        before = i ? before : resident_now();
    }
    g->resident = resident_now() - before;
    return true;
}

static bool run_streams(group *g, machine_moment *before, machine_moment *after)
{
    bool done = true;
    for (unsigned i = 0; i < g->count && done; i++) {
        stream *s = &g->streams[i];
        s->started = done = !pthread_create(&s->thread, NULL, run_stream, s);
    }
    if (!done)
        cli_fail(0, "the system refused a thread");
    while (done && atomic_load(&g->ready) < g->count)
        usleep(1000);
    *before = machine_now();
    atomic_store(&g->stop, !done);
    atomic_store(&g->go, true);
    for (unsigned i = 0; i < g->count; i++) {
        if (g->streams[i].started)
            pthread_join(g->streams[i].thread, NULL);
        done = done && !g->streams[i].failed;
    }
    *after = machine_now();
    return done;
}

/* ---- the result -------------------------------------------------------------------------------
 */

static bool add_streams(cJSON *result, const group *g, samples *all)
{
    cJSON *list = cJSON_AddArrayToObject(result, "each");
    const double seconds = all->after.wall - all->before.wall;
    size_t fewest = SIZE_MAX, most = 0, sum = 0;
    for (unsigned i = 0; i < g->count; i++) {
        const samples *own = &g->streams[i].times;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddItemToArray(list, o);
        if (!result_add_statistics(o, own->ms, own->count))
            return false;
        result_add_number(o, "fps", (double)own->count / seconds);
        result_add_crc(o, "output_crc32", bench_session_crc(&g->streams[i].session, g->job->model));
        fewest = own->count < fewest ? own->count : fewest;
        most = own->count > most ? own->count : most;
        sum += own->count;
        for (size_t f = 0; f < own->count; f++)
            if (!samples_add(all, own->ms[f]))
                return false;
    }
    result_add_number(result, "fairness", (double)fewest / (double)(most ? most : 1));
    result_add_number(result, "fps", (double)sum / seconds);
    return sum || cli_fail(0, "no stream has made a frame in its time");
}

static void describe(cJSON *result, const group *g)
{
    const mona_plan *first = g->streams[0].session.plan;
    const mona_plan *last = g->streams[g->count - 1].session.plan;
    const mona_tensor_info in = mona_plan_input(first, 0);
    mona_device_properties device = {.name = "host"};
    mona_device_query(g->job->config->device, &device);
    cJSON_AddStringToObject(result, "kind", "streams");
    cJSON_AddStringToObject(result, "model", g->job->name);
    cJSON_AddNumberToObject(result, "width", in.width);
    cJSON_AddNumberToObject(result, "height", in.height);
    cJSON_AddStringToObject(result, "device", device.name);
    cJSON_AddStringToObject(result, "isa", mona_plan_isa(first));
    cJSON_AddNumberToObject(result, "threads", mona_plan_threads(first));
    cJSON_AddNumberToObject(result, "streams", g->count);
    cJSON_AddNumberToObject(result, "arena_bytes", (double)mona_plan_arena_bytes(first));
    if (g->count > 1) {
        cJSON_AddNumberToObject(result, "added_bytes", (double)mona_plan_arena_bytes(last));
        cJSON_AddNumberToObject(result, "resident_bytes", (double)(g->resident / (g->count - 1)));
        cJSON_AddNumberToObject(
            result, "plane_bytes",
            (double)bench_session_plane_bytes(&g->streams[0].session, g->job->model));
        cJSON_AddNumberToObject(result, "plan_bytes", (double)mona_plan_bytes());
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

/* Those that read the first one's weights are closed before it. */
static void close_streams(group *g)
{
    for (unsigned i = g->count; g->streams && i-- > 0;) {
        bench_session_close(&g->streams[i].session);
        samples_free(&g->streams[i].times);
    }
    free(g->streams);
}

cJSON *bench_streams(const bench_model_job *job, unsigned streams)
{
    group g = {.job = job, .count = streams, .streams = calloc(streams, sizeof *g.streams)};
    samples all = {.settled = true, .warm_up = WARM_UP};
    cJSON *result = NULL;
    if (!g.streams)
        cli_fail(0, "out of memory");
    else if (open_streams(&g) && run_streams(&g, &all.before, &all.after)) {
        result = cJSON_CreateObject();
        if (!fill(result, &g, &all)) {
            cJSON_Delete(result);
            result = NULL;
        }
    }
    samples_free(&all);
    close_streams(&g);
    return result;
}

void bench_streams_print(const cJSON *result)
{
    const cJSON *each = cJSON_GetObjectItemCaseSensitive(result, "each"), *o;
    const double threads = result_number(result, "threads");
    int number = 0;
    printf("%s at %.0fx%.0f, %s, %.0f streams of %.0f thread%s\n",
           cJSON_GetObjectItemCaseSensitive(result, "model")->valuestring,
           result_number(result, "width"), result_number(result, "height"),
           cJSON_GetObjectItemCaseSensitive(result, "isa")->valuestring,
           result_number(result, "streams"), threads, threads > 1 ? "s" : "");
    printf("  %-8s %8s %9s %9s %9s %9s %9s %9s\n", "stream", "frames", "a second", "p50, ms", "p90",
           "p99", "max", "std dev");
    cJSON_ArrayForEach(o, each)
        printf("  %-8d %8.0f %9.2f %9.3f %9.3f %9.3f %9.3f %9.3f\n", ++number,
               result_number(o, "iterations"), result_number(o, "fps"), result_number(o, "p50_ms"),
               result_number(o, "p90_ms"), result_number(o, "p99_ms"), result_number(o, "max_ms"),
               result_number(o, "stddev_ms"));
    printf("  together   %.2f frames a second; the slowest stream makes %.1f %% of the fastest's\n",
           result_number(result, "fps"), 100 * result_number(result, "fairness"));
    printf("  memory     %.0f bytes of arena for the first stream",
           result_number(result, "arena_bytes"));
    if (cJSON_GetObjectItemCaseSensitive(result, "added_bytes"))
        printf(", %.0f for each further one: it reads the first one's weights\n"
               "             (with its planes, %.0f, and its plan, %.0f: the process grew by %.0f)",
               result_number(result, "added_bytes"), result_number(result, "plane_bytes"),
               result_number(result, "plan_bytes"), result_number(result, "resident_bytes"));
    putchar('\n');
}
