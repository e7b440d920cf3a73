// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/dry_run.h"

#include <stdio.h>
#include <string.h>

#include "apps/cli/json_output.h"

void enhance_describe(cJSON *to, const job *s, const enhance_report *report)
{
    char networks[NETWORKS_TEXT];
    stage_models_describe(networks, s);
    cJSON_AddStringToObject(to, "networks", networks);
    if (s->stage.strength < 0)
        cJSON_AddStringToObject(to, "strength", "auto");
    else
        cJSON_AddNumberToObject(to, "strength", s->stage.strength);
    JSON_ADD(to, TRUTH("temporal", s->stage.temporal), TRUTH("deinterlace", s->input.deinterlace));
    if (*report->encoder)
        cJSON_AddStringToObject(to, "encoder", report->encoder);
}

static cJSON *value_of(const option *o, const void *values)
{
    const void *field = (const char *)values + o->field;
    const option_list *list = field;
    const mona_size *size = field;
    const char *word;
    char text[32];
    int length;
    switch (o->kind) {
    case OPTION_FLAG:
        return cJSON_CreateTrue();
    case OPTION_WHOLE:
        return cJSON_CreateNumber((double)*(const long *)field);
    case OPTION_SHARE:
        if (*(const double *)field < 0)
            return cJSON_CreateString("auto");
        return cJSON_CreateNumber(*(const double *)field);
    case OPTION_NUMBER:
    case OPTION_TIME:
    case OPTION_DURATION:
        return cJSON_CreateNumber(*(const double *)field);
    case OPTION_SIZE:
        snprintf(text, sizeof text, "%ux%u", size->width, size->height);
        return cJSON_CreateString(text);
    case OPTION_LIST:
    case OPTION_FILES:
        return cJSON_CreateStringArray(list->items, (int)list->count);
    case OPTION_CHOICE:
    case OPTION_SWITCH:
        word = option_word(o, values, &length);
        snprintf(text, sizeof text, "%.*s", length, word);
        return cJSON_CreateString(text);
    case OPTION_STRING:
    case OPTION_FILE:
        break;
    }
    return cJSON_CreateString(*(const char *const *)field);
}

void enhance_describe_options(cJSON *to, const job *j)
{
    cJSON *options = cJSON_AddObjectToObject(to, "options");
    for (job_field f = JOB_OUTPUT + 1; f < JOB_ROWS; f++)
        if (j->given.has[f] && job_rows[f].effect == CHANGES_BYTES)
            cJSON_AddItemToObject(options, job_rows[f].name + strlen("--"),
                                  value_of(&job_rows[f], j));
}
