// SPDX-License-Identifier: Apache-2.0
/* Writing whole files. */
#ifndef MONA_SAVE_H
#define MONA_SAVE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes bytes under path, where a file appears only when it is complete. Refuses to replace the
 * file `input` (NULL: there is none). False: one line was printed. */
bool save_file(const char *path, const char *input, const void *bytes, size_t size);

#endif
