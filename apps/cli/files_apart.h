// SPDX-License-Identifier: Apache-2.0
/* No command may write over a file that it reads, or write two results into one file. */
#ifndef MONA_FILES_APART_H
#define MONA_FILES_APART_H

#include "apps/cli/options.h"

/* Compares the files of the options whose row says `written` with all others, and with the
 * operands. values: after all options were read. False: one line was printed. */
bool files_apart(const command *line, const void *values, const char *const *operands);

/* The paths in an option's field. */
const char *const *files_of(const option *o, const void *values, size_t *count);

#endif
