// SPDX-License-Identifier: Apache-2.0
/* Plans for CPUs as records of a .mona file (engine/model_format.h), from which mona_plan_load()
 * makes them without the planner. */
#ifndef MONA_PLAN_RECORD_H
#define MONA_PLAN_RECORD_H

#include "formats/error.h"
#include "mona.h"

/* target: "host", or one of CPU_TARGETS; size: of the first input. free() releases *bytes. */
bool plan_record(const mona_model *model, const char *target, mona_size size, uint8_t **bytes,
                 size_t *count, format_error *error);

#endif
