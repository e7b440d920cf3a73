// SPDX-License-Identifier: Apache-2.0
#include "formats/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ALIGNMENT = 64 };

void *file_alloc(size_t count)
{
    if (count > SIZE_MAX - ALIGNMENT)
        return NULL;
    const size_t rounded = (count + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    return memory ? memset(memory, 0, rounded) : NULL;
}

/* known: the file's size, if it has one, so that memory is allocated once; for pipes it grows. */
static bool read_stream(FILE *file, size_t known, const char *path, size_t limit, uint8_t **bytes,
                        size_t *size, format_error *error)
{
    size_t room = known ? known + 1 : 65536, used = 0;
    uint8_t *memory = file_alloc(room);
    while (memory) {
        used += fread(memory + used, 1, room - used, file);
        if (used < room)
            break;
        uint8_t *larger = used > limit ? NULL : file_alloc(room * 2);
        if (larger)
            memcpy(larger, memory, used);
        free(memory);
        memory = larger;
        room *= 2;
        if (used > limit)
            return format_fail(error, "%s: larger than %zu bytes, the most that is read", path,
                               limit);
    }
    if (!memory)
        return format_fail(error, "%s: out of memory", path);
    *bytes = memory;
    *size = used;
    if (ferror(file))
        return format_fail(error, "%s: %s", path, strerror(errno));
    return used ? true : format_fail(error, "%s: the file is empty", path);
}

bool file_read(const char *path, const char *what, size_t limit, uint8_t **bytes, size_t *size,
               format_error *error)
{
    *bytes = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return format_fail(error, "%s: %s", path, strerror(errno));
    struct stat about;
    bool ok = true;
    size_t known = 0;
    if (fstat(fileno(file), &about))
        ok = format_fail(error, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        ok = format_fail(error, "%s: expected %s, found a folder", path, what);
    else if (S_ISREG(about.st_mode))
        known = (size_t)about.st_size;
    if (ok && known > limit)
        ok = format_fail(error, "%s: %zu bytes; expected %s of at most %zu", path, known, what,
                         limit);
    ok = ok && read_stream(file, known, path, limit, bytes, size, error);
    fclose(file);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return ok;
}
