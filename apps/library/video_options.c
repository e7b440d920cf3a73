// SPDX-License-Identifier: Apache-2.0
#include "apps/library/video_options.h"

#include "apps/enhance/enhance_rules.h"

#include <stdlib.h>
#include <string.h>

static const char group[] = "";

static const option rows[] = {
    ENHANCE_WORK_OPTIONS(0, group, NULL),    ENHANCE_SIZE_OPTION(0, group),
    ENHANCE_ENCODER_OPTIONS(0, group, NULL), ENHANCE_PICTURE_OPTIONS(0, group),
    ENHANCE_PART_OPTIONS(0, group),          ENHANCE_COMPUTING_OPTIONS(0, group)};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct kept_text {
    struct kept_text *next;
    char text[];
} kept_text;

void video_options_begin(video_options *o)
{
    *o = (video_options){.values = ENHANCE_OPTIONS_NONE};
    option_defaults(rows, ROWS, &o->values);
}

/* A copy of a value that lives as long as o. */
static const char *keep(video_options *o, const char *value)
{
    kept_text *kept = malloc(sizeof *kept + strlen(value) + 1);
    if (!kept)
        return NULL;
    strcpy(kept->text, value);
    kept->next = o->texts;
    o->texts = kept;
    return kept->text;
}

bool video_options_set(video_options *o, const char *name, const char *value, pipeline_error *error)
{
    size_t i = 0;
    while (i < ROWS && strcmp(rows[i].name + 2, name) != 0)
        i++;
    if (i == ROWS)
        return pipeline_fail(error,
                             "expected an option of mona enhance for frames or encoders, "
                             "without its dashes, found '%s'",
                             name);
    if (value && !(value = keep(o, value)))
        return pipeline_fail(error, "out of memory");
    const bool good = option_read(&rows[i], &o->values, value, error);
    o->given.has[i] |= good;
    return good;
}

static bool suit(const video_options *o, unsigned modes, pipeline_error *error)
{
    static const char *const names[OPTION_MODES_MAX] = ENHANCE_MODES;
    for (size_t i = 0; i < ROWS; i++)
        if (o->given.has[i] &&
            !option_suits(rows[i].name, option_rule_of(enhance_rules, ENHANCE_RULES, rows[i].name),
                          modes, names, error))
            return false;
    return true;
}

bool video_options_apply(const video_options *o, mona_size frames, enhance_options *a,
                         unsigned modes, stage_models *models, enhance_settings *settings,
                         pipeline_error *error)
{
    *a = o->values;
    a->size.input = frames;
    return suit(o, modes, error) && enhance_options_check(a, error) &&
           enhance_options_apply(a, modes & ENHANCE_PICTURE, false, models, settings, error);
}

void video_options_free(video_options *o)
{
    while (o->texts) {
        kept_text *next = o->texts->next;
        free(o->texts);
        o->texts = next;
    }
}
