// SPDX-License-Identifier: Apache-2.0
/* The roofline of a result's operators, with two logarithmic axes. */
#ifndef PLOT_ROOFLINE_H
#define PLOT_ROOFLINE_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

/* Whether there are operators that multiply; others are not shown. */
bool plot_roofline_shows(const cJSON *result);
void plot_roofline(FILE *f, const cJSON *result);

#endif
