// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "pipeline/job/model_source.h"
#include "apps/bench/modelled_report.h"
#include "apps/cli/options.h"
#include "pipeline/job/devices.h"
#include "engine/mona_ascend.h"

static bool read_warm_up(const char *text, long *frames)
{
    char *end;
    *frames = -1;
    if (!text || !strcmp(text, "auto"))
        return true;
    *frames = strtol(text, &end, 10);
    if (end != text && !*end && *frames >= 0 && *frames <= SAMPLING_MAX)
        return true;
    return cli_fail(0, "--warmup: expected auto or a whole number from 0 to %d, found '%s'",
                    SAMPLING_MAX, text);
}

/* Memory is their limit; this one keeps a slip of the hand from asking for all of it. */
enum { MOST_STREAMS = 10000 };

/* Reads "4" or "1..4". */
static bool read_streams(const char *text, stream_range *streams)
{
    int end = 0;
    *streams = (stream_range){0};
    if (!text)
        return true;
    if (sscanf(text, "%5u%n", &streams->first, &end) == 1 && !text[end])
        streams->last = streams->first;
    else if (sscanf(text, "%5u..%5u%n", &streams->first, &streams->last, &end) != 2 || text[end])
        streams->last = 0;
    return (streams->first && streams->first <= streams->last && streams->last <= MOST_STREAMS) ||
           cli_fail(0,
                    "--streams: expected a number from 1 to %d or a range such as 1..4, found "
                    "'%s'",
                    MOST_STREAMS, text);
}

static bool read_sampling(const bench_arguments *a, const mona_device *device, sampling *how)
{
    *how = (sampling){.iterations = a->iterations, .seconds = a->duration, .device = device};
    return read_warm_up(a->warm_up, &how->warm_up);
}

/* Reads "40ms" or "p99=40ms". */
static bool read_budget(const bench_arguments *a, verdict_rules *rules)
{
    const char *text = a->budget;
    const char *time = strchr(text, '=');
    int end = 0;
    if (!time)
        return quantity_ms("--budget", text, &rules->budget_ms);
    if (sscanf(text, "p%lf=%n", &rules->percentile, &end) != 1 || text + end != time + 1 ||
        !(rules->percentile >= 1 && rules->percentile <= 100))
        return cli_fail(0, "--budget: expected a time such as 40ms or p99=40ms, found '%s'", text);
    return quantity_ms("--budget", time + 1, &rules->budget_ms);
}

static bool read_rules(const bench_arguments *a, verdict_rules *rules)
{
    *rules = (verdict_rules){.percentile = a->budget ? 99 : 0, .old = a->old};
    if ((a->budget || a->old) && a->iterations && a->iterations < VERDICT_SAMPLES)
        return cli_fail(0, "--iterations: expected %d or more for %s, found %ld", VERDICT_SAMPLES,
                        a->budget ? "--budget" : "--compare", a->iterations);
    return (!a->budget || read_budget(a, rules)) &&
           quantity_share("--max-regression", a->regression, &rules->regression);
}

static bool read_config(bench_request *b)
{
    const bench_arguments *a = &b->arguments;
    option_computing computing = a->computing;
    if (a->report)
        computing.device = "host";
    computing.device = devices_asked(computing.device, a->model);
    if (!options_config_set(&computing, &b->config, &b->devices))
        return false;
    return b->devices.count == 1 || a->streams || a->pipeline || a->live ||
           cli_fail(0,
                    "--device %s: several devices work only with --pipeline, --live and "
                    "--streams",
                    computing.device);
}

/* Splits "WHAT@N"; N is 0 for "none". */
static bool read_every(const char *option, const char *text, char what[32], unsigned *every)
{
    int end = 0;
    *every = 0;
    if (!strcmp(text, "none"))
        return true;
    return (sscanf(text, "%31[^@]@%9u%n", what, every, &end) == 2 && !text[end] && *every) ||
           cli_fail(0, "%s: expected none or, for every 100th frame, ...@100, found '%s'", option,
                    text);
}

static bool read_pace(const bench_arguments *a, live_pace *pace)
{
    const char *const late_text = a->late ? a->late : a->capacity ? "none" : "100ms@100";
    const char *const burst_text = a->burst ? a->burst : a->capacity ? "none" : "4@150";
    char late[32] = "", burst[32] = "", *end = burst;
    *pace = (live_pace){.fps = a->fps > 0 ? a->fps : a->capacity ? 25 : 30};
    if (!a->live && !a->capacity)
        return true;
    if (!read_every("--late", late_text, late, &pace->late_every) ||
        !read_every("--burst", burst_text, burst, &pace->burst_every) ||
        (pace->late_every && !quantity_ms("--late", late, &pace->late_ms)) ||
        (strcmp(a->jitter, "none") != 0 && !quantity_ms("--jitter", a->jitter, &pace->jitter_ms)))
        return false;
    pace->burst = (unsigned)strtoul(burst, &end, 10);
    return !pace->burst_every ||
           (end != burst && !*end && pace->burst > 1 && pace->burst <= pace->burst_every) ||
           cli_fail(0, "--burst: expected 2@N to N@N, found '%s'", burst_text);
}

static unsigned modes_of(const bench_request *b)
{
    const bench_arguments *a = &b->arguments;
    const mona_device *device = b->config.device;
    const bool om = a->model && ends_in(a->model, ".om");
    const bool chip = mona_ascend_chip(device, 0);
    return (unsigned)((a->model && !om ? BENCH_MODEL : 0) | (om ? BENCH_OM : 0) |
                      (a->streams ? BENCH_STREAMS : 0) | (a->pipeline ? BENCH_PIPELINE : 0) |
                      (a->capacity ? BENCH_CAPACITY : 0) | (a->live ? BENCH_LIVE : 0) |
                      (a->report ? BENCH_REPORT : 0) | (a->peak ? BENCH_PEAK : 0) |
                      (modelled_device(device) ? BENCH_MODEL310 : 0) | (chip ? BENCH_CHIP : 0));
}

bool bench_options_read(bench_request *b)
{
    const bench_arguments *a = &b->arguments;
    b->costs = ac_costs_310;
    return read_pace(a, &b->pace) && read_config(b) &&
           options_suit(&command_bench, &b->given, modes_of(b)) &&
           (!a->costs || costs_read(a->costs, &b->costs)) &&
           read_streams(a->streams, &b->streams) && read_sampling(a, b->config.device, &b->how) &&
           read_rules(a, &b->rules);
}

bool bench_is_synthetic(const bench_arguments *a)
{
    return a->pipeline && !strcmp(a->pipeline, "synthetic");
}

mona_size bench_synthetic_size(const bench_arguments *a)
{
    return a->computing.size.width ? a->computing.size : (mona_size){640, 360};
}

/* ---- the table ------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(bench_arguments, name)

#ifndef MONA_NO_VIDEO
static const char whole[] = "The whole pipeline";
#define PIPELINE_OR "--pipeline or "
#define LIVE_OR "--live or "
#define FIRST_FIELDS .job = JOB_NONE
#else
#define PIPELINE_OR
#define LIVE_OR
#define FIRST_FIELDS 0
#endif
static const char running[] = "What to run", paced[] = "At a camera's pace",
                  times[] = "Timing and verdict", modelled[] = "On device model310",
                  chip[] = "On an Ascend 310", output[] = "Output";

static const option options[] = {
    {"--size", NULL, OPTION_SIZE, CHANGES_BYTES, FIELD(computing.size), "WxH", running,
     .help = "size of the first input; with --pipeline CLIP, of the result"},
    OPTIONS_COMPUTING(FIELD(computing), running),
    {"--kernels", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(kernels), "FOLDER", running,
     .help = "kernels of your own that the model or the pipeline's networks call, as for mona "
             "compile; but for device "
             "model310 with their code (python3 -m mona.kernel --build)"},
    {"--streams", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(streams), "N|A..B", running,
     .help = "run N streams in turns with one copy of the weights; or each number of streams from "
             "A to B"},
    {"--layers", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(layers), NULL, running,
     .help = "show where the time goes, operator by operator, next to what the machine can do"},
    {"--advise", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(advise), NULL, running,
     .help =
         "say what a frame's time goes to: the three costliest causes with their layers, what to "
         "do, and what that would gain, tried where an option does it"},
    {"--peak", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(peak), NULL, running,
     .help = "measure the peak speed of this machine, and stop"},
    {"--capacity", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(capacity), NULL, paced,
     .help = "find how many streams keep the budget (default: a frame's period), where a frame "
             "that is left out counts as late: of MODEL (default sr_x2_fast) in one process, of "
             "--pipeline CLIP in a process each, or of --device model310; that number is then run "
             "for --duration (default 60 s), as are a fifth more, which must fail"},
    {"--fps", NULL, OPTION_NUMBER, CHANGES_BYTES, FIELD(fps), "RATE", paced,
     .help = "frame rate of the source, such as a camera's (default: as fast as the pipeline takes "
             "frames; with --live 30, with --capacity 25)",
     .maximum = 100000, .needs = PIPELINE_OR "--capacity"},
    {"--jitter", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(jitter), "TIME|none", paced,
     .help = "each packet comes later by a random time up to this", .initial = "5ms",
     .needs = LIVE_OR "--capacity"},
    {"--late", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(late), "TIME@N|none", paced,
     .help = "every Nth packet comes later by this, and those behind it cannot overtake (default "
             "100ms@100; with --capacity none)",
     .needs = LIVE_OR "--capacity"},
    {"--burst", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(burst), "COUNT@N|none", paced,
     .help = "of every N packets, COUNT come at once (default 4@150; with --capacity none)",
     .needs = LIVE_OR "--capacity"},
    {"--max-delay", NULL, OPTION_TIME, CHANGES_BYTES, FIELD(max_delay), "TIME", paced,
     .help = "as for mona enhance: how late a frame may be before it is left out",
     .initial = "0.05", .needs = LIVE_OR "--capacity"},
#ifndef MONA_NO_VIDEO
    {"--live", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(live), NULL, paced,
     .help = "send the clip as a camera would, --fps frames a second, through the loopback to what "
             "mona enhance --live does, and time every frame from packet sent to packet written",
     .needs = "--pipeline"},
    {"--pipeline", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(pipeline), "CLIP", whole,
     .help = "time the decoding, the stages and the encoding of a clip, or of synthetic frames of "
             "--size"},
#endif
    {"--warmup", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(warm_up), "N", times,
     .help = "frames before the first one that counts; auto waits until the times settle",
     .initial = "auto"},
    {"--iterations", "-n", OPTION_WHOLE, CHANGES_BYTES, FIELD(iterations), "N", times,
     .help = "frames to time (default 300, or as many as fit into ten seconds)", .minimum = 1,
     .maximum = SAMPLING_MAX},
    {"--duration", NULL, OPTION_TIME, CHANGES_BYTES, FIELD(duration), "TIME", times,
     .help = "how long to time frames, in seconds or such as 500ms", .minimum = 1e-3},
    {"--budget", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(budget), "[pP=]TIME", times,
     .help = "time that a frame may take, such as 33.3ms, or p90=40ms, which 90 per cent of the "
             "frames must keep (default 99); prints PASS or FAIL and sets the exit status"},
    {"--compare", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(old), "FILE.json", times,
     .help = "earlier result of --json; prints PASS, or FAIL if this one is slower, and sets the "
             "exit status"},
    {"--max-regression", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(regression), "SHARE", times,
     .help = "how much slower it may be", .initial = "5%", .needs = "--compare"},
    {"--trace", NULL, OPTION_FILE, KEEPS_BYTES, FIELD(trace), "FILE.json", modelled,
     .help = "write what every pipe did, or every step of --pipeline or on --device ascend, for "
             "Perfetto or chrome://tracing",
     .written = true},
    {"--costs", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(costs), "FILE.json", modelled,
     .help = "constants of the model, by name, as first_light.sh measures them on a chip; those "
             "that are missing keep their values"},
    {"--report", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(report), "FILE.json", chip,
     .help = "collect all that a report on this chip needs, and nothing private: what is "
             "installed, whether several networks and the video decoder have the CPU's bytes, and "
             "how long frames take (--size: default 640x360)",
     .written = true},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, FIELD(json), NULL, output,
     .help = "print JSON: the time of every frame, and how and where it was measured"},
    {"--html", NULL, OPTION_FILE, KEEPS_BYTES, FIELD(html), "FILE.html", output,
     .help = "write a page with charts, complete in one file", .written = true},
};

enum {
    WITHOUT_FRAMES = BENCH_MODEL310 | BENCH_REPORT | BENCH_PEAK, /* of which each is timed */
    OTHER_JOBS = BENCH_STREAMS | BENCH_PIPELINE | BENCH_CAPACITY | BENCH_LIVE | BENCH_REPORT |
                 BENCH_PEAK, /* than a model's frames, one after another */
};

static const option_rule rules[] = {
    {"--size", .never = BENCH_PEAK},
    {"--threads", .never = BENCH_REPORT | BENCH_OM},
    {"--device", .never = BENCH_REPORT | BENCH_PEAK},
    {"--cpu", .never = BENCH_REPORT | BENCH_PEAK | BENCH_OM | BENCH_MODEL310 | BENCH_CHIP},
    {"--strip-rows", .never = BENCH_REPORT | BENCH_PEAK | BENCH_OM},
    {"--tile-columns", .never = BENCH_REPORT | BENCH_PEAK | BENCH_OM | BENCH_PIPELINE | BENCH_LIVE},
    {"--streams", .never = (OTHER_JOBS & ~BENCH_STREAMS) | BENCH_OM | BENCH_MODEL310},
    {"--layers", .never = (OTHER_JOBS & ~BENCH_PIPELINE) | BENCH_OM | BENCH_CHIP,
     .idle = BENCH_MODEL310, .why = "its report always lists the operators"},
    {"--advise", .never = OTHER_JOBS | BENCH_OM},
    {"--peak", .never = (OTHER_JOBS & ~BENCH_PEAK) | BENCH_MODEL | BENCH_OM},
    {"--capacity", .never = BENCH_OM | BENCH_STREAMS | BENCH_REPORT | BENCH_PEAK},
    {"--live", .idle = BENCH_CAPACITY, .why = "whose streams are live"},
    {"--pipeline", .never = BENCH_MODEL | BENCH_OM | BENCH_REPORT | BENCH_PEAK | BENCH_MODEL310},
    {"--report", .never = BENCH_MODEL | BENCH_OM | BENCH_PEAK},
    {"--warmup", .never = (WITHOUT_FRAMES & ~BENCH_REPORT) | BENCH_STREAMS | BENCH_CAPACITY},
    {"--iterations", .never = (WITHOUT_FRAMES & ~BENCH_REPORT) | BENCH_CAPACITY},
    {"--duration", .never = WITHOUT_FRAMES & ~BENCH_REPORT},
    {"--budget", .never = BENCH_REPORT | BENCH_PEAK},
    {"--compare", .never = WITHOUT_FRAMES | BENCH_CAPACITY},
    {"--trace", .only = BENCH_MODEL310 | BENCH_CHIP | BENCH_PIPELINE,
     .never = (OTHER_JOBS & ~BENCH_PIPELINE) | BENCH_OM},
    {"--costs", .only = BENCH_MODEL310, .never = OTHER_JOBS & ~BENCH_CAPACITY},
    {"--kernels", .never = (OTHER_JOBS & ~(BENCH_STREAMS | BENCH_PIPELINE | BENCH_LIVE)) |
                           BENCH_CHIP | BENCH_OM},
    {"--json", .never = BENCH_REPORT},
    {"--html", .never = WITHOUT_FRAMES | BENCH_CAPACITY},
};

#ifndef MONA_NO_VIDEO
/* Of the job's rows. */
static const option_rule job_modes[] = {
    {"--low-latency", .idle = BENCH_LIVE, .why = "which works like that"}};
#endif

const command command_bench = {
    .name = "bench",
    .summary = "measure how long a frame takes",
    .run = bench_run,
    .values = &(bench_request){.arguments = {FIRST_FIELDS}},
    .confined = CONFINED_NEVER,
    .usage = "MODEL|--pipeline CLIP --size WxH [OPTION]...",
    .description = "Times a model (a .mona file or a built-in one) on one frame after another, or "
                   "the whole pipeline of a clip from decoder to encoder, as mona enhance runs it "
                   "with the same options. There --stages can also contain delay:TIME, which only "
                   "waits, and delay:TIME/TIME@N, which waits longer at every Nth frame.",
    .examples =
        "mona bench sr_x2_fast --size 1920x1080\n"
        "mona bench sr_x2_fast --size 960x540 --budget p90=33.3ms\n"
        "mona bench sr_x2_fast --size 1920x1080 --json > old.json\n"
        "mona bench sr_x2_fast --size 1920x1080 --compare old.json --max-regression 5%\n"
        "mona bench sr_x2_fast --size 1920x1080 --device model310 --trace trace.json\n"
        "mona bench sr_x2_fast --size 1920x1080 --layers\n"
        "mona bench sr_x2_fast --size 1920x1080 --advise\n"
        "mona bench --pipeline clip.mp4 --fps 30  # deadlines missed at a camera's pace\n"
        "mona bench --pipeline clip.mp4 --tier best -s 4  # what enhance does with these options\n"
        "mona bench --pipeline clip.mp4 --live --budget 150ms  # latency of a camera's frames\n"
        "mona bench sr_x2_fast --size 960x540 --streams 1..4\n"
        "mona bench --capacity --fps 25 --size 1280x720 --budget p99=40ms  # how many streams\n"
        "mona bench --capacity --pipeline clip.mp4 --json > capacity.json  # for mona-plan\n"
        "mona bench sr_x2_fast --size 640x360 --layers --html page.html\n"
        "mona bench --report ascend.json  # a first run on an Ascend 310\n"
        "mona bench --peak  # what this machine can do at most\n",
    .parts =
        {
            {OPTIONS(options), RULES(rules)},
#ifndef MONA_NO_VIDEO
            {OPTIONS_FROM(job_rows, JOB_WORK_FIRST, JOB_WORK_END), .group = whole,
             .needs = "--pipeline"},
            {OPTIONS_FROM(job_rows, JOB_ENCODING_FIRST, JOB_ENCODING_END), RULES(job_modes),
             .group = whole, .needs = "--pipeline"},
#endif
        },
    .operands_max = 1,
    .takes_model = true,
    .modes = {"a model", "an .om model", "--streams", "--pipeline", "--live", "--report", "--peak",
              "--device model310", "--device ascend", "--capacity"},
};
