// SPDX-License-Identifier: Apache-2.0
#include "formats/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* Opens it to be read. *known: its size; 0: it is no regular file. NULL, with an error. */
static FILE *open_file(const char *path, const char *what, size_t limit, size_t *known,
                       format_error *error)
{
    FILE *file = fopen(path, "rb");
    struct stat about;
    bool ok = true;
    *known = 0;
    if (!file || fstat(fileno(file), &about))
        ok = format_fail(error, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        ok = format_fail(error, "%s: expected %s, found a folder", path, what);
    else if (S_ISREG(about.st_mode))
        *known = (size_t)about.st_size;
    if (ok && *known > limit)
        ok = format_fail(error, "%s: %zu bytes; expected %s of at most %zu", path, *known, what,
                         limit);
    if (ok || !file)
        return file;
    fclose(file);
    return NULL;
}

bool file_read(const char *path, const char *what, size_t limit, uint8_t **bytes, size_t *size,
               format_error *error)
{
    size_t known;
    *bytes = NULL;
    FILE *file = open_file(path, what, limit, &known, error);
    const bool ok = file && read_stream(file, known, path, limit, bytes, size, error);
    if (file)
        fclose(file);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return ok;
}

/* Pages of memory, whether they are a file's or not, are released alike. */
static uint8_t *map_pages(FILE *file, size_t size)
{
    const int flags = file ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
    void *pages = mmap(NULL, size, file ? PROT_READ : PROT_READ | PROT_WRITE, flags,
                       file ? fileno(file) : -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

bool file_map(const char *path, const char *what, size_t limit, uint8_t **bytes, size_t *size,
              format_error *error)
{
    uint8_t *read = NULL;
    *bytes = NULL;
    FILE *file = open_file(path, what, limit, size, error);
    bool ok = file != NULL;
    if (ok && *size) {
        *bytes = map_pages(file, *size);
    } else if (ok && (ok = read_stream(file, 0, path, limit, &read, size, error))) {
        *bytes = map_pages(NULL, *size);
        if (*bytes)
            memcpy(*bytes, read, *size);
    }
    if (ok && !*bytes)
        ok = format_fail(error, "%s: out of memory", path);
    free(read);
    if (file)
        fclose(file);
    return ok;
}

void file_release(uint8_t *bytes, size_t size)
{
    if (bytes)
        munmap(bytes, size);
}
