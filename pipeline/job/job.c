// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/image/stills.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/job/devices.h"
#include "pipeline/job/option.h"

/* ---- stages and their models ---------------------------------------------------------------- */

static bool has(const stage_list *list, stage_kind kind)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->kinds[i] == kind)
            return true;
    return false;
}

/* Whether each field for one stage finds it in the list. A scale of 1 needs none. */
static bool check_stages(const job *j, const stage_list *list, pipeline_error *error)
{
    const struct {
        job_field field;
        bool given;
        stage_kind stage;
    } rows[] = {{JOB_SCALE, j->scale > 0 && j->scale != 1, STAGE_SR},
                {JOB_WIDTH, j->size.width, STAGE_SR},
                {JOB_HEIGHT, j->size.height, STAGE_SR},
                {JOB_SIZE, j->size.size.width, STAGE_SR},
                {JOB_SR, j->sr, STAGE_SR},
                {JOB_DENOISE, j->denoise, STAGE_DENOISE},
                {JOB_STRENGTH, j->stage.strength >= 0, STAGE_DENOISE},
                {JOB_DETAIL, j->stage.detail >= 0, STAGE_DENOISE},
                {JOB_GRAIN, j->stage.grain > 0, STAGE_DENOISE},
                {JOB_COLOUR, j->stage.colour_strength >= 0, STAGE_COLOUR},
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
    const job *j = &run->job;
    if (!stage_list_read(list, j->stages ? j->stages : USUAL_STAGES, run->delays, error))
        return false;
    if (j->stage.colour_strength >= 0 && !j->stages)
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
static model_choice choose_models(job *j, resize_scale scale)
{
    const char *path = j->input.path;
    const bool still = j->stage.still;
    model_choice choice = {.job = j, .scale = scale};
    if (j->content == CONTENT_CLEAN || j->content == CONTENT_VIDEO)
        choice.video = j->content == CONTENT_VIDEO;
    else if (still || picture_pattern(path))
        choice.lossy_picture = !j->sr && (still ? still_is_lossy(path) : are_lossy(path));
    else
        choice.video = true;
    return choice;
}

static bool choose_stages(job_run *run, pipeline_error *error)
{
    job *j = &run->job;
    resize_scale scale = {j->scale, j->scale};
    stage_list list;
    if (!read_stages(run, &list, error) ||
        (!j->sized &&
         !result_size_scale(&j->size, run->shown, &j->input, j->stage.still, &scale, error)))
        return false;
    if (j->kernels && !j->sr && !j->denoise && !j->colour_model)
        return pipeline_misuse(error, "--kernels: expected a network that calls them: --sr, "
                                      "--denoise or --colour-model");
    const model_choice choice = choose_models(j, scale);
    return stage_models_open(&run->models, &choice, &list, error);
}

/* A job.sized callback: chooses the stages, now that the size is known. */
static bool choose_late(void *context, uint32_t width, uint32_t height, pipeline_error *error)
{
    job_run *run = context;
    run->shown = (mona_size){width, height};
    run->job.sized = NULL;
    run->job.count = 0;
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
static bool read_threads(job *j, pipeline_error *error)
{
    const char *text = j->threads;
    unsigned load = 0, proc = 0, save = 0;
    char rest;
    const bool single = sscanf(text, "%3u%c", &proc, &rest) == 1;
    if ((!single && sscanf(text, "%3u:%3u:%3u%c", &load, &proc, &save, &rest) != 3) ||
        load > MONA_MAX_THREADS || proc > MONA_MAX_THREADS || save > MONA_MAX_THREADS)
        return pipeline_misuse(
            error, "--threads: expected a number from 0 to %d, or three such as 1:2:2, found '%s'",
            MONA_MAX_THREADS, text);
    j->input.threads = load;
    j->stage.threads = proc;
    j->encoder.threads = save;
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
static bool read_resume(job_run *run, pipeline_error *error)
{
    job *j = &run->job;
    if (!j->resume || j->stage.still)
        return true;
    if ((j->part && !read_part(&j->work.part, j->part, error)) ||
        !(run->key = resume_key(j, error)) || !(run->words = resume_words(j, error)))
        return false;
    j->work.key = run->key;
    j->work.words = run->words;
    return true;
}

static bool read_computing(job *j, pipeline_error *error)
{
    if (!j->device)
        return true;
    j->stage.or_host = devices_or_host(j->device);
    return (!j->threads || read_threads(j, error)) &&
           devices_find(devices_asked(j->device, j->sr), &j->stage.devices, error);
}

static bool read_input(job *j, pipeline_error *error)
{
    input_settings *in = &j->input;
    in->max_pixels = j->limits.pixels;
    in->max_streams = j->limits.streams;
    in->list = j->allow ? "hls" : NULL;
    char fields[OPTION_TEXT];
    return in->fields == FIELDS_SINGLE || in->deinterlace ||
           pipeline_misuse(error, "--fields %s: expected --deinterlace auto, found off",
                           option_text(&job_rows[JOB_FIELDS], j, fields));
}

static bool read_encoding(job *j, pipeline_error *error)
{
    j->encoder.options = j->encoder_options.items;
    j->encoder.option_count = j->encoder_options.count;
    if (j->jpeg_quality && still_kind(j->output) != PICTURE_JPEG)
        return pipeline_misuse(error, "--quality: expected a JPEG (.jpg) as the output, found %s",
                               j->output);
    if (j->codec && !parse_codec(&j->encoder.codec, j->codec, &j->notes, error))
        return false;
    return sound_choice_read(&j->sound, j->audio) ||
           pipeline_misuse(error, "--audio: expected copy, auto, none or one of %s, found '%s'",
                           sound_codecs(), j->audio);
}

static void read_live(job *j)
{
    if (!j->is_live)
        return;
    j->live.max_streams = j->limits.streams;
    j->live.max_pixels = j->limits.pixels;
    j->live.ends = j->ends;
    j->input.live = &j->live;
    j->encoder.low_latency = true;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static const option_rule *rule_of(job_field field)
{
    return option_rule_of(job_rules, JOB_RULES, job_rows[field].name);
}

static bool check_modes(const job *j, unsigned modes, pipeline_error *error)
{
    static const char *const names[OPTION_MODES_MAX] = JOB_MODES;
    modes |= j->input.path && picture_pattern(j->input.path) ? JOB_MODE_NUMBERED_IN : 0;
    for (job_field f = 0; f < JOB_ROWS; f++)
        if (j->given.has[f] && !option_suits(job_rows[f].name, rule_of(f), modes, names, error))
            return false;
    return true;
}

/* Options for videos, given for a picture. */
static void tell_unused(const job *j)
{
    for (job_field f = 0; f < JOB_ROWS; f++) {
        const option_rule *rule = j->given.has[f] ? rule_of(f) : NULL;
        if (rule && rule->idle & JOB_MODE_PICTURE)
            pipeline_note(&j->notes, "%s has no effect on a picture, %s", rule->option, rule->why);
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
           option_cut_complete(j->input.start, j->duration, &j->input.end, error) &&
           (!j->limit || limits_read(&j->limits, "--limit", j->limit, error));
}

bool job_open(job_run *run, unsigned modes, pipeline_error *error)
{
    job *j = &run->job;
    j->stage.still = modes & JOB_MODE_PICTURE;
    if (!check_modes(j, modes, error) || !read_resume(run, error) || !read_computing(j, error) ||
        !read_input(j, error) || !read_encoding(j, error))
        return false;
    read_live(j);
    if (result_size_is_late(&j->size, run->shown, &j->input)) {
        j->sized = choose_late;
        j->sized_context = run;
    }
    if (!choose_stages(run, error))
        return false;
    if (j->stage.still)
        tell_unused(j);
    return true;
}

void job_close(job_run *run)
{
    stage_models_close(&run->models);
    free(run->key);
    free(run->words);
}

const char *job_network(const job *j, unsigned stage)
{
    const stage_row *row = stage_row_of(j->kinds[stage]);
    return row->network ? row->network(&j->stage, stage) : stage_name(j->kinds[stage]);
}
