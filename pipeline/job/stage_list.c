// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/stage_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/job/option.h"

/* Reads TIME or TIME/TIME@N. */
static bool read_delay(delay_settings *delay, const char *text, pipeline_error *error)
{
    char ordinary[32], slow[32], rest;
    unsigned every;
    double seconds, slow_seconds = 0;
    *delay = (delay_settings){0};
    const bool two =
        sscanf(text, "%31[^/]/%31[^@]@%9u%c", ordinary, slow, &every, &rest) == 3 && every;
    if (!option_duration("--stages", two ? ordinary : text, &seconds, error) ||
        (two && !option_duration("--stages", slow, &slow_seconds, error)))
        return false;
    *delay = (delay_settings){
        .ms = 1e3 * seconds, .slow_ms = 1e3 * slow_seconds, .every = two ? every : 0};
    return true;
}

static bool read_stage(stage_list *list, const char *name, bool delays, pipeline_error *error)
{
    stage_kind *kind = &list->kinds[list->count++];
    if (delays && !strncmp(name, "delay:", 6)) {
        *kind = STAGE_DELAY;
        return read_delay(&list->delay, name + 6, error);
    }
    if (stage_find(name, kind))
        return true;
    char text[SUGGEST_TEXT];
    suggestion close = suggest_for(name, strlen(name));
    suggest_names(&close, STAGE_WORDS, " ");
    return pipeline_misuse(error,
                           "--stages: expected " STAGE_BUT_LAST "%s or " STAGE_LAST
                           ", with commas between, found '%s'%s",
                           delays ? ", delay:TIME" : "", name,
                           suggest_text(&close, text, sizeof text));
}

bool stage_list_read(stage_list *list, const char *text, bool delays, pipeline_error *error)
{
    *list = (stage_list){0};
    for (const char *at = text;; at++) {
        char name[80];
        const size_t length = strcspn(at, ",");
        if (list->count == CHAIN_MAX_STAGES)
            return pipeline_misuse(error, "--stages: expected up to %d stages, found '%s'",
                                   CHAIN_MAX_STAGES, text);
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 79, at);
        if (!read_stage(list, name, delays, error))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}
