// SPDX-License-Identifier: Apache-2.0
#include "apps/library/video_options.h"

#include "apps/enhance/enhance_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char group[] = "";

static const option rows[] = {
    ENHANCE_WORK_OPTIONS(0, group, NULL),    ENHANCE_SIZE_OPTION(0, group),
    ENHANCE_ENCODER_OPTIONS(0, group, NULL), ENHANCE_PICTURE_OPTIONS(0, group),
    ENHANCE_PART_OPTIONS(0, group),          ENHANCE_COMPUTING_OPTIONS(0, group)};

static const command line = {.name = "enhance",
                             .usage = "",
                             .options = rows,
                             .option_count = sizeof rows / sizeof *rows,
                             .modes = ENHANCE_MODES,
                             .rules = enhance_rules,
                             .rule_count = ENHANCE_RULES};

static bool is_option(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name + 2, name))
            return true;
    return false;
}

/* The caller keeps failures. */
static bool parse(enhance_options *a, char *const *given, int count)
{
    char *arguments[VIDEO_OPTIONS_MAX + 1] = {(char *)line.name};
    const char *operands[1];
    *a = (enhance_options)ENHANCE_OPTIONS_NONE;
    a->line = &line;
    memcpy(arguments + 1, given, (size_t)count * sizeof *given);
    return options_parse(&line, a, count + 1, arguments, operands, &a->given) == OPTIONS_RUN;
}

bool video_options_add(video_options *o, const char *name, const char *value, pipeline_error *error)
{
    enhance_options alone;
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

bool video_options_apply(const video_options *o, enhance_options *a, unsigned modes,
                         stage_models *models, enhance_settings *settings, pipeline_error *error)
{
    const mona_size size = a->size.input;
    cli_keep_failures(error);
    bool good = parse(a, o->given, o->count) && options_suit(&line, &a->given, modes) &&
                enhance_options_check(a);
    a->size.input = size;
    good = good && !enhance_options_apply(a, modes & ENHANCE_PICTURE, false, models, settings);
    cli_keep_failures(NULL);
    return good;
}

void video_options_free(video_options *o)
{
    for (int i = 0; i < o->count; i++)
        free(o->given[i]);
    o->count = 0;
}
