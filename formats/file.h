// SPDX-License-Identifier: Apache-2.0
/* Whole files in memory. */
#ifndef MONA_FORMAT_FILE_H
#define MONA_FORMAT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"

/* Reads a file of at most limit bytes into memory that starts at a multiple of 64 and is released
 * with free(). Refuses folders and empty files; `what` says in errors what the file should have
 * been, e.g. "an ONNX model". Errors begin with the path. */
bool file_read(const char *path, const char *what, size_t limit, uint8_t **bytes, size_t *size,
               format_error *error);

/* count bytes at a multiple of 64, zeroed, released with free(); NULL: out of memory. */
void *file_alloc(size_t count);

#endif
