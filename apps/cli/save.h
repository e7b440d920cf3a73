// SPDX-License-Identifier: Apache-2.0
/* Whole files written at once. */
#ifndef MONA_SAVE_H
#define MONA_SAVE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes bytes under path, which appears only when it is complete; refuses to replace the file
 * `input` (NULL: there is none). Prints one line and gives false when it cannot. */
bool save_file(const char *path, const char *input, const void *bytes, size_t size);

#endif
