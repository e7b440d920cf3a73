// SPDX-License-Identifier: Apache-2.0
/* mona enhance: a video or a picture in, a larger and cleaner one out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/log.h>

#include "apps/enhance/batch.h"
#include "apps/cli/commands.h"
#include "apps/cli/confine.h"
#include "apps/enhance/dry_run.h"
#include "pipeline/enhance.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/stills.h"
#include "pipeline/base/stop.h"
#include "pipeline/io/sources/source.h"
#include "apps/enhance/preview.h"
#include "apps/enhance/progress.h"
#include "pipeline/job/job.h"

enum { MAX_INPUTS = 1024 };

typedef struct arguments {
    job job; /* first: the fields of the job's rows are of it */
    const char *out_dir;
    char *chosen; /* owned: the output, where none was given */
    progress_style progress;
    const char *html;
    double preview;
    bool dry_run, json, verbose;
    bool recursive, yes, no;
    overwrite answer; /* of the last two */
    bool quiet, stats;
    const char *metrics, *camera;
} arguments;

static unsigned modes_of(const arguments *a)
{
    return (
        unsigned)((a->job.input.path && picture_pattern(a->job.input.path) ? JOB_MODE_NUMBERED_IN
                                                                           : 0) |
                  (a->job.output && picture_pattern(a->job.output) ? JOB_MODE_NUMBERED_OUT : 0) |
                  (a->preview >= 0 ? JOB_MODE_PREVIEW : 0) | (a->dry_run ? JOB_MODE_DRY_RUN : 0) |
                  (a->job.is_live ? JOB_MODE_LIVE : 0) | (a->out_dir ? JOB_MODE_BATCH : 0));
}

static options_result check_batch(const arguments *a, const command_line *line)
{
    if (!options_suit(&command_enhance, &line->given, modes_of(a)))
        return OPTIONS_BAD;
    if (!line->operands[0])
        return cli_fail(OPTIONS_BAD, "--out-dir: expected files, folders or patterns, found none");
    return OPTIONS_RUN;
}

/* Its time counts from the beginning of the input, like those of the part. */
static bool check_preview(const arguments *a)
{
    if (a->preview < 0 ||
        (a->preview >= a->job.input.start && (!a->job.input.end || a->preview < a->job.input.end)))
        return true;
    return cli_fail(0,
                    "--preview: expected a time within the part that --start, --end and --duration "
                    "select, found %g s",
                    a->preview);
}

/* As most other programs take them, "IN OUT" and "-i IN OUT". */
static options_result tell_operands(const arguments *a, const command_line *line)
{
    char text[MEANT_TEXT];
    const char *const *operands = line->operands;
    const char *first = a->job.input.path ? a->job.input.path : operands[0];
    const char *second = operands[a->job.input.path ? 0 : 1];
    if (!a->job.output && !operands[a->job.input.path ? 1 : 2])
        return cli_fail(OPTIONS_BAD,
                        "expected one input, found %s and %s; to write into the second: %s", first,
                        second,
                        meant_text(text, "enhance", line->argv + 1, line->argc - 1,
                                   meant_output(first), second));
    return cli_fail(OPTIONS_BAD, "expected one input or --out-dir, found %s and %s", first, second);
}

/* The output of a plan that names none: a file of the input's kind, if mona writes that. */
static bool choose_output(arguments *a)
{
    char name[256];
    const char *base = strrchr(a->job.input.path, '/'),
               *dot = strrchr(base ? base : a->job.input.path, '.');
    snprintf(name, sizeof name, "OUT%s", picture_pattern(a->job.input.path) || !dot ? ".mkv" : dot);
    a->chosen = batch_output(".", a->job.input.path, name, a->job.format);
    a->job.output = a->chosen ? a->chosen + strlen("./") : NULL;
    return a->chosen || cli_fail(0, "out of memory");
}

/* What the values say together. */
static options_result complete(arguments *a, const command_line *line)
{
    a->job.given = options_given_of(&command_enhance, &line->given, job_rows, JOB_ROWS);
    a->job.limits = policy_of_service()->limits;
    if (a->job.allow && policy_of_service()->given && !policy_of_service()->playlist)
        return cli_fail(OPTIONS_BAD,
                        "--allow playlist: the policy of this service (MONA_POLICY) does "
                        "not allow it");
    if (!overwrite_read(&a->answer, a->yes, a->no))
        return OPTIONS_BAD;
    pipeline_error error = {0};
    if (!job_complete(&a->job, &error))
        return (options_result)cli_fail_of(&error);
    if (!check_preview(a))
        return OPTIONS_BAD;
    if (a->preview >= 0)
        a->job.input.start = a->preview, a->job.input.end = 0;
    if (a->out_dir)
        return check_batch(a, line);
    const char *const *operands = line->operands;
    if (operands[0] && (a->job.input.path || operands[1]))
        return tell_operands(a, line);
    if (operands[0])
        a->job.input.path = operands[0];
    if (!a->job.input.path)
        return cli_fail(OPTIONS_BAD, "expected an input; usage: mona enhance %s",
                        command_enhance.usage);
    if (!a->job.output && a->dry_run && !a->job.is_live && !choose_output(a))
        return OPTIONS_BAD;
    if (!a->job.output)
        return cli_fail(OPTIONS_BAD, "expected an output: -o OUT");
    return options_suit(&command_enhance, &line->given, modes_of(a)) ? OPTIONS_RUN : OPTIONS_BAD;
}

/* Distinguishes files that cannot be read from those that are not images. */
static bool check_input(const char *path)
{
    pipeline_error error = {0};
    struct stat status;
    if (!stat(path, &status) && S_ISDIR(status.st_mode))
        return cli_fail(0,
                        "%s: expected a video or an image, found a directory; --out-dir enhances "
                        "all that is in one",
                        path);
    return source_check(path, &error) || cli_fail(0, "%s", error.text);
}

/* Data from a pipe can be read only once, but input files are opened more than once. So a named
 * pipe replaces standard input. */
static bool take_pipe(const char **path)
{
    struct stat status;
    if (stat(*path, &status) || !S_ISFIFO(status.st_mode))
        return true;
    const int fd = open(*path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
        return cli_fail(0, "%s: cannot be read: %s", *path, strerror(errno));
    close(fd);
    *path = "-";
    return true;
}

static int fail_no_picture(const char *input)
{
    const char *unread = still_unread(input);
    return cli_fail(EXIT_FAILED,
                    "%s: expected " PICTURE_KINDS ", because the output is a picture, found %s; a "
                    "video can become numbered pictures (%%04d.png) or a --preview",
                    input, unread ? unread : "none of them");
}

/* Copies standard input to its end. picture: it must be one. NULL: one line was printed. */
static FILE *copy_stdin(bool picture)
{
    uint8_t piece[1 << 16];
    size_t got = fread(piece, 1, sizeof piece, stdin);
    if (picture && picture_kind_of(piece, got) == PICTURE_NONE) {
        cli_misuse("--preview: expected a file, or " PICTURE_KINDS " from a pipe, found neither");
        return NULL;
    }
    FILE *copy = tmpfile();
    for (; copy && got > 0; got = fread(piece, 1, sizeof piece, stdin))
        if (fwrite(piece, 1, got, copy) < got)
            break;
    if (copy && !ferror(stdin) && !fflush(copy) && !ferror(copy))
        return copy;
    cli_fail(0, "standard input: cannot be read into a temporary file: %s", strerror(errno));
    if (copy)
        fclose(copy);
    return NULL;
}

static bool is_picture_wanted(const arguments *a)
{
    return !a->job.format && a->preview < 0 && job_makes_picture(a->job.output);
}

/* Pictures, and the input of a preview, are read more than once. A file on standard input can be,
 * and a picture from a pipe is put into one. */
static bool take_piped_picture(arguments *a)
{
    struct stat status;
    const bool preview = a->preview >= 0;
    if (strcmp(a->job.input.path, "-") != 0 || (!preview && !is_picture_wanted(a)))
        return true;
    if (fstat(STDIN_FILENO, &status) || !S_ISREG(status.st_mode) ||
        lseek(STDIN_FILENO, 0, SEEK_CUR)) {
        FILE *copy = copy_stdin(preview);
        const bool taken = copy && dup2(fileno(copy), STDIN_FILENO) >= 0;
        if (copy)
            fclose(copy);
        if (!taken)
            return false;
    }
    a->job.input.path = "/dev/stdin";
    return true;
}

/* Whether input and output match; image: a single picture. Returns the exit status. */
static int check_files(const arguments *a, bool image)
{
    const bool piped = !strcmp(a->job.input.path, "-"),
               numbered = picture_pattern(a->job.input.path);
    if (!check_input(a->job.input.path))
        return EXIT_FAILED;
    if (!image && !piped && !numbered && is_picture_wanted(a))
        return fail_no_picture(a->job.input.path);
    if (a->preview > 0 && image)
        return cli_fail(EXIT_USAGE, "--preview: a picture has only the time 0, found %g s",
                        a->preview);
    if (a->job.is_live && image)
        return cli_fail(EXIT_FAILED, "%s: --live works only on videos, found a picture",
                        a->job.input.path);
    if ((a->dry_run && piped) || (a->html && (piped || !strcmp(a->job.output, "-"))))
        return cli_fail(EXIT_USAGE, "--dry-run and --html need files, found -");
    return EXIT_SUCCESS;
}

static int enhance_one(const arguments *a, job_run *run, progress *shown)
{
    job *settings = &run->job;
    pipeline_error error = {0};
    enhance_report report = {0};

    progress_watch(shown, settings);
    av_log_set_level(a->verbose ? AV_LOG_WARNING : AV_LOG_QUIET);

    if (a->dry_run)
        return dry_run(settings, a->json) ? EXIT_SUCCESS : EXIT_FAILED;
    if (!overwrite_allowed(a->answer, a->job.output, a->job.input.path, a->job.resume,
                           &settings->keep_output))
        return EXIT_FAILED;
    if (a->preview >= 0)
        return preview_write(settings) ? EXIT_SUCCESS : EXIT_FAILED;
    bool good = enhance_run(settings, &report, &error);
    progress_end(shown);
    if (good || (a->job.is_live && report.frames))
        progress_summary(shown, strcmp(a->job.output, "-") ? a->job.output : "standard output",
                         &report);
    if (!good)
        return cli_fail_of(&error);
    if (a->html && !preview_page(settings, &report, shown, a->html))
        return EXIT_FAILED;
    return EXIT_SUCCESS;
}

/* Each file of a batch is enhanced by a process of its own, which confines itself. A plan, a
 * preview and a page come of trials. */
static unsigned to_confine(const arguments *a)
{
    if (a->out_dir)
        return CONFINE_NOT;
    return (unsigned)((a->job.allow ? CONFINE_LISTS : 0) |
                      (a->dry_run || a->html || a->preview >= 0 || !strcmp(a->job.input.path, "-")
                           ? CONFINE_TEMP
                           : 0));
}

static int enhance(void *values, const command_line *line)
{
    arguments *a = values;
    const options_result result = complete(a, line);
    if (result != OPTIONS_RUN)
        return result;
    const int notify = watchdog_open();
    confine(&command_enhance, a, line->operands, to_confine(a));
    pipeline_error error = {0};
    if (!a->out_dir && !limits_apply(&a->job.limits, &error))
        return cli_fail_of(&error);
    if (a->out_dir)
        return batch_run(&(batch_request){.line = line,
                                          .folder = a->out_dir,
                                          .format = a->job.format,
                                          .progress = a->progress,
                                          .recursive = a->recursive,
                                          .quiet = a->quiet,
                                          .dry_run = a->dry_run,
                                          .json = a->json,
                                          .answer = a->answer});
    if (!take_pipe(&a->job.input.path) || !take_piped_picture(a))
        return EXIT_FAILED;

    progress shown = progress_begin(a->quiet, a->progress);
    shown.stats = a->stats;
    shown.metrics = a->metrics;
    shown.notify = notify;
    shown.camera = a->camera;
    shown.keep_latency = a->html || a->stats;
    const bool image = job_takes_picture(a->job.input.path, a->job.output, a->preview >= 0);
    atomic_bool interrupted = false;
    job_run run = {.job = a->job};
    run.job.notes = (pipeline_notes){progress_note, &shown};
    run.job.ends = a->job.is_live ? &interrupted : NULL;
    int status = EXIT_SUCCESS;
    if (a->job.is_live)
        stop_asks(&interrupted);
    if (!job_open(&run, modes_of(a) | (image ? JOB_MODE_PICTURE : 0), &error))
        status = cli_fail_of(&error);
    if (!status)
        status = check_files(a, image);
    if (!status)
        status = enhance_one(a, &run, &shown);
    stop_asks(NULL);
    job_close(&run);
    progress_close(&shown);
    free(a->chosen);
    return status ? status : stop_signal() ? 128 + stop_signal() : EXIT_SUCCESS;
}

static const char files[] = "Input and output", living[] = "Live streams",
                  looking[] = "Preview and reports";

/* Listed behind the job's input and output, */
static const option own_files[] = {
    OVERWRITE_ROWS(arguments, files),
    {"--out-dir", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(arguments, out_dir), "FOLDER", files,
     .help = "enhance many files, folders or 'patterns*' into FOLDER; manifest.json there lists "
             "the result of each file"},
    {"--recursive", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, recursive), NULL, files,
     .help =
         "go into subfolders too, but not into links to folders, and keep their names in FOLDER",
     .needs = "--out-dir"},
};
/* and behind all of the job. */
static const option own[] = {
    {"--metrics", NULL, OPTION_FILE, KEEPS_BYTES, offsetof(arguments, metrics), "FILE", living,
     .help = "write frames, drops, latency and sensors into FILE every second, as text that "
             "Prometheus reads",
     .written = true},
    {"--metrics-label", NULL, OPTION_STRING, KEEPS_BYTES, offsetof(arguments, camera), "NAME",
     living,
     .help = "value of the label camera of every metric, by which those of several runs are told "
             "apart (default: FILE's name without its suffix)",
     .needs = "--metrics"},
    {"--preview", NULL, OPTION_TIME, CHANGES_BYTES, offsetof(arguments, preview), "TIME", looking,
     .help = "enhance only the frame at this time of the input (a picture: 0); OUT, a .png, shows "
             "the part that changes most, before and after"},
    {"--stats", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, stats), NULL, looking,
     .help = "print figures at the end: latency, the time of each step, sensors; as JSON with "
             "--progress json"},
    {"--html", NULL, OPTION_FILE, KEEPS_BYTES, offsetof(arguments, html), "FILE.html", looking,
     .help =
         "write a page about the run, with a slider between before and after, charts and figures",
     .written = true},
    {"--dry-run", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, dry_run), NULL, looking,
     .help =
         "print the plan (stages, sizes, memory, streams), and the speed and the result's bytes as "
         "measured on a few seconds of the input; write nothing; OUT may be left out"},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, json), NULL, looking,
     .help = "print JSON", .needs = "--dry-run"},
    {"--progress", NULL, OPTION_CHOICE, KEEPS_BYTES, offsetof(arguments, progress),
     WORDS_TEXT(PROGRESS_STYLES), "Other",
     .help = "on standard error: a bar for terminals, a plain line every 5 s, or JSON lines",
     .initial = "auto"},
    {"--verbose", "-v", OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, verbose), NULL, "Other",
     .help = "print the warnings of FFmpeg's decoders, encoders and containers too"},
    {"--quiet", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, quiet), NULL, "Other",
     .help = "print only errors"},
};

static const option_rule own_rules[] = {
    {"--overwrite", .idle = JOB_MODE_DRY_RUN, .why = "which writes nothing"},
    {"--no-overwrite", .idle = JOB_MODE_DRY_RUN, .why = "which writes nothing"},
    {"--progress", .idle = JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN, .why = "which is done at once"},
    {"--quiet", .idle = JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN, .why = "which says nothing"},
    {"--metrics", .never = JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN | JOB_MODE_BATCH},
    {"--preview", .never = JOB_MODE_DRY_RUN | JOB_MODE_BATCH},
    {"--stats", .never = JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN},
    {"--html", .never = JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN | JOB_MODE_LIVE | JOB_MODE_BATCH |
                        JOB_MODE_NUMBERED_IN | JOB_MODE_NUMBERED_OUT},
};

const command command_enhance = {
    .name = "enhance",
    .summary = "make a video or a picture larger and cleaner",
    .run = enhance,
    .values = &(arguments){.job = JOB_NONE, .preview = -1},
    .confined = CONFINED_LATER,
    .usage = "IN -o OUT [OPTION]..., or IN... --out-dir FOLDER",
    .description = "Enlarges and denoises a video or a picture. Sound, subtitles, "
                   "timestamps and colours stay as they are.",
    .examples =
        "mona enhance in.mp4 -o out.mp4                   # denoised, then twice the size\n"
        "mona enhance in.mp4 -o out.mp4 -s 3 --tier best  # three times, by the best networks\n"
        "mona enhance in.mp4 -o out.mp4 --height 1080     # any size: enlarged, then reduced\n"
        "mona enhance in.mkv -o out.mkv --stages denoise  # denoised only\n"
        "mona enhance in.mov -o out.mov --crf 16 --preset slow -ss 1:00 -t 20\n"
        "ffmpeg -i in.avi -f yuv4mpegpipe - | mona enhance - -o - | mpv -\n"
        "mona enhance in.mp4 -o out.mp4 --dry-run         # how long will it take?\n"
        "mona enhance in.mp4 -o look.png --preview 12.5   # before and after in one picture\n"
        "mona enhance photo.jpg -o photo_x2.png           # pictures too\n"
        "curl -s URL | mona enhance - -o photo.jpg        # also from standard input\n"
        "mona enhance in/%04d.png -o out.mp4 -r 24        # numbered pictures\n",
    .parts = {{OPTIONS_FROM(job_rows, 0, JOB_RAW), RULES(job_rules)},
              {OPTIONS(own_files), RULES(own_rules)},
              {OPTIONS_FROM(job_rows, JOB_RAW, JOB_ROWS), RULES(job_rules)},
              {OPTIONS(own), RULES(own_rules)}},
    .operands_max = MAX_INPUTS,
    .modes = JOB_MODES,
};
