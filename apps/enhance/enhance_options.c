// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/enhance_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/job/suggest.h"
#include "apps/enhance/enhance_rules.h"
#include "pipeline/job/devices.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/image/stills.h"

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
                                      "--codec: expected " CODECS
                                      " or one of FFmpeg's encoders for these, found '%s'%s",
                                      name, suggest_text(&s, text, sizeof text));
}

static bool has(const stage_list *list, stage_kind kind)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->kinds[i] == kind)
            return true;
    return false;
}

/* Whether each option for one stage finds it in the list. */
static bool check_stages(const enhance_options *o, const stage_list *list, pipeline_error *error)
{
    const struct {
        const char *name;
        bool given;
        stage_kind stage;
    } rows[] = {{"--scale", o->scale > 0, STAGE_SR},
                {"--width", o->size.width, STAGE_SR},
                {"--height", o->size.height, STAGE_SR},
                {"--size", o->size.size.width, STAGE_SR},
                {"--sr", o->sr, STAGE_SR},
                {"--denoise", o->denoise, STAGE_DENOISE},
                {"--strength", o->strength >= 0, STAGE_DENOISE},
                {"--detail", o->detail >= 0, STAGE_DENOISE},
                {"--colour", o->colour >= 0, STAGE_COLOUR},
                {"--colour-model", o->colour_model, STAGE_COLOUR}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].given && !has(list, rows[i].stage))
            return pipeline_misuse(error, "%s: expected %s among --stages, found '%s'",
                                   rows[i].name, stage_row_of(rows[i].stage)->name,
                                   o->stages ? o->stages : USUAL_STAGES);
    return true;
}

/* Colours are enhanced if --stages says so, fully unless --colour gives a strength; or as a last
 * stage if only --colour is given, for which the default stages leave room. */
static void add_colour(double *strength, stage_list *list, const enhance_options *o)
{
    *strength = o->colour >= 0 ? o->colour : 1;
    if (o->colour >= 0 && !o->stages)
        list->kinds[list->count++] = STAGE_COLOUR;
}

/* film: a video, unlike pictures, each of which was stored on its own. */
static model_choice choose_models(const enhance_options *o, resize_scale scale, bool film)
{
    const bool anime = o->content && !strcmp(o->content, "anime");
    return (model_choice){.sr = o->sr,
                          .denoise = o->denoise,
                          .colour = o->colour_model,
                          .tier = o->tier,
                          .scale = scale,
                          .video = o->content && !anime ? !strcmp(o->content, "video") : film,
                          .anime = anime};
}

/* Options for videos, given for a picture. */
static void tell_unused(const enhance_options *o, const enhance_settings *s)
{
    for (size_t i = 0; o->line && i < o->line->option_count; i++) {
        const option *row = &o->line->options[i];
        const option_rule *rule = options_rule(o->line, row);
        if (o->given.has[i] && rule && rule->idle & ENHANCE_PICTURE)
            pipeline_note(&s->notes, "%s has no effect on a picture, %s", row->name, rule->why);
    }
}

bool enhance_options_check(enhance_options *o, pipeline_error *error)
{
    return ((o->size.width > 0) + (o->size.height > 0) + (o->size.size.width > 0) +
                    (o->scale > 0) <=
                1 ||
            pipeline_misuse(error,
                            "expected one of --scale, --width, --height and --size, found more")) &&
           (!o->device || option_cut_complete(&o->cut, error));
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

bool enhance_makes_picture(const char *output)
{
    return still_can_write(output) && !picture_pattern(output);
}

bool enhance_takes_picture(const char *input, const char *output, bool preview)
{
    return strcmp(input, "-") && !picture_pattern(input) && still_is_image(input) &&
           ((!preview && enhance_makes_picture(output)) || !still_is_animated(input));
}

static bool check_quality(const enhance_options *o, const enhance_settings *s,
                          pipeline_error *error)
{
    const char *output = s->output ? s->output : "frames";
    return !o->quality || still_kind(output) == PICTURE_JPEG ||
           pipeline_misuse(error, "--quality: expected a JPEG (.jpg) as the output, found %s",
                           output);
}

static bool apply_run(const enhance_options *o, enhance_settings *s, pipeline_error *error)
{
    if (!o->device)
        return true;
    s->input.start = o->cut.start;
    s->input.end = o->cut.end;
    s->input.keep_start = o->keep_start;
    s->frames = (uint64_t)o->frames;
    s->format = o->format;
    s->stage.cpu = o->cpu;
    s->stage.strip_rows = (unsigned)o->strip_rows;
    s->stage.or_host = devices_or_host(o->device);
    return (!o->threads || read_threads(s, o->threads, error)) &&
           (s->stage.device = devices_find(o->device, error));
}

/* An enhance_settings.sized callback: chooses the stages, now that the size is known. */
static bool choose_late(void *context, uint32_t width, uint32_t height, pipeline_error *error)
{
    enhance_options *o = context;
    enhance_settings *s = o->settings;
    const pipeline_notes notes = s->notes;
    o->size.input = (mona_size){width, height};
    stage_models_close(o->models);
    *o->models = (stage_models){0};
    s->count = 0;
    s->notes = (pipeline_notes){0}; /* they were printed the first time */
    const bool good = enhance_options_apply(o, false, false, o->models, s, error);
    s->notes = notes;
    return good;
}

bool enhance_options_apply(enhance_options *o, bool image, bool delays, stage_models *models,
                           enhance_settings *settings, pipeline_error *error)
{
    const bool film = !image && !picture_pattern(settings->input.path);
    const char *stages = o->stages ? o->stages : USUAL_STAGES;
    resize_scale scale = {o->scale, o->scale};
    stage_list list;
    settings->stage.still = image;
    settings->jpeg_quality = (unsigned)o->quality;
    settings->stage.strength = o->strength;
    settings->stage.detail = o->detail;
    if (!check_quality(o, settings, error) || !apply_run(o, settings, error) ||
        !stage_list_read(&list, stages, delays, error))
        return false;
    add_colour(&settings->stage.colour_strength, &list, o);
    if (!check_stages(o, &list, error) ||
        (o->codec && !parse_codec(&settings->encoder.codec, o->codec, &settings->notes, error)))
        return false;
    if (!sound_choice_read(&settings->sound, o->audio))
        return pipeline_misuse(error, "--audio: expected copy, auto, none or one of %s, found '%s'",
                               sound_codecs(), o->audio);
    settings->input.rotate = !strcmp(o->rotate, "auto")
                                 ? ROTATION_AUTO
                                 : (rotation)(ROTATION_NONE + strtoul(o->rotate, NULL, 10) / 90);
    const bool late = result_size_is_late(&o->size, settings);
    if (!late && !result_size_scale(&o->size, settings, image, &scale, error))
        return false;
    if (late) {
        o->models = models;
        o->settings = settings;
        settings->sized = choose_late;
        settings->sized_context = o;
    }
    const model_choice choice = choose_models(o, scale, film);
    settings->stage.temporal = !strcmp(o->temporal, "on");
    settings->input.deinterlace = !strcmp(o->deinterlace, "auto");
    settings->input.fields = FIELDS_SINGLE;
    for (fields_mode m = FIELDS_SINGLE; m < FIELDS_MODES; m++)
        if (!strcmp(o->fields, fields_kinds[m].name))
            settings->input.fields = m;
    if (settings->input.fields != FIELDS_SINGLE && !settings->input.deinterlace)
        return pipeline_misuse(error, "--fields %s: expected --deinterlace auto, found off",
                               o->fields);
    if (image)
        tell_unused(o, settings);
    settings->encoder.crf = o->crf;
    settings->encoder.preset = o->preset;
    settings->encoder.options = o->encoder.items;
    settings->encoder.option_count = o->encoder.count;
    settings->encoder.match_bitrate = o->match_bitrate;
    settings->encoder.low_latency = o->low_latency;
    return stage_models_open(models, &choice, &list, settings, error);
}

void enhance_describe(cJSON *to, const enhance_settings *s, const enhance_report *report)
{
    char networks[NETWORKS_TEXT];
    stage_models_describe(networks, s);
    cJSON_AddStringToObject(to, "networks", networks);
    if (s->stage.strength < 0)
        cJSON_AddStringToObject(to, "strength", "auto");
    else
        cJSON_AddNumberToObject(to, "strength", s->stage.strength);
    cJSON_AddBoolToObject(to, "temporal", s->stage.temporal);
    cJSON_AddBoolToObject(to, "deinterlace", s->input.deinterlace);
    if (*report->encoder)
        cJSON_AddStringToObject(to, "encoder", report->encoder);
}
