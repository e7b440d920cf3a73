// SPDX-License-Identifier: Apache-2.0
/* Whether the disk has room for an output. */
#ifndef MONA_DISK_SPACE_H
#define MONA_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/error.h"

/* Compares bytes with what is free where path will lie. Too little is an error when exactly so many
 * will be written, and a note when they are a guess. What cannot be found out is no fault. */
bool disk_space_check(const char *path, uint64_t bytes, bool exact, const pipeline_notes *notes,
                      pipeline_error *error);

#endif
