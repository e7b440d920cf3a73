// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/image/stills.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/job/devices.h"
#include "pipeline/job/resume_key.h"
#include "pipeline/job/suggest.h"

/* ---- stages and their models ---------------------------------------------------------------- */

static bool has(const stage_list *list, stage_kind kind)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->kinds[i] == kind)
            return true;
    return false;
}

/* Whether each field for one stage finds it in the list. */
static bool check_stages(const job *j, const stage_list *list, pipeline_error *error)
{
    const struct {
        job_field field;
        bool given;
        stage_kind stage;
    } rows[] = {{JOB_SCALE, j->scale > 0, STAGE_SR},
                {JOB_WIDTH, j->size.width, STAGE_SR},
                {JOB_HEIGHT, j->size.height, STAGE_SR},
                {JOB_SIZE, j->size.size.width, STAGE_SR},
                {JOB_SR, j->sr, STAGE_SR},
                {JOB_DENOISE, j->denoise, STAGE_DENOISE},
                {JOB_STRENGTH, j->strength >= 0, STAGE_DENOISE},
                {JOB_DETAIL, j->detail >= 0, STAGE_DENOISE},
                {JOB_COLOUR, j->colour >= 0, STAGE_COLOUR},
                {JOB_COLOUR_MODEL, j->colour_model, STAGE_COLOUR}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given && !has(list, rows[i].stage))
            return pipeline_misuse(error, "%s: expected %s among --stages, found '%s'",
                                   job_rows[rows[i].field].name, stage_name(rows[i].stage),
                                   j->stages ? j->stages : USUAL_STAGES);
    return true;
}

/* Colours are enhanced if --stages says so, or as a last stage if only --colour is given, for which
 * the default stages leave room. */
static bool read_stages(const job_run *run, stage_list *list, pipeline_error *error)
{
    const job *j = &run->asked;
    if (!stage_list_read(list, j->stages ? j->stages : USUAL_STAGES, run->delays, error))
        return false;
    if (j->colour >= 0 && !j->stages)
        list->kinds[list->count++] = STAGE_COLOUR;
    return check_stages(j, list, error);
}

/* Whether the first of numbered pictures is lossy. */
static bool are_lossy(const char *pattern)
{
    char name[PATH_MAX];
    picture_list list;
    const bool lossy =
        picture_list_open(&list, pattern, &(pipeline_notes){0}, &(pipeline_error){0}) &&
        picture_name(name, sizeof name, pattern, list.numbers[0]) && still_is_lossy(name);
    picture_list_close(&list);
    return lossy;
}

/* Pictures were each stored on their own, unlike a video's frames. */
static model_choice choose_models(const job *j, resize_scale scale, bool still)
{
    const bool anime = j->content && !strcmp(j->content, "anime");
    model_choice choice = {.sr = j->sr,
                           .denoise = j->denoise,
                           .colour = j->colour_model,
                           .tier = j->tier,
                           .scale = scale,
                           .anime = anime};
    if (j->content && !anime)
        choice.video = !strcmp(j->content, "video");
    else if (still || picture_pattern(j->input))
        choice.lossy_picture = !j->sr && (still ? still_is_lossy(j->input) : are_lossy(j->input));
    else
        choice.video = true;
    return choice;
}

static bool choose_stages(job_run *run, pipeline_error *error)
{
    const job *j = &run->asked;
    enhance_settings *s = &run->settings;
    resize_scale scale = {j->scale, j->scale};
    stage_list list;
    if (!read_stages(run, &list, error) ||
        (!s->sized &&
         !result_size_scale(&j->size, run->shown, &s->input, s->stage.still, &scale, error)))
        return false;
    const model_choice choice = choose_models(j, scale, s->stage.still);
    return stage_models_open(&run->models, &choice, &list, s, error);
}

/* An enhance_settings.sized callback: chooses the stages, now that the size is known. */
static bool choose_late(void *context, uint32_t width, uint32_t height, pipeline_error *error)
{
    job_run *run = context;
    run->shown = (mona_size){width, height};
    run->settings.sized = NULL;
    run->settings.count = 0;
    stage_models_close(&run->models);
    run->models = (stage_models){0};
    return choose_stages(run, error);
}

/* ---- the other settings --------------------------------------------------------------------- */

static bool parse_codec(const codec **chosen, const char *name, const pipeline_notes *notes,
                        pipeline_error *error)
{
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(name, strlen(name));
    *chosen = codec_find(name);
    if (*chosen && !strncmp(name, "lib", 3) && strcmp(name, (*chosen)->encoder) != 0)
        pipeline_note(notes, "-c %s: mona writes %s with %s", name, (*chosen)->name,
                      (*chosen)->encoder);
    for (size_t i = 0; codec_at(i); i++) {
        suggest_name(&s, codec_at(i)->name);
        suggest_name(&s, codec_at(i)->encoder);
    }
    return *chosen || pipeline_misuse(error,
                                      "--codec: expected " JOB_CODECS
                                      " or one of FFmpeg's encoders for these, found '%s'%s",
                                      name, suggest_text(&s, text, sizeof text));
}

/* "2", for the networks alone, or "1:2:2". */
static bool read_threads(enhance_settings *s, const char *text, pipeline_error *error)
{
    unsigned load = 0, proc = 0, save = 0;
    char rest;
    const bool single = sscanf(text, "%3u%c", &proc, &rest) == 1;
    if ((!single && sscanf(text, "%3u:%3u:%3u%c", &load, &proc, &save, &rest) != 3) ||
        load > MONA_MAX_THREADS || proc > MONA_MAX_THREADS || save > MONA_MAX_THREADS)
        return pipeline_misuse(
            error, "--threads: expected a number from 0 to %d, or three such as 1:2:2, found '%s'",
            MONA_MAX_THREADS, text);
    s->input.threads = load;
    s->stage.threads = proc;
    s->encoder.threads = save;
    return true;
}

static bool read_part(segments_part *part, const char *text, pipeline_error *error)
{
    enum { MOST = 10000 };
    char rest;
    return (sscanf(text, "%5u/%5u%c", &part->part, &part->parts, &rest) == 2 && part->part >= 1 &&
            part->part <= part->parts && part->parts <= MOST) ||
           pipeline_misuse(error,
                           "--part: expected K/N such as 7/64, with K from 1 to N and N up to %d, "
                           "found '%s'",
                           MOST, text);
}

/* What is kept of the work, and which part of it is done. */
static bool read_resume(job_run *run, bool still, pipeline_error *error)
{
    const job *j = &run->asked;
    segments_work *work = &run->settings.resume;
    if (!j->resume || still)
        return true;
    if ((j->part && !read_part(&work->part, j->part, error)) ||
        !(run->key = resume_key(j, error)) || !(run->words = resume_words(j, error)))
        return false;
    work->key = run->key;
    work->words = run->words;
    return true;
}

static bool read_computing(const job *j, enhance_settings *s, pipeline_error *error)
{
    if (!j->device)
        return true;
    s->stage.cpu = j->cpu;
    s->stage.strip_rows = (unsigned)j->strip_rows;
    s->stage.or_host = devices_or_host(j->device);
    return (!j->threads || read_threads(s, j->threads, error)) &&
           (s->stage.device = devices_find(j->device, error));
}

static bool read_input(const job *j, input_settings *in, pipeline_error *error)
{
    in->path = j->input;
    in->raw = j->raw;
    in->rate = j->rate;
    in->max_pixels = j->limits.pixels;
    in->max_streams = j->limits.streams;
    in->list = j->allow ? "hls" : NULL;
    in->stop_on_error = j->on_error && !strcmp(j->on_error, "stop");
    in->start = j->cut.start;
    in->end = j->cut.end;
    in->keep_start = j->keep_start;
    in->rotate = !strcmp(j->rotate, "auto")
                     ? ROTATION_AUTO
                     : (rotation)(ROTATION_NONE + strtoul(j->rotate, NULL, 10) / 90);
    in->deinterlace = !strcmp(j->deinterlace, "auto");
    for (fields_mode m = FIELDS_SINGLE; m < FIELDS_MODES; m++)
        if (!strcmp(j->fields, fields_kinds[m].name))
            in->fields = m;
    return in->fields == FIELDS_SINGLE || in->deinterlace ||
           pipeline_misuse(error, "--fields %s: expected --deinterlace auto, found off", j->fields);
}

static bool read_encoding(const job *j, enhance_settings *s, pipeline_error *error)
{
    s->encoder = (encoder_choice){.threads = s->encoder.threads,
                                  .crf = j->crf,
                                  .preset = j->preset,
                                  .options = j->encoder.items,
                                  .option_count = j->encoder.count,
                                  .match_bitrate = j->match_bitrate,
                                  .low_latency = j->low_latency || j->live};
    s->jpeg_quality = (unsigned)j->quality;
    if (j->quality && still_kind(j->output) != PICTURE_JPEG)
        return pipeline_misuse(error, "--quality: expected a JPEG (.jpg) as the output, found %s",
                               j->output);
    if (j->codec && !parse_codec(&s->encoder.codec, j->codec, &s->notes, error))
        return false;
    return sound_choice_read(&s->sound, j->audio) ||
           pipeline_misuse(error, "--audio: expected copy, auto, none or one of %s, found '%s'",
                           sound_codecs(), j->audio);
}

static void read_live(job_run *run)
{
    const job *j = &run->asked;
    if (!j->live)
        return;
    run->live = (live_settings){.stall = j->stall,
                                .patience = j->reconnect,
                                .max_streams = j->limits.streams,
                                .ends = run->settings.ends};
    run->settings.input.live = &run->live;
    run->settings.max_delay = j->max_delay;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static const option_rule *rule_of(job_field field)
{
    return option_rule_of(job_rules, JOB_RULES, job_rows[field].name);
}

static bool check_modes(const job *j, unsigned modes, pipeline_error *error)
{
    static const char *const names[OPTION_MODES_MAX] = JOB_MODES;
    modes |= j->input && picture_pattern(j->input) ? JOB_MODE_NUMBERED_IN : 0;
    for (job_field f = 0; f < JOB_ROWS; f++)
        if (j->given.has[f] && !option_suits(job_rows[f].name, rule_of(f), modes, names, error))
            return false;
    return true;
}

/* Options for videos, given for a picture. */
static void tell_unused(const job *j, const pipeline_notes *notes)
{
    for (job_field f = 0; f < JOB_ROWS; f++) {
        const option_rule *rule = j->given.has[f] ? rule_of(f) : NULL;
        if (rule && rule->idle & JOB_MODE_PICTURE)
            pipeline_note(notes, "%s has no effect on a picture, %s", rule->option, rule->why);
    }
}

bool job_makes_picture(const char *output)
{
    return still_can_write(output) && !picture_pattern(output);
}

bool job_takes_picture(const char *input, const char *output, bool preview)
{
    return strcmp(input, "-") && !picture_pattern(input) && still_is_image(input) &&
           ((!preview && job_makes_picture(output)) || !still_is_animated(input));
}

bool job_complete(job *j, pipeline_error *error)
{
    if (j->part)
        j->resume = j->given.has[JOB_RESUME] = true;
    const unsigned sizes =
        (j->size.width > 0) + (j->size.height > 0) + (j->size.size.width > 0) + (j->scale > 0);
    return (sizes <= 1 ||
            pipeline_misuse(error,
                            "expected one of --scale, --width, --height and --size, found more")) &&
           option_cut_complete(&j->cut, error) &&
           (!j->limit || limits_read(&j->limits, "--limit", j->limit, error));
}

bool job_open(job_run *run, const job *j, unsigned modes, pipeline_error *error)
{
    enhance_settings *s = &run->settings;
    const bool still = modes & JOB_MODE_PICTURE;
    run->asked = *j;
    if (!check_modes(j, modes, error) || !read_resume(run, still, error))
        return false;
    s->output = j->output;
    s->frames = (uint64_t)j->frames;
    s->format = j->format;
    s->segment_frames = (uint64_t)j->segment_frames;
    s->drop_unsupported = j->drop_unsupported;
    s->stage.still = still;
    s->stage.strength = j->strength;
    s->stage.detail = j->detail;
    s->stage.colour_strength = j->colour >= 0 ? j->colour : 1;
    s->stage.temporal = !strcmp(j->temporal, "on");
    if (!read_computing(j, s, error) || !read_input(j, &s->input, error) ||
        !read_encoding(&run->asked, s, error))
        return false;
    read_live(run);
    if (result_size_is_late(&j->size, run->shown, &s->input)) {
        s->sized = choose_late;
        s->sized_context = run;
    }
    if (!choose_stages(run, error))
        return false;
    if (still)
        tell_unused(j, &s->notes);
    return true;
}

void job_close(job_run *run)
{
    stage_models_close(&run->models);
    free(run->key);
    free(run->words);
}
