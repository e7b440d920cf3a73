/* mona bench: how long one frame takes, and what share of the machine's limit that is. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench_session.h"
#include "commands.h"
#include "model_format.h"
#include "model_source.h"
#include "modelled_bench.h"
#include "models/embedded.h"
#include "mona.h"
#include "peak.h"

enum { WARM_UP = 3 };

typedef struct arguments {
    const char *size, *cpu, *device, *trace, *plot;
    long threads, iterations, strip_rows, tile_columns;
    bool json, peak;
} arguments;

typedef struct bench {
    const char *name;
    mona_config config;
    long iterations;
    bool json;

    model_source source;
    mona_model model;
    bench_session run;
    double *times; /* ms, one an iteration */
} bench;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times every iteration; sorted afterwards. */
static bool measure(bench *b)
{
    b->times = malloc((size_t)b->iterations * sizeof *b->times);
    if (!b->times)
        return cli_fail(0, "out of memory"), false;
    for (long i = -WARM_UP; i < b->iterations; i++) {
        const double start = now_ms();
        if (!bench_session_run(&b->run, b->name))
            return false;
        if (i >= 0)
            b->times[i] = now_ms() - start;
    }
    qsort(b->times, (size_t)b->iterations, sizeof *b->times, compare);
    return true;
}

/* The smallest time that is not below `percent` of all. */
static double percentile(const bench *b, double percent)
{
    long rank = (long)((double)b->iterations * percent / 100);
    return b->times[rank < b->iterations ? rank : b->iterations - 1];
}

/* Whether most of the work is INT8: it is then a share of that peak. */
static bool mostly_int8(const bench *b)
{
    unsigned int8 = 0, fp16 = 0;
    for (uint32_t i = 0; i < b->model.header->op_count; i++)
        if (b->model.ops[i].kind == MONA_OP_CONV)
            *(b->model.ops[i].conv.scales == MONA_NONE ? &fp16 : &int8) += 1;
    return int8 >= fp16;
}

/* Most memory this process ever had resident. */
static size_t resident_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (size_t)usage.ru_maxrss * 1024;
}

static void report(const bench *b)
{
    const size_t resident = resident_bytes(); /* before the peak's copies add theirs */
    const mona_tensor_info in = mona_plan_input(b->run.plan, 0);
    const double p50 = percentile(b, 50), macs = (double)mona_plan_macs(b->run.plan);
    const double rate = macs / p50 * 1e-6;
    peak limit = {0};
    const bool known = peak_measure(mona_plan_threads(b->run.plan), &limit);
    const bool int8 = mostly_int8(b);
    const double share = known ? rate / (int8 ? limit.int8_gmac_per_s : limit.fp16_gmac_per_s) : 0;
    if (b->json) {
        printf("{\"model\":\"%s\",\"width\":%u,\"height\":%u,\"isa\":\"%s\",\"threads\":%u,"
               "\"iterations\":%ld,\"min_ms\":%.3f,\"p50_ms\":%.3f,\"p90_ms\":%.3f,"
               "\"p99_ms\":%.3f,\"max_ms\":%.3f,\"gmac\":%.4f,\"gmac_per_s\":%.1f,"
               "\"precision\":\"%s\",\"peak_gmac_per_s\":%.1f,\"peak_share\":%.4f,"
               "\"arena_bytes\":%zu,\"rss_bytes\":%zu,\"output_crc32\":\"%08x\"}\n",
               b->name, in.width, in.height, mona_plan_isa(b->run.plan),
               mona_plan_threads(b->run.plan), b->iterations, b->times[0], p50, percentile(b, 90),
               percentile(b, 99), b->times[b->iterations - 1], macs * 1e-9, rate,
               int8 ? "int8" : "fp16", int8 ? limit.int8_gmac_per_s : limit.fp16_gmac_per_s, share,
               mona_plan_arena_bytes(b->run.plan), resident, bench_session_crc(&b->run, &b->model));
        return;
    }
    printf("%s at %ux%u, %s, %u thread%s\n", b->name, in.width, in.height,
           mona_plan_isa(b->run.plan), mona_plan_threads(b->run.plan),
           mona_plan_threads(b->run.plan) > 1 ? "s" : "");
    printf("  time        p50 %.3f ms, p90 %.3f, p99 %.3f, min %.3f, max %.3f (%ld frames)\n", p50,
           percentile(b, 90), percentile(b, 99), b->times[0], b->times[b->iterations - 1],
           b->iterations);
    printf(
        "  work        %.3f GMAC a frame, %.1f GMAC/s, %.1f %% of this machine's %s peak of %.0f\n",
        macs * 1e-9, rate, 100 * share, int8 ? "int8" : "fp16",
        int8 ? limit.int8_gmac_per_s : limit.fp16_gmac_per_s);
    printf("  memory      %zu bytes of arena; process at most %zu\n",
           mona_plan_arena_bytes(b->run.plan), resident);
    printf("  output      CRC-32 %08x\n", bench_session_crc(&b->run, &b->model));
}

static void close_bench(bench *b)
{
    bench_session_close(&b->run);
    free(b->times);
    model_source_close(&b->source);
}

static int report_peak(unsigned threads, bool json)
{
    peak p;
    if (!peak_measure(threads, &p))
        return cli_fail(EXIT_FAILED, "the peak cannot be measured: out of threads or memory");
    if (json)
        printf("{\"threads\":%u,\"int8_gmac_per_s\":%.1f,\"fp16_gmac_per_s\":%.1f,"
               "\"fp32_gmac_per_s\":%.1f,\"copy_gb_per_s\":%.2f}\n",
               threads, p.int8_gmac_per_s, p.fp16_gmac_per_s, p.fp32_gmac_per_s, p.copy_gb_per_s);
    else
        printf("peak of %u thread%s: int8 %.0f GMAC/s (%s), fp16 and fp32 %.0f GMAC/s (%s), "
               "copy %.1f GB/s\n",
               threads, threads > 1 ? "s" : "", p.int8_gmac_per_s, p.int8_instruction,
               p.fp32_gmac_per_s, p.fp32_instruction, p.copy_gb_per_s);
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
    arguments a = {0};
    const char *operands[2];
    const options_result parsed = options_parse(&command_bench, &a, argc, argv, operands);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELP ? EXIT_SUCCESS : EXIT_USAGE;
    bench b = {.name = operands[0], .iterations = a.iterations, .json = a.json};
    b.config.device = mona_device_find(a.device);
    if (!b.config.device)
        return cli_fail(EXIT_USAGE, "no device '%s'; mona devices lists them", a.device);
    mona_device_properties properties;
    mona_device_query(b.config.device, &properties);
    if ((a.trace || a.plot) && !modelled_device(b.config.device))
        return cli_fail(EXIT_USAGE, "--trace and --plot want --device model310");
    if (a.peak)
        return report_peak(a.threads ? (unsigned)a.threads : properties.cores, a.json);
    if (!b.name)
        return cli_fail(EXIT_USAGE, "usage: mona bench %s", command_bench.usage);
    unsigned width = 0, height = 0;
    if (a.size && !options_size(a.size, MONA_MAX_SIDE, &width, &height))
        return EXIT_USAGE;
    b.config.cpu = a.cpu;
    b.config.threads = (unsigned)a.threads;
    b.config.strip_rows = (unsigned)a.strip_rows;
    b.config.tile_columns = (unsigned)a.tile_columns;
    b.config.sizes[0] = (mona_size){width, height};
    const bool inside = embedded_model_find(b.name) != NULL;
    bool done = model_source_open(&b.source, inside ? NULL : b.name, inside ? b.name : NULL);
    b.model = b.source.model.model;
    if (modelled_device(b.config.device)) {
        const modelled_options wanted = {a.json, a.trace, a.plot};
        done = done && modelled_bench(b.name, &b.model, &b.config, &wanted);
    } else {
        done = done && bench_session_open(&b.run, b.name, &b.model, &b.config) && measure(&b);
        if (done)
            report(&b);
    }
    close_bench(&b);
    return done ? EXIT_SUCCESS : EXIT_FAILED;
}

static const char running[] = "What runs", modelled[] = "On device model310";

static const option options[] = {
    {"--size", NULL, OPTION_STRING, offsetof(arguments, size), "WxH", running,
     .help = "size of the first input"},
    {"--iterations", "-n", OPTION_WHOLE, offsetof(arguments, iterations), "N", running,
     .help = "frames to time after 3 that warm up", .initial = "20", .minimum = 1,
     .maximum = 1000000},
    {"--threads", "-t", OPTION_WHOLE, offsetof(arguments, threads), "N", running,
     .help = "threads (default 0: one per core)", .maximum = MONA_MAX_THREADS},
    OPTION_DEVICE(offsetof(arguments, device), running),
    OPTION_CPU(offsetof(arguments, cpu), running),
    {"--strip-rows", NULL, OPTION_WHOLE, offsetof(arguments, strip_rows), "N", running,
     .help = "rows a step makes (default 0: the planner's choice)", .maximum = MONA_MAX_SIDE},
    {"--tile-columns", NULL, OPTION_WHOLE, offsetof(arguments, tile_columns), "N", running,
     .help = "columns of a tile (default 0: the planner's choice)", .maximum = MONA_MAX_SIDE},
    {"--trace", NULL, OPTION_FILE, offsetof(arguments, trace), "FILE.json", modelled,
     .help = "what every pipe did, for Perfetto or chrome://tracing"},
    {"--plot", NULL, OPTION_FILE, offsetof(arguments, plot), "FILE.svg", modelled,
     .help = "a picture of one strip, pipes over time"},
    {"--peak", NULL, OPTION_FLAG, offsetof(arguments, peak), NULL, "Other",
     .help = "measure what this machine can do at most, and stop"},
    {"--json", NULL, OPTION_FLAG, offsetof(arguments, json), NULL, "Other",
     .help = "one JSON object"},
};

const command command_bench = {
    .name = "bench",
    .summary = "measure how long a frame takes",
    .run = run,
    .usage = "MODEL --size WxH [OPTION]...",
    .description =
        "Times a model, a .mona file or the name of one inside mona, on one frame after another.",
    .examples = "mona bench sr_x2_fast --size 1920x1080\n"
                "mona bench sr_x2_fast --size 1920x1080 --device model310 --plot strip.svg\n"
                "mona bench --peak  # what this machine can do at most\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_max = 1,
    .takes_model = true,
};
