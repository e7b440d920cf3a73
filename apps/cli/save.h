// SPDX-License-Identifier: Apache-2.0
/* Writes whole files. */
#ifndef MONA_SAVE_H
#define MONA_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes bytes under path, where a file appears only when it is complete. False: one line was
 * printed. */
bool save_file(const char *path, const void *bytes, size_t size);

/* A text file that is put together in memory first. */
typedef struct text_file {
    FILE *f; /* write here; NULL: out of memory */
    char *text;
    size_t size;
} text_file;

/* Must not move, and text_file_save ends it. */
void text_file_begin(text_file *t);

/* Saves it as save_file does, unless something failed. complete: all of it was put. */
bool text_file_save(text_file *t, bool complete, const char *path);

/* A folder for temporary files. */

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
