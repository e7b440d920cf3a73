// SPDX-License-Identifier: Apache-2.0
/* Tells a file from another one that may take its place. */
#ifndef MONA_FILE_IDENTITY_H
#define MONA_FILE_IDENTITY_H

#include <stdbool.h>

#include "pipeline/base/error.h"

enum { FILE_IDENTITY_TEXT = 96 };

/* Writes a word made of the file's size, its time, and a hash of its beginning and its end; of
 * numbered pictures (picture_list.h), of how many there are, and a hash of all that of each. False:
 * it is none that can be read, and *error says why. */
bool file_identity(char text[FILE_IDENTITY_TEXT], const char *path, pipeline_error *error);

#endif
