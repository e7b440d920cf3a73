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
#include "options.h"
#include "peak.h"

enum { WARM_UP = 3 };

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

int cmd_bench(int argc, char **argv)
{
    const char *size = NULL, *cpu = NULL, *device = "auto", *trace = NULL, *plot = NULL;
    long threads = 0, iterations = 20, strip_rows = 0, tile_columns = 0;
    bool json = false, peaks = false;
    const option options[] = {
        {"--size", NULL, OPTION_STRING, &size, 0, 0, "WxH", "size of the first input"},
        {"--threads", "-t", OPTION_WHOLE, &threads, 0, MONA_MAX_THREADS, "N",
         "threads; 0, the default: one per core"},
        {"--iterations", "-n", OPTION_WHOLE, &iterations, 1, 1000000, "N",
         "frames to time after 3 that warm up (20)"},
        {"--device", NULL, OPTION_STRING, &device, 0, 0, "NAME", "device (auto)"},
        {"--cpu", NULL, OPTION_STRING, &cpu, 0, 0, "ISA",
         "highest instruction set: instructions, c; avx2, avxvnni, avx512; neon, dotprod"},
        {"--strip-rows", NULL, OPTION_WHOLE, &strip_rows, 0, MONA_MAX_SIDE, "N",
         "rows a step makes; 0: the planner's choice"},
        {"--tile-columns", NULL, OPTION_WHOLE, &tile_columns, 0, MONA_MAX_SIDE, "N",
         "columns of a tile; 0: the planner's choice"},
        {"--trace", NULL, OPTION_STRING, &trace, 0, 0, "FILE.json",
         "model310: what every pipe did, for Perfetto or chrome://tracing"},
        {"--plot", NULL, OPTION_STRING, &plot, 0, 0, "FILE.svg",
         "model310: a picture of one strip, pipes over time"},
        {"--peak", NULL, OPTION_FLAG, &peaks, 0, 0, NULL,
         "measure what this machine can do at most, and stop"},
        {"--json", NULL, OPTION_FLAG, &json, 0, 0, NULL, "one JSON object"},
    };
    const command_line line = {
        "bench MODEL --size WxH [OPTION]...",
        "Times a model, a .mona file or the name of one inside mona, on one frame after another.",
        options,
        sizeof options / sizeof *options,
        0,
        1};
    const char *operands[2];
    const options_result parsed = options_parse(&line, argc, argv, operands);
    if (parsed != OPTIONS_RUN)
        return parsed == OPTIONS_HELP ? EXIT_SUCCESS : EXIT_USAGE;
    bench b = {.name = operands[0], .iterations = iterations, .json = json};
    b.config.device = mona_device_find(device);
    if (!b.config.device)
        return cli_fail(EXIT_USAGE, "no device '%s'; mona devices lists them", device);
    mona_device_properties properties;
    mona_device_query(b.config.device, &properties);
    if ((trace || plot) && !modelled_device(b.config.device))
        return cli_fail(EXIT_USAGE, "--trace and --plot want --device model310");
    if (peaks)
        return report_peak(threads ? (unsigned)threads : properties.cores, json);
    if (!b.name)
        return cli_fail(EXIT_USAGE, "usage: mona %s", line.usage);
    unsigned width = 0, height = 0;
    if (size && !options_size(size, MONA_MAX_SIDE, &width, &height))
        return EXIT_USAGE;
    b.config.cpu = cpu;
    b.config.threads = (unsigned)threads;
    b.config.strip_rows = (unsigned)strip_rows;
    b.config.tile_columns = (unsigned)tile_columns;
    b.config.sizes[0] = (mona_size){width, height};
    const bool inside = embedded_model_find(b.name) != NULL;
    bool done = model_source_open(&b.source, inside ? NULL : b.name, inside ? b.name : NULL);
    b.model = b.source.model.model;
    if (modelled_device(b.config.device)) {
        const modelled_options wanted = {json, trace, plot};
        done = done && modelled_bench(b.name, &b.model, &b.config, &wanted);
    } else {
        done = done && bench_session_open(&b.run, b.name, &b.model, &b.config) && measure(&b);
        if (done)
            report(&b);
    }
    close_bench(&b);
    return done ? EXIT_SUCCESS : EXIT_FAILED;
}
