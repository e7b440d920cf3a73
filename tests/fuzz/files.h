// SPDX-License-Identifier: Apache-2.0
/* For fuzz targets whose readers take names of files: a folder in memory, which the end of the
 * program removes. */
#ifndef MONA_TESTS_FUZZ_FILES_H
#define MONA_TESTS_FUZZ_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { FUZZ_PATH = 128 };

static inline char *fuzz_folder(void)
{
    static char folder[64];
    return folder;
}

/* What targets write lies in the folder, and not in folders below it. */
static inline void fuzz_remove_folder(void)
{
    char command[FUZZ_PATH];
    snprintf(command, sizeof command, "rm -rf '%s'", fuzz_folder());
    if (system(command))
        fputs("a folder stays behind\n", stderr);
}

static inline void fuzz_path(char path[FUZZ_PATH], const char *name)
{
    char *folder = fuzz_folder();
    if (!*folder) {
        strcpy(folder,
               access("/dev/shm", W_OK) ? "/tmp/mona_fuzz_XXXXXX" : "/dev/shm/mona_fuzz_XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(fuzz_remove_folder);
    }
    snprintf(path, FUZZ_PATH, "%s/%s", folder, name);
}

/* Writes a file of this name; path becomes its whole name. */
static inline void fuzz_save(char path[FUZZ_PATH], const char *name, const uint8_t *data,
                             size_t size)
{
    fuzz_path(path, name);
    FILE *file = fopen(path, "wb");
    if (!file || (size && fwrite(data, size, 1, file) != 1) || fclose(file))
        abort();
}

#endif
