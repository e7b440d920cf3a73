// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/dry_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cjson/cJSON.h>
#include <libavutil/pixdesc.h>

#include "apps/cli/json_output.h"
#include "apps/cli/options.h"
#include "apps/devices/machine.h"
#include "engine/arith.h"
#include "pipeline/io/outputs/contents.h"
#include "pipeline/io/containers/container.h"
#include "pipeline/io/sources/input.h"
#include "pipeline/stages/stage.h"
#include "pipeline/io/outputs/mux.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/image/stills.h"
#include "apps/cli/table.h"

#define MIB (1024.0 * 1024.0)

/* The first trial determines how many frames a second trial of TEST_RUN_SECONDS has. */
enum { FIRST_FRAMES = 4, MIN_FRAMES = 8, MAX_FRAMES = 120, TEST_RUN_SECONDS = 3 };

/* ---- measuring ------------------------------------------------------------------------------ */

/* The suffix of the result's name; none for standard output. */
static const char *suffix_of(const job *s)
{
    const char *slash = strrchr(s->output, '/'), *dot = strrchr(s->output, '.');
    if (!strcmp(s->output, "-"))
        return s->format ? "" : ".y4m";
    if (picture_pattern(s->output))
        return still_kind(s->output) == PICTURE_JPEG   ? "%d.jpg"
               : still_kind(s->output) == PICTURE_WEBP ? "%d.webp"
                                                       : "%d.png";
    return dot && (!slash || dot > slash) ? dot : "";
}

/* How many frames the result would have; 0: unknown. */
static double expected_frames(const job *s, const input *f, fields_mode made)
{
    const double expected =
        s->stage.still ? 1
                       : ceil((double)input_frame_estimate(f) * av_q2d(fields_kinds[made].made));
    return s->frames && (expected <= 0 || expected > (double)s->frames) ? (double)s->frames
                                                                        : expected;
}

static uint64_t limit_frames(uint64_t frames, const job *s)
{
    const uint64_t most = (uint64_t)s->frames;
    return most && most < frames ? most : frames;
}

/* A picture that takes less than a second is measured itself. Of others, SAMPLE_SIDE x SAMPLE_SIDE
 * pixels are, and MEMORY_SIDE x MEMORY_SIDE for the memory, of which some does not grow with
 * them. */
enum { SAMPLE_SIDE = 512, MEMORY_SIDE = 2048 };

/* How many times larger than a sample of side x side a picture is. */
static double sample_ratio(uint32_t width, uint32_t height, uint32_t side)
{
    return (double)width * height / ((double)side * side);
}

/* Four parts of the picture, from the middle of its quarters, side by side. */
static bool write_sample(const char *path, const job *s, uint32_t side)
{
    const uint32_t half = side / 2;
    pipeline_error error = {0};
    still whole;
    const still_wish wish = {.max_pixels = s->input.max_pixels,
                             .notes = &(const pipeline_notes){0}};
    bool good = still_read(&whole, s->input.path, &wish, &error);
    const size_t pixel = still_pixel_bytes(&whole);
    still part = {.width = side, .height = side, .channels = whole.channels, .depth = whole.depth};
    part.pixels = good ? malloc((size_t)side * side * pixel) : NULL;
    for (uint32_t y = 0; part.pixels && y < side; y++)
        for (uint32_t right = 0; right < 2; right++) {
            const uint32_t width = whole.width, height = whole.height;
            const uint32_t column = (width - min_u32(width, half)) * (1 + 2 * right) / 4;
            const uint32_t row = (height - min_u32(height, half)) * (1 + 2 * (y / half)) / 4;
            const uint32_t columns = min_u32(width, half);
            uint8_t *to = part.pixels + ((size_t)side * y + half * right) * pixel;
            for (uint32_t x = 0; x < half; x += columns)
                memcpy(to + x * pixel,
                       whole.pixels + ((size_t)(row + y % half % height) * width + column) * pixel,
                       min_u32(columns, half - x) * pixel);
        }
    if (good)
        good = part.pixels ? still_write(&part, NULL, &(still_output){.path = path}, &error)
                           : pipeline_fail(&error, "out of memory");
    free(part.pixels);
    still_free(&whole);
    return good || !cli_fail_of(&error);
}

/* From now on the peak is that of what follows, which finds no memory that was freed before. Where
 * the system cannot do that, it is too high. */
static void forget_peak(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    FILE *peak = fopen("/proc/self/clear_refs", "w");
    if (peak)
        fputs("5", peak), fclose(peak);
}

/* libwebp takes more memory for sharp edges than for those that the filter makes: 3.6 bytes a pixel
 * in a drawn picture, nothing in a photograph. */
enum { WEBP_SHARP = 5 };

/* The process's memory on the whole picture. A run with a filter in place of the networks finds
 * what reading and writing take. The networks' memory is known. */
static bool measure_memory(double *bytes, const job *s, const enhance_report *whole,
                           const char *path)
{
    test_run t;
    const double larger = sample_ratio(whole->in_width, whole->in_height, MEMORY_SIDE);
    job plain = *s;
    plain.count = 1;
    plain.kinds[0] = STAGE_RESIZE;
    plain.notes = (pipeline_notes){0};
    if (!(plain.stage.resize.x > 0))
        plain.stage.resize.x = plain.stage.resize.y = (double)whole->out_width / whole->in_width;
    if (larger > 1) {
        plain.input.path = path;
        if (!write_sample(path, s, MEMORY_SIDE))
            return false;
    }
    forget_peak();
    const double before = machine_peak_bytes();
    const bool good = test_run_make(&t, &plain, suffix_of(s), 1);
    const double taken = machine_peak_bytes() - before - (double)t.report.engine_bytes -
                         (double)t.report.frame_bytes;
    *bytes =
        before + taken * fmax(larger, 1) + (double)whole->engine_bytes + (double)whole->frame_bytes;
    if (still_kind(s->output) == PICTURE_WEBP)
        *bytes += WEBP_SHARP * (double)whole->out_width * whole->out_height;
    test_run_close(&t);
    return good;
}

/* Sizes and memory are those of the whole picture; only the time is scaled up from the sample. */
static bool measure_sample(test_run *t, const job *s, const still *head, double *bytes)
{
    pipeline_error error = {0};
    enhance_report whole = {0};
    temp_folder folder = {0};
    char path[TEMP_FOLDER_PATH];
    job sample = *s;
    sample.input.path = path;
    job plan = *s;
    plan.plan = true;
    if (!enhance_run(&plan, &whole, &error))
        return !cli_fail_of(&error);
    if (!temp_folder_open(&folder))
        return false;
    snprintf(path, sizeof path, "%s/sample.png", folder.path);
    const bool good = measure_memory(bytes, s, &whole, path) &&
                      write_sample(path, s, SAMPLE_SIDE) &&
                      test_run_make(t, &sample, suffix_of(s), 1);
    temp_folder_close(&folder);
    if (good) {
        t->seconds *= sample_ratio(head->width, head->height, SAMPLE_SIDE);
        whole.frames = 1;
        t->report = whole;
    }
    return good;
}

static bool measure(test_run *t, const job *s, const input *f)
{
    if (!test_run_make(t, s, suffix_of(s), limit_frames(FIRST_FRAMES, s)))
        return false;
    const double each = t->seconds / (double)t->report.frames;
    const double wanted = fmin(fmax(TEST_RUN_SECONDS / each, MIN_FRAMES), MAX_FRAMES);
    if (s->stage.still || t->report.frames < FIRST_FRAMES)
        return true;
    job quiet = *s; /* the messages have been printed already */
    quiet.notes = (pipeline_notes){0};
    const double expected = expected_frames(s, f, t->report.made);
    quiet.fill = expected > 0 ? (uint64_t)expected : UINT64_MAX;
    test_run_close(t);
    return test_run_make(t, &quiet, suffix_of(s), limit_frames((uint64_t)wanted, s));
}

/* ---- the plan as JSON ------------------------------------------------------------------------ */

/* The fate of a stream. container NULL: the result is a picture. */
static const char *fate_of(const input *f, const AVStream *stream, const AVOutputFormat *container,
                           const sound_choice *sound)
{
    if (sound->mode == SOUND_NONE && stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO)
        return "left out";
    if (stream == f->video)
        return "enhanced";
    if (container && container_regenerates(f->format, stream))
        return "made anew";
    if (container && contents_converts(container, stream, sound))
        return "converted";
    return container && !container_holds(container, stream) ? "left out" : "copied";
}

static void add_streams(cJSON *plan, const input *f, const AVOutputFormat *container,
                        const sound_choice *sound)
{
    cJSON *streams = cJSON_AddArrayToObject(plan, "streams");
    for (unsigned i = 0; i < f->format->nb_streams; i++) {
        const AVStream *stream = f->format->streams[i];
        const char *kind = av_get_media_type_string(stream->codecpar->codec_type);
        const AVDictionaryEntry *language = av_dict_get(stream->metadata, "language", NULL, 0);
        cJSON *row = json_add_object(streams);
        JSON_ADD(row, NUMBER("stream", i), TEXT("kind", kind ? kind : "unknown"),
                 TEXT("codec", avcodec_get_name(stream->codecpar->codec_id)),
                 TEXT("language", language ? language->value : ""),
                 TEXT("what", fate_of(f, stream, container, sound)));
    }
}

static cJSON *add_input(cJSON *plan, const job *s, const input *f, const enhance_report *r)
{
    const AVRational rate = av_guess_frame_rate(f->format, f->video, NULL);
    const char *format = av_get_pix_fmt_name(f->video->codecpar->format);
    cJSON *input = cJSON_AddObjectToObject(plan, "input");
    JSON_ADD(input, TEXT("file", s->input.path), NUMBER("width", r->in_width),
             NUMBER("height", r->in_height), TEXT("pixel_format", format ? format : "unknown"),
             TEXT("codec", avcodec_get_name(f->video->codecpar->codec_id)));
    if (rate.num > 0 && rate.den > 0)
        cJSON_AddNumberToObject(input, "fps", av_q2d(rate));
    const int64_t bytes = input_bytes(f);
    if (bytes > 0 && s->input.start <= 0 && s->input.end <= 0 && !s->frames)
        cJSON_AddNumberToObject(input, "bytes", (double)bytes);
    return input;
}

/* The time of a step per frame, in ms. */
static double step_ms(const test_run *t, unsigned step)
{
    uint64_t spent[CHAIN_MAX_STEPS];
    step_clock_read(&t->clock, spent);
    return 1e-6 * (double)spent[step] / (double)t->report.frames;
}

static void add_stages(cJSON *plan, const job *s, const test_run *t)
{
    const enhance_report *r = &t->report;
    pipeline_error unused = {0}; /* cannot fail: the trial found the scales */
    cJSON *stages = cJSON_AddArrayToObject(plan, "stages");
    uint32_t width = r->in_width, height = r->in_height;
    char size[32];
    for (unsigned i = 0; i < s->count; i++) {
        const bool sr = s->kinds[i] == STAGE_SR;
        const unsigned scale =
            sr ? model_scale(s->stage.sr[i], s->stage.devices.at[0], &unused) : 1;
        cJSON *row = json_add_object(stages);
        JSON_ADD(row, TEXT("stage", stage_name(s->kinds[i])), TEXT("model", job_network(s, i)));
        if (s->kinds[i] == STAGE_DENOISE && !s->stage.still)
            cJSON_AddBoolToObject(row, "steady", s->stage.temporal);
        snprintf(size, sizeof size, "%ux%u", width, height);
        cJSON_AddStringToObject(row, "from", size);
        width = s->kinds[i] == STAGE_RESIZE ? r->out_width : width * scale;
        height = s->kinds[i] == STAGE_RESIZE ? r->out_height : height * scale;
        snprintf(size, sizeof size, "%ux%u", width, height);
        cJSON_AddStringToObject(row, "to", size);
        if (!s->stage.still)
            cJSON_AddNumberToObject(row, "ms", round(100 * step_ms(t, PROBE_STAGE + i)) / 100);
    }
}

static void add_measured(cJSON *plan, const test_run *t, double expected, double process)
{
    const double margin = 1.06; /* for what differs from run to run and from frame to frame */
    const enhance_report *r = &t->report;
    const double frames = (double)r->frames, rate = frames / t->seconds;
    cJSON *memory = cJSON_AddObjectToObject(plan, "memory");
    JSON_ADD(memory, NUMBER("engine_bytes", r->engine_bytes), NUMBER("frame_bytes", r->frame_bytes),
             NUMBER("process_bytes", round(margin * process)));
    cJSON *speed = cJSON_AddObjectToObject(plan, "speed");
    JSON_ADD(speed, NUMBER("measured_frames", frames), NUMBER("fps", rate),
             NUMBER("decode_ms", step_ms(t, PROBE_DECODE)),
             NUMBER("encode_ms", step_ms(t, t->clock.steps - 1)));
    if (expected > 0) {
        JSON_ADD(speed, NUMBER("expected_frames", round(expected)),
                 NUMBER("estimated_seconds", expected / rate));
    }
}

static cJSON *plan_of(const job *s, const test_run *t, input *f, bool sampled, double process)
{
    pipeline_error unused = {0}; /* cannot fail: the trial had a container */
    const enhance_report *r = &t->report;
    cJSON *plan = cJSON_CreateObject();
    const bool image = s->stage.still;
    const double expected = expected_frames(s, f, r->made);
    add_input(plan, s, f, r);
    cJSON *output = cJSON_AddObjectToObject(plan, "output");
    JSON_ADD(output, TEXT("file", s->output), NUMBER("width", r->out_width),
             NUMBER("height", r->out_height));
    const double bytes = expected <= 0 ? 0 : size_estimate(t, f, expected);
    if (bytes > 0)
        cJSON_AddNumberToObject(
            output, "estimated_bytes",
            round(bytes * (sampled ? sample_ratio(r->in_width, r->in_height, SAMPLE_SIDE) : 1)));
    enhance_describe(plan, s, r);
    add_stages(plan, s, t);
    add_measured(plan, t, expected, process);
    if (sampled)
        cJSON_AddNumberToObject(json_get(plan, "speed"), "sample_side", SAMPLE_SIDE);
    add_streams(plan, f, image ? NULL : mux_format(s->output, s->format, &unused), &s->sound);
    return plan;
}

/* ---- the plan for people --------------------------------------------------------------------- */

static void print_speed(const cJSON *speed)
{
    const double frames = json_number(speed, "measured_frames");
    const unsigned long s = (unsigned long)(json_number(speed, "estimated_seconds") + 0.5);
    printf("\nspeed\n  %.2f frames a second, decoding (%.1f ms) and encoding (%.1f ms) included\n",
           json_number(speed, "fps"), json_number(speed, "decode_ms"),
           json_number(speed, "encode_ms"));
    const double side = json_number(speed, "sample_side");
    if (side > 0)
        printf("  measured on this machine, just now, on %.0fx%.0f of its pixels\n", side, side);
    else
        printf("  measured on this machine, just now, on %.0f frame%s of this file\n", frames,
               frames == 1 ? "" : "s");
    const double expected = json_number(speed, "expected_frames");
    if (expected > 0)
        printf("  %.0f frame%s would take about %lu:%02lu:%02lu\n", expected,
               expected == 1 ? "" : "s", s / 3600, s / 60 % 60, s % 60);
}

/* bytes 0: unknown */
static void print_size(const cJSON *plan, double bytes)
{
    const cJSON *speed = json_get(plan, "speed");
    const double measured = json_number(speed, "measured_frames");
    char text[32];
    size_estimate_text(text, sizeof text, bytes);
    if (bytes > 0 && measured >= json_number(speed, "expected_frames"))
        printf("size: about %s, as encoded just now\n", text);
    else if (bytes > 0)
        printf("size: about %s, scaled up from %.0f encoded frames; may be off by a third\n", text,
               measured);
    const double in = json_number(json_get(plan, "input"), "bytes");
    if (in > 0 && bytes >= ENHANCE_MANY_TIMES * in)
        printf("      %.0f times the input\n", bytes / in);
}

static void print_plan(const cJSON *plan)
{
    static const char *const stage_keys[] = {"stage", "model", "from", "to", "ms"};
    static const char *const stream_keys[] = {"stream", "kind", "codec", "language", "what"};
    const cJSON *input = json_get(plan, "input");
    const cJSON *output = json_get(plan, "output");
    const cJSON *memory = json_get(plan, "memory");
    char text[4][256];
    printf("%s: %.0fx%.0f %s, %s\n", table_cell(input, "file", text[0], sizeof text[0]),
           json_number(input, "width"), json_number(input, "height"),
           table_cell(input, "pixel_format", text[1], sizeof text[1]),
           table_cell(input, "codec", text[2], sizeof text[2]));
    printf("%s: %.0fx%.0f, not written\n", table_cell(output, "file", text[3], sizeof text[3]),
           json_number(output, "width"), json_number(output, "height"));
    print_size(plan, json_number(output, "estimated_bytes"));
    if (cJSON_HasObjectItem(plan, "encoder"))
        printf("encoder: %s\n", table_cell(plan, "encoder", text[0], sizeof text[0]));
    printf("\nstages\n");
    table_print(json_get(plan, "stages"), stage_keys, 5);
    printf("\nmemory\n  %.1f MiB: engine %.1f, frames %.1f; the whole process up to %.0f MiB\n",
           (json_number(memory, "engine_bytes") + json_number(memory, "frame_bytes")) / MIB,
           json_number(memory, "engine_bytes") / MIB, json_number(memory, "frame_bytes") / MIB,
           json_number(memory, "process_bytes") / MIB);
    print_speed(json_get(plan, "speed"));
    printf("\nstreams\n");
    table_print(json_get(plan, "streams"), stream_keys, 5);
}

bool dry_run(const job *settings, bool json)
{
    pipeline_error error = {0};
    input f;
    const input_settings as = {.path = settings->input.path,
                               .raw = settings->input.raw,
                               .rate = settings->input.rate,
                               .max_pixels = settings->input.max_pixels,
                               .start = settings->input.start,
                               .end = settings->input.end,
                               .as_decoded = true};
    test_run t = {0};
    still head = {0};
    double process = 0;
    const bool sampled = settings->stage.still && still_read_head(&head, settings->input.path) &&
                         sample_ratio(head.width, head.height, SAMPLE_SIDE) > 1;
    bool good = input_open(&f, &as, &error) || !cli_fail_of(&error);
    good = good &&
           (sampled ? measure_sample(&t, settings, &head, &process) : measure(&t, settings, &f));
    cJSON *plan =
        good ? plan_of(settings, &t, &f, sampled, sampled ? process : machine_peak_bytes()) : NULL;
    if (plan)
        enhance_describe_options(plan, settings);
    if (json && good)
        good = json_print(plan) == EXIT_SUCCESS;
    else if (plan)
        print_plan(plan);
    cJSON_Delete(plan);
    input_close(&f);
    test_run_close(&t);
    still_free(&head);
    return good;
}
