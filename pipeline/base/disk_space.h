// SPDX-License-Identifier: Apache-2.0
/* Checks that the disk has room for an output. */
#ifndef MONA_DISK_SPACE_H
#define MONA_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/base/error.h"

/* Compares bytes with the free space where path will lie. Too little is an error if bytes is exact,
 * and a note if it is an estimate: "... but WHAT 1.6 MiB". If the free space is unknown, there is
 * no complaint. */
bool disk_space_check(const char *path, uint64_t bytes, bool exact, const char *what,
                      const pipeline_notes *notes, pipeline_error *error);

#endif
