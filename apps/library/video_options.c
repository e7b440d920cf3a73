// SPDX-License-Identifier: Apache-2.0
#include "apps/library/video_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char group[] = "";

static const option rows[] = {
    ENHANCE_WORK_OPTIONS(offsetof(video_arguments, shared), group),
    {"--size", NULL, OPTION_STRING, offsetof(video_arguments, shared.size.size), "WxH", group,
     .help = ""},
    ENHANCE_ENCODER_OPTIONS(offsetof(video_arguments, shared), group),
    {"--format", NULL, OPTION_STRING, offsetof(video_arguments, format), "NAME", group, .help = ""},
    {"--threads", NULL, OPTION_STRING, offsetof(video_arguments, threads), "LOAD:PROC:SAVE", group,
     .help = ""},
    {"--strip-rows", NULL, OPTION_WHOLE, offsetof(video_arguments, strip_rows), "N", group,
     .help = "", .minimum = 1, .maximum = MONA_MAX_SIDE},
    {"--frames", NULL, OPTION_WHOLE, offsetof(video_arguments, frames), "N", group, .help = "",
     .minimum = 1, .maximum = 1e15},
    OPTION_DEVICE(offsetof(video_arguments, device), group),
    OPTION_CPU(offsetof(video_arguments, cpu), group),
    OPTIONS_CUT(video_arguments, group, " of the input"),
};

static const command line = {
    .name = "enhance", .usage = "", .options = rows, .option_count = sizeof rows / sizeof *rows};

static bool is_option(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name + 2, name))
            return true;
    return false;
}

/* The caller keeps failures. */
static bool parse(video_arguments *a, char *const *given, int count)
{
    char *arguments[VIDEO_OPTIONS_MAX + 1] = {(char *)line.name};
    const char *operands[1];
    *a = (video_arguments){.shared.crf = -1, .duration = -1, .end = -1};
    memcpy(arguments + 1, given, (size_t)count * sizeof *given);
    return options_parse(&line, a, count + 1, arguments, operands) == OPTIONS_RUN;
}

bool video_options_add(video_options *o, const char *name, const char *value, pipeline_error *error)
{
    video_arguments alone;
    if (!is_option(name))
        return pipeline_fail(error,
                             "expected an option of mona enhance for frames or encoders, "
                             "without its dashes, found '%s'",
                             name);
    if (o->count == VIDEO_OPTIONS_MAX)
        return pipeline_fail(error, "expected up to %d options, found more", VIDEO_OPTIONS_MAX);
    const size_t bytes = strlen(name) + (value ? strlen(value) : 0) + 4;
    char *text = malloc(bytes);
    if (!text)
        return pipeline_fail(error, "out of memory");
    snprintf(text, bytes, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    cli_keep_failures(error);
    const bool good = parse(&alone, &text, 1);
    cli_keep_failures(NULL);
    if (good)
        o->given[o->count++] = text;
    else
        free(text);
    return good;
}

static bool apply(const video_options *o, video_arguments *a, bool image, stage_models *models,
                  enhance_settings *s)
{
    const mona_size size = a->shared.size.input;
    if (!parse(a, o->given, o->count) || !enhance_options_check(&a->shared) ||
        !options_cut(a->start, a->duration, &a->end) ||
        (a->threads && !enhance_threads_read(s, a->threads)) ||
        !(s->stage.device = options_device(a->device)))
        return false;
    a->shared.size.input = size;
    s->stage.or_host = options_or_host(a->device);
    s->stage.cpu = a->cpu;
    s->stage.strip_rows = (unsigned)a->strip_rows;
    s->start = a->start;
    s->end = a->end;
    s->frames = (uint64_t)a->frames;
    s->format = a->format;
    return !enhance_options_apply(&a->shared, image, false, models, s);
}

bool video_options_apply(const video_options *o, video_arguments *a, bool image,
                         stage_models *models, enhance_settings *settings, pipeline_error *error)
{
    cli_keep_failures(error);
    const bool good = apply(o, a, image, models, settings);
    cli_keep_failures(NULL);
    return good;
}

void video_options_free(video_options *o)
{
    for (int i = 0; i < o->count; i++)
        free(o->given[i]);
    o->count = 0;
}
