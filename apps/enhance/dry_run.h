// SPDX-License-Identifier: Apache-2.0
/* mona enhance --dry-run: shows what would be done, and how fast, without doing it. */
#ifndef MONA_DRY_RUN_H
#define MONA_DRY_RUN_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "pipeline/job/job.h"
#include "pipeline/enhance.h"

/* Prints the plan of a run on stdout: stages, sizes, memory, streams, and the speed of a short real
 * run (test_run.h), including the encoder. The output is not touched. False: the real run would
 * fail; one line was printed. */
bool dry_run(const job *settings, bool json);

/* The plans of many files as a table: a row for each, but none for what is no plan, and one for all
 * of them. */
void plan_table_print(const cJSON *plans);

/* ---- describe -------------------------------------------------------------------------------- */

/* Adds the settings as the members "networks", "strength", "temporal", "deinterlace" and, for a
 * video, "encoder". report: that of a run that has begun. */
void enhance_describe(cJSON *to, const job *settings, const enhance_report *report);

/* Adds the fields that were given and on which the result's bytes depend, as the member
 * "options". */
void enhance_describe_options(cJSON *to, const job *j);

#endif
