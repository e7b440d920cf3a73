// SPDX-License-Identifier: Apache-2.0
/* A folder for temporary files. */
#ifndef MONA_TEMP_FOLDER_H
#define MONA_TEMP_FOLDER_H

#include <stdbool.h>

enum { TEMP_FOLDER_PATH = 320 }; /* enough for the path of a file in it */

typedef struct temp_folder {
    char path[256]; /* "": there is none */
} temp_folder;

/* $TMPDIR or /tmp. */
const char *temp_folder_root(void);

/* Creates one there. False: one line was printed. */
bool temp_folder_open(temp_folder *t);

/* Removes it and the files in it. A zeroed one is allowed. */
void temp_folder_close(temp_folder *t);

#endif
