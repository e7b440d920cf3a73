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

/* The same without a copy of its own, so that processes that read one file share its memory; what
 * is no regular file is read. Release it with file_release. As with programs and libraries, a file
 * in use may be replaced by another one of its name, but not written over. */
bool file_map(const char *path, const char *what, size_t limit, uint8_t **bytes, size_t *size,
              format_error *error);
void file_release(uint8_t *bytes, size_t size);

/* Zeroed memory aligned to 64 bytes; release it with free(). NULL: out of memory. */
void *file_alloc(size_t count);

#endif
