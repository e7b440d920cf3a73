// SPDX-License-Identifier: Apache-2.0
/* Whole files in memory. */
#ifndef MONA_FORMAT_FILE_H
#define MONA_FORMAT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"

/* Reads a file of at most limit bytes into memory that is aligned to 64 bytes; release it with
 * free(). Refuses folders and empty files. `what` names the expected kind of file in errors, such
 * as "an ONNX model". Errors begin with the path. */
bool file_read(const char *path, const char *what, size_t limit, uint8_t **bytes, size_t *size,
               format_error *error);

/* Zeroed memory aligned to 64 bytes; release it with free(). NULL: out of memory. */
void *file_alloc(size_t count);

#endif
