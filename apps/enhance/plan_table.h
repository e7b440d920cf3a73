// SPDX-License-Identifier: Apache-2.0
/* The plans of many files (dry_run.h) as a table. */
#ifndef MONA_PLAN_TABLE_H
#define MONA_PLAN_TABLE_H

#include <cjson/cJSON.h>

/* Prints a row for each plan, but none for what is no plan, and one for all of them. */
void plan_table_print(const cJSON *plans);

#endif
