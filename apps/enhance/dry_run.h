// SPDX-License-Identifier: Apache-2.0
/* mona enhance --dry-run: shows what would be done, and how fast, without doing it. */
#ifndef MONA_DRY_RUN_H
#define MONA_DRY_RUN_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "pipeline/job/job.h"

/* Prints the plan of a run on stdout: stages, sizes, memory, streams, and the speed of a short real
 * run (test_run.h), including the encoder. The output is not touched. False: the real run would
 * fail; one line was printed. */
bool dry_run(const job *settings, bool json);

/* The plans of many files as a table: a row for each, but none for what is no plan, and one for all
 * of them. */
void plan_table_print(const cJSON *plans);

#endif
