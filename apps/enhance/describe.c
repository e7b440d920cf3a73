// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/dry_run.h"

#include <stdio.h>
#include <stdlib.h>
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
    const option_list *list = (const void *)((const char *)values + o->field);
    const bool number = o->kind == OPTION_WHOLE || o->kind == OPTION_NUMBER ||
                        o->kind == OPTION_SHARE || o->kind == OPTION_TIME ||
                        o->kind == OPTION_DURATION;
    char buffer[OPTION_TEXT], *end;
    const char *text = option_text(o, values, buffer);
    if (o->kind == OPTION_FLAG)
        return cJSON_CreateTrue();
    if (o->kind == OPTION_LIST || o->kind == OPTION_FILES)
        return cJSON_CreateStringArray(list->items, (int)list->count);
    const double value = strtod(text, &end);
    return number && end != text ? cJSON_CreateNumber(value) : cJSON_CreateString(text);
}

void enhance_describe_options(cJSON *to, const job *j)
{
    cJSON *options = cJSON_AddObjectToObject(to, "options");
    for (job_field f = JOB_OUTPUT + 1; f < JOB_ROWS; f++)
        if (j->given.has[f] && job_rows[f].effect == CHANGES_BYTES)
            cJSON_AddItemToObject(options, job_rows[f].name + strlen("--"),
                                  value_of(&job_rows[f], j));
}
