// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/describe.h"

#include "pipeline/job/stage_models.h"

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
