// SPDX-License-Identifier: Apache-2.0
/* Which step works on which frame of a pipeline: a dozen frames from the middle of a timeline. */
#ifndef PLOT_GANTT_H
#define PLOT_GANTT_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

bool plot_gantt_shows(const cJSON *result);
void plot_gantt(FILE *f, const cJSON *result);

#endif
