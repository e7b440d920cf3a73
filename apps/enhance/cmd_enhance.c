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
#include "apps/enhance/dry_run.h"
#include "pipeline/enhance.h"
#include "pipeline/image/picture_list.h"
#include "pipeline/image/stills.h"
#include "apps/enhance/preview.h"
#include "apps/enhance/progress.h"
#include "apps/enhance/stage_list.h"
#include "apps/enhance/stage_models.h"

enum { MOST_INPUTS = 1024 };

typedef struct arguments {
    const char *input, *output, *out_dir;
    const char *operands[MOST_INPUTS + 1];
    const char *stages, *sr, *denoise, *strength, *colour, *colour_model, *device, *cpu, *preset,
        *codec, *format, *raw;
    const char *progress, *html, *scale, *rate, *tier, *content, *temporal;
    const char *deinterlace, *on_error;
    double preview;
    bool dry_run, json, verbose;
    option_list encoder;
    const char *threads;
    long strip_rows, frames;
    double start, crf;
    bool resume, recursive;
    long segment_frames;
    bool match_bitrate, drop_unsupported, quiet, stats;
} arguments;

static options_result check_batch(const arguments *a)
{
    if (a->output || a->input || a->html || a->preview >= 0 || a->dry_run) {
        cli_fail(0, "enhance: --out-dir takes files, folders and patterns, without -i, -o, --html, "
                    "--preview and --dry-run");
        return OPTIONS_BAD;
    }
    if (!a->operands[0]) {
        cli_fail(0, "enhance: expected inputs for --out-dir");
        return OPTIONS_BAD;
    }
    return OPTIONS_RUN;
}

static options_result parse(arguments *a, int argc, char **argv)
{
    options_result result = options_parse(&command_enhance, a, argc, argv, a->operands);
    if (result != OPTIONS_RUN)
        return result;
    if (a->out_dir)
        return check_batch(a);
    if (a->recursive) {
        cli_fail(0, "enhance: --recursive is for folders and --out-dir");
        return OPTIONS_BAD;
    }
    const char *const *operands = a->operands;
    if (operands[0] && (a->input || operands[1])) {
        cli_fail(0, "enhance: expected one input or --out-dir, found %s and %s%s", operands[0],
                 a->input ? "-i " : "", a->input ? a->input : operands[1]);
        return OPTIONS_BAD;
    }
    if (operands[0])
        a->input = operands[0];
    if (!a->input) {
        cli_fail(0, "enhance: expected an input; usage: mona enhance %s", command_enhance.usage);
        return OPTIONS_BAD;
    }
    if (!a->output) {
        cli_fail(0, "enhance: expected -o OUT");
        return OPTIONS_BAD;
    }
    return result;
}

/* What is done unless told. */
static const char *usual_stages(const char *scale, bool image)
{
    const bool keep = scale && !strcmp(scale, "1");
    return keep ? "denoise" : image ? "sr" : VIDEO_STAGES;
}

static bool parse_strength(double *strength, const char *text)
{
    char *end;
    if (!strcmp(text, "auto")) {
        *strength = -1;
        return true;
    }
    *strength = strtod(text, &end);
    if (end != text && !*end && *strength >= 0 && *strength <= 1)
        return true;
    cli_fail(0, "--strength: expected auto or a number from 0 to 1, found '%s'", text);
    return false;
}

static bool has_colour(const stage_list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->kinds[i] == STAGE_COLOUR)
            return true;
    return false;
}

/* Colours are enhanced by --stages, fully unless --colour says how much, or by --colour last. */
static bool parse_colour(double *strength, stage_list *list, const arguments *a)
{
    char *end;
    *strength = a->colour ? strtod(a->colour, &end) : 1;
    if (a->colour && (end == a->colour || *end || !(*strength >= 0 && *strength <= 1)))
        return cli_fail(0, "--colour: expected a number from 0 to 1, found '%s'", a->colour);
    if (!a->colour || has_colour(list))
        return true;
    if (a->stages)
        return cli_fail(0, "--colour: expected colour among --stages, found '%s'", a->stages);
    list->kinds[list->count++] = STAGE_COLOUR; /* the usual ones are fewer than there may be */
    return true;
}

/* "2", of the networks alone, or "1:2:2". */
static bool parse_threads(enhance_settings *s, const char *text)
{
    unsigned load = 0, proc = 0, save = 0;
    char rest;
    const bool single = sscanf(text, "%3u%c", &proc, &rest) == 1 && proc;
    if ((!single && sscanf(text, "%3u:%3u:%3u%c", &load, &proc, &save, &rest) != 3) ||
        load > MONA_MAX_THREADS || proc > MONA_MAX_THREADS || save > MONA_MAX_THREADS) {
        cli_fail(0,
                 "--threads: expected a number from 1 to %d, or three from 0 as in 1:2:2, found "
                 "'%s'",
                 MONA_MAX_THREADS, text);
        return false;
    }
    s->decode_threads = load;
    s->stage.threads = proc;
    s->encoder.threads = save;
    return true;
}

static bool parse_device(stage_settings *stage, const char *name)
{
    stage->device = mona_device_find(name);
    if (!stage->device)
        cli_fail(0, "--device: expected one that mona devices lists, found '%s'", name);
    return stage->device;
}

static bool makes_one_picture(const arguments *a)
{
    return still_can_write(a->output) && !picture_pattern(a->output) && a->preview < 0;
}

/* Of an animated PNG too, if the output is to be one. */
static bool takes_one_picture(const arguments *a)
{
    return still_is_image(a->input) && (makes_one_picture(a) || !still_is_animated(a->input));
}

/* film: not pictures, of which each was stored on its own. */
static model_choice choose_models(const arguments *a, bool film)
{
    return (model_choice){.sr = a->sr,
                          .denoise = a->denoise,
                          .colour = a->colour_model,
                          .tier = a->tier,
                          .scale = a->scale ? (unsigned)strtoul(a->scale, NULL, 10) : 0,
                          .video = a->content ? !strcmp(a->content, "video") : film};
}

/* A file that cannot be read is told apart from one that is no image. */
static bool check_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        cli_fail(0, "%s: cannot be read: %s", path, strerror(errno));
        return false;
    }
    fclose(file);
    return true;
}

/* What came through a pipe is gone once it was read, and input files are opened more than once: a
 * named one takes standard input's place. */
static bool take_pipe(const char **path)
{
    struct stat status;
    if (stat(*path, &status) || !S_ISFIFO(status.st_mode))
        return true;
    const int fd = open(*path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, STDIN_FILENO) < 0) {
        cli_fail(0, "%s: cannot be read: %s", *path, strerror(errno));
        return false;
    }
    close(fd);
    *path = "-";
    return true;
}

static int run(const arguments *a, enhance_settings *settings, progress *shown, bool image)
{
    pipeline_error error = {0};
    enhance_report report = {0};

    progress_watch(shown, settings);
    av_log_set_level(a->verbose ? AV_LOG_WARNING : AV_LOG_QUIET);
    setenv("SVT_LOG", "-1", 0); /* the AV1 encoder's own way of being told to be quiet */

    if (a->dry_run)
        return dry_run(settings, image, a->json) ? EXIT_SUCCESS : EXIT_FAILED;
    if (a->preview >= 0)
        return preview_write(settings) ? EXIT_SUCCESS : EXIT_FAILED;
    bool good =
        image ? enhance_still(settings, &report, &error) : enhance_video(settings, &report, &error);
    progress_end(shown);
    if (!good)
        return cli_fail(EXIT_FAILED, "%s", error.text);
    progress_summary(shown, strcmp(a->output, "-") ? a->output : "standard output", &report);
    if (a->html && !preview_page(settings, &report, shown, a->html))
        return EXIT_FAILED;
    return EXIT_SUCCESS;
}

static int enhance(int argc, char **argv)
{
    arguments a = {.crf = -1, .preview = -1};
    stage_models models = {0};
    stage_list stages;
    options_result result = parse(&a, argc, argv);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELP ? EXIT_SUCCESS : EXIT_USAGE;
    if (a.out_dir)
        return batch_run(argc, argv, a.operands, a.out_dir, a.recursive);
    if (!take_pipe(&a.input))
        return EXIT_FAILED;

    progress shown = progress_begin(a.quiet, a.progress);
    shown.stats = a.stats;
    shown.keep_latency = a.html || a.stats;
    enhance_settings settings = {
        .input = a.input,
        .output = a.output,
        .stage = {.cpu = a.cpu, .strip_rows = (unsigned)a.strip_rows},
        .start = a.preview >= 0 ? a.preview : a.start,
        .frames = (uint64_t)a.frames,
        .raw = a.raw,
        .rate = a.rate,
        .format = a.format,
        .deinterlace = !strcmp(a.deinterlace, "auto"),
        .stop_on_error = !strcmp(a.on_error, "stop"),
        .drop_unsupported = a.drop_unsupported,
        .resume = a.resume,
        .segment_frames = (uint64_t)a.segment_frames,
        .encoder = {.codec = a.codec ? codec_find(a.codec) : NULL,
                    .crf = a.crf,
                    .preset = a.preset,
                    .options = a.encoder.items,
                    .option_count = a.encoder.count,
                    .match_bitrate = a.match_bitrate},
        .notes = {progress_note, &shown},
    };
    if (!parse_strength(&settings.stage.strength, a.strength) ||
        (a.threads && !parse_threads(&settings, a.threads)) ||
        !parse_device(&settings.stage, a.device))
        return EXIT_USAGE;
    bool piped = !strcmp(a.input, "-");
    const bool numbered = picture_pattern(a.input);
    if (!piped && !numbered && !check_input(a.input))
        return EXIT_FAILED;
    bool image = !piped && !numbered && takes_one_picture(&a);
    if (!image && !piped && !numbered && !a.format && makes_one_picture(&a))
        return cli_fail(
            EXIT_FAILED,
            "%s: expected a picture (PNG, JPEG, WebP, BMP or TIFF), as the output is to be one, "
            "found none; of a video make numbered pictures (%%04d.png) or a --preview",
            a.input);
    if (a.preview >= 0 && image)
        return cli_fail(EXIT_FAILED, "%s: --preview is for videos, found an image", a.input);
    if (a.html && (numbered || picture_pattern(a.output)))
        return cli_fail(EXIT_USAGE, "--html compares videos, found numbered pictures");
    if (((a.preview >= 0 || a.dry_run) && piped) || (a.html && (piped || !strcmp(a.output, "-"))))
        return cli_fail(EXIT_USAGE,
                        "--preview, --dry-run and --html want files to look at, found -");
    if (!stage_list_read(&stages, a.stages ? a.stages : usual_stages(a.scale, image), false) ||
        !parse_colour(&settings.stage.colour_strength, &stages, &a))
        return EXIT_USAGE;

    int status = EXIT_FAILED;
    settings.stage.steady = !strcmp(a.temporal, "on");
    const model_choice choice = choose_models(&a, !image && !numbered);
    if (stage_models_open(&models, &choice, &stages, &settings))
        status = run(&a, &settings, &shown, image);
    stage_models_close(&models);
    progress_close(&shown);
    return status;
}

static const char files[] = "Input and output", work[] = "What is done", encoding[] = "Encoding",
                  computing[] = "Computing", looking[] = "Looking at it";

static const option options[] = {
    {"--input", "-i", OPTION_FILE, offsetof(arguments, input), "FILE", files,
     .help = "what to enhance; IN alone means the same; - is standard input, in/%04d.png numbered "
             "pictures"},
    {"--output", "-o", OPTION_FILE, offsetof(arguments, output), "FILE", files,
     .help = "where the result goes; - is standard output, out/%04d.png numbered pictures"},
    {"--out-dir", NULL, OPTION_FILE, offsetof(arguments, out_dir), "FOLDER", files,
     .help =
         "enhance many files, folders or 'patterns*' into it; manifest.json says how each went"},
    {"--recursive", NULL, OPTION_FLAG, offsetof(arguments, recursive), NULL, files,
     .help = "with --out-dir: folders in folders too, which keep their names there"},
    {"--format", "-f", OPTION_STRING, offsetof(arguments, format), "NAME", files,
     .help = "container of the output (default by its name; y4m on standard output)",
     .values = "mp4 mov matroska webm avi mpegts nut y4m rawvideo"},
    {"--raw", NULL, OPTION_STRING, offsetof(arguments, raw), "WxH:FORMAT:RATE", files,
     .help = "the input is frames without a header, e.g. 1280x720:yuv420p:25"},
    {"--fps", "-r", OPTION_STRING, offsetof(arguments, rate), "RATE", files,
     .help = "of numbered pictures in/%04d.png (default 25)", .values = "24 24000/1001 25 30 60"},
    {"--on-error", NULL, OPTION_CHOICE, offsetof(arguments, on_error), "skip|stop", files,
     .help = "at damage in the input: go on and count, or fail", .initial = "skip"},
    {"--resume", NULL, OPTION_FLAG, offsetof(arguments, resume), NULL, files,
     .help = "keep finished segments in OUT.resume, and go on from those that are there"},
    {"--segment", NULL, OPTION_WHOLE, offsetof(arguments, segment_frames), "N", files,
     .help = "frames in a segment of --resume (default some seconds' worth)", .minimum = 1,
     .maximum = 1e6},
    {"--drop-unsupported", NULL, OPTION_FLAG, offsetof(arguments, drop_unsupported), NULL, files,
     .help = "leave out what the container cannot hold, rather than fail"},
    {"--start", NULL, OPTION_NUMBER, offsetof(arguments, start), "SECONDS", files,
     .help = "leave out the beginning", .maximum = 1e9},
    {"--frames", NULL, OPTION_WHOLE, offsetof(arguments, frames), "N", files,
     .help = "stop after N frames (default all)", .minimum = 1, .maximum = 1e15},
    {"--stages", NULL, OPTION_STRING, offsetof(arguments, stages), "LIST", work,
     .help = "what to do, in order: sr, denoise, colour (default " VIDEO_STAGES
             "; images sr, or denoise at --scale 1)",
     .values = "sr denoise colour denoise,sr sr,denoise sr,sr denoise,sr,colour"},
    {"--scale", "-s", OPTION_CHOICE, offsetof(arguments, scale), "1|2|3|4|6|8|9|12", work,
     .help = "how many times larger sr makes it (default 2), in one step or several: 4 is 2 x 2 "
             "where the tier has no network for 4, 6 is 2 x 3; --dry-run tells"},
    {"--tier", NULL, OPTION_CHOICE, offsetof(arguments, tier), NETWORK_TIERS, work,
     .help = "networks inside mona, from quick to good, each with several times the arithmetic of "
             "the one before; what a tier lacks is taken from the next lower",
     .initial = "fast"},
    {"--content", NULL, OPTION_CHOICE, offsetof(arguments, content), "clean|video", work,
     .help = "clean, or compressed as video is, whose damage networks made for it do not sharpen "
             "(default video for videos, clean for images)"},
    {"--sr", NULL, OPTION_FILE, offsetof(arguments, sr), "MODEL", work,
     .help = "another super-resolution .mona, or one inside mona by its name"},
    {"--denoise", NULL, OPTION_FILE, offsetof(arguments, denoise), "MODEL", work,
     .help = "another denoising .mona, or one inside mona by its name"},
    {"--strength", NULL, OPTION_STRING, offsetof(arguments, strength), "S", work,
     .help =
         "of denoising: auto, or 0 to 1, where 1 stands for noise of 50 steps; auto: of the noise "
         "that is found, or for --content video of what the decoder's quantiser tells that "
         "compression left, if that is more",
     .initial = "auto", .values = "auto"},
    {"--colour", NULL, OPTION_STRING, offsetof(arguments, colour), "S", work,
     .help = "how much of what the colour network advises on tone and colour is done, 0 (none) to "
             "1; alone: add that stage as the last (default: no such stage)"},
    {"--colour-model", NULL, OPTION_FILE, offsetof(arguments, colour_model), "MODEL", work,
     .help = "another colour .mona"},
    {"--temporal", NULL, OPTION_CHOICE, offsetof(arguments, temporal), "on|off", work,
     .help =
         "steady what is denoised by the frame before, where that stands still, so that it does "
         "not flicker; off: each frame on its own, as pictures are",
     .initial = "on"},
    {"--deinterlace", NULL, OPTION_CHOICE, offsetof(arguments, deinterlace), "auto|off", work,
     .help = "make interlaced frames whole, marked as such or not", .initial = "auto"},
    {"--codec", "-c", OPTION_CHOICE, offsetof(arguments, codec),
     "h264|hevc|av1|vp9|ffv1|prores|rawvideo", encoding,
     .help = "codec of the result (default the first of these that the container holds, and that "
             "holds the video's pixel format)"},
    {"--crf", NULL, OPTION_NUMBER, offsetof(arguments, crf), "N", encoding,
     .help = "quality, lower is better (default h264 18, hevc 20, av1 28, vp9 24)", .maximum = 63},
    {"--match-bitrate", NULL, OPTION_FLAG, offsetof(arguments, match_bitrate), NULL, encoding,
     .help = "as many bits a second as the input, in place of a quality"},
    {"--preset", NULL, OPTION_STRING, offsetof(arguments, preset), "NAME", encoding,
     .help = "speed of the encoder (default h264, hevc medium; av1 8 of 0-13; vp9 3 of 0-8)",
     .values = "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo"},
    {"--encoder-option", "-e", OPTION_LIST, offsetof(arguments, encoder), "KEY=VALUE", encoding,
     .help = "an option of libav's encoder; may be given again"},
    {"--threads", "-j", OPTION_STRING, offsetof(arguments, threads), "LOAD:PROC:SAVE", computing,
     .help = "threads of the decoder, of each network and of the encoder, 0 to leave it to them; "
             "a single number is of each network (default 0:0:0, one per core)"},
    OPTION_DEVICE(offsetof(arguments, device), computing),
    OPTION_CPU(offsetof(arguments, cpu), computing),
    {"--strip-rows", "-t", OPTION_WHOLE, offsetof(arguments, strip_rows), "N", computing,
     .help = "rows a step of the planner produces (default the planner's choice)", .minimum = 1,
     .maximum = MONA_MAX_SIDE},
    {"--preview", NULL, OPTION_NUMBER, offsetof(arguments, preview), "SECONDS", looking,
     .help = "enhance the frame at that time alone, and write its left half as it was beside its "
             "right half as it becomes to OUT, a .png",
     .maximum = 1e9},
    {"--stats", NULL, OPTION_FLAG, offsetof(arguments, stats), NULL, looking,
     .help = "end with figures: latency, steps, sensors; in JSON with --progress json"},
    {"--html", NULL, OPTION_FILE, offsetof(arguments, html), "FILE.html", looking,
     .help = "when done, write a page with a slider between before and after, charts and facts"},
    {"--dry-run", NULL, OPTION_FLAG, offsetof(arguments, dry_run), NULL, looking,
     .help = "print the plan: stages, sizes, memory, streams, and the speed of a few seconds' real "
             "run; nothing is written"},
    {"--json", NULL, OPTION_FLAG, offsetof(arguments, json), NULL, looking,
     .help = "with --dry-run: one JSON object"},
    {"--progress", NULL, OPTION_CHOICE, offsetof(arguments, progress), PROGRESS_STYLES, "Other",
     .help = "on stderr: a bar for terminals, plain lines every 5 s, or JSON lines",
     .initial = "auto"},
    {"--verbose", "-v", OPTION_FLAG, offsetof(arguments, verbose), NULL, "Other",
     .help = "let libav's decoders, encoders and containers say what they warn of"},
    {"--quiet", NULL, OPTION_FLAG, offsetof(arguments, quiet), NULL, "Other",
     .help = "print nothing but errors"},
};

const command command_enhance = {
    .name = "enhance",
    .summary = "make a video or a picture larger and cleaner",
    .run = enhance,
    .usage = "IN -o OUT [OPTION]..., or IN... --out-dir FOLDER",
    .description = "Enlarges and denoises a video (or a picture); sound, subtitles, timestamps "
                   "and colour stay as they are.",
    .examples =
        "mona enhance in.mp4 -o out.mp4                   # denoised, then twice the size\n"
        "mona enhance in.mp4 -o out.mp4 -s 3 --tier best  # three times, as good as can be\n"
        "mona enhance in.mkv -o out.mkv --stages denoise  # only denoised\n"
        "mona enhance in.mov -o out.mov --crf 16 --preset slow --start 60 --frames 500\n"
        "ffmpeg -i in.avi -f yuv4mpegpipe - | mona enhance - -o - | mpv -\n"
        "mona enhance in.mp4 -o out.mp4 --dry-run         # how long will it take?\n"
        "mona enhance in.mp4 -o look.png --preview 12.5   # before and after, one picture\n"
        "mona enhance photo.jpg -o photo_x2.png           # pictures too\n"
        "mona enhance in/%04d.png -o out.mp4 -r 24        # numbered pictures\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_max = MOST_INPUTS,
};
