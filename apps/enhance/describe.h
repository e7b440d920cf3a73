// SPDX-License-Identifier: Apache-2.0
#ifndef ENHANCE_DESCRIBE_H
#define ENHANCE_DESCRIBE_H

#include <cjson/cJSON.h>

#include "pipeline/enhance.h"
#include "pipeline/job/job.h"

/* Adds the settings as the members "networks", "strength", "temporal", "deinterlace" and, for a
 * video, "encoder". report: that of a run that has begun. */
void enhance_describe(cJSON *to, const job *settings, const enhance_report *report);

/* Adds the fields that were given and on which the result's bytes depend, as the member
 * "options". */
void enhance_describe_options(cJSON *to, const job *j);

#endif
