// SPDX-License-Identifier: Apache-2.0
/* Files beside a model that the model names. As the names are untrusted, nothing outside the
 * model's folder is opened, whatever the path or link. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/onnx/onnx_reader.h"

/* Whether the path is relative and has no part "..". */
static bool stays_inside(const char *location)
{
    if (!*location || *location == '/' || strchr(location, '\\'))
        return false;
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (!strncmp(part, "..", 2) && (part[2] == '/' || !part[2]))
            return false;
    }
    return true;
}

/* The real path of the file, with links resolved, if it lies in the folder. */
static bool resolve(const char *folder, const char *location, char *path, format_error *error)
{
    char real[PATH_MAX], joined[PATH_MAX];
    if (!stays_inside(location))
        return format_fail(error, "'%.100s' is not a path inside the model's folder", location);
    const int length = snprintf(joined, sizeof joined, "%s/%s", folder, location);
    if (length < 0 || (size_t)length >= sizeof joined || !realpath(folder, real) ||
        !realpath(joined, path))
        return format_fail(error, "'%.100s': %s", location, strerror(errno));
    const size_t inside = strlen(real);
    if (strncmp(path, real, inside) || (path[inside] != '/' && strcmp(real, "/")))
        return format_fail(error, "'%.100s' leads outside the model's folder", location);
    return true;
}

static bool read_part(FILE *file, const char *location, uint64_t offset, uint64_t length,
                      uint8_t **bytes, size_t *size, format_error *error)
{
    struct stat about;
    if (fstat(fileno(file), &about))
        return format_fail(error, "'%.100s': %s", location, strerror(errno));
    const uint64_t whole = (uint64_t)about.st_size;
    if (offset > whole || length > whole - offset)
        return format_fail(error,
                           "'%.100s' has %" PRIu64 " bytes; expected %" PRIu64 " from %" PRIu64,
                           location, whole, length, offset);
    *bytes = malloc(length ? length : 1);
    if (!*bytes)
        return format_fail(error, "out of memory");
    *size = (size_t)length;
    if (fseeko(file, (off_t)offset, SEEK_SET) || fread(*bytes, 1, *size, file) != *size)
        return format_fail(error, "'%.100s' cannot be read", location);
    return true;
}

bool onnx_external_read(const char *folder, const char *location, uint64_t offset, uint64_t length,
                        uint8_t **bytes, size_t *size, format_error *error)
{
    char path[PATH_MAX];
    *bytes = NULL;
    if (!resolve(folder, location, path, error))
        return false;
    struct stat about; /* checked before opening, since opening a pipe would wait */
    if (stat(path, &about) || !S_ISREG(about.st_mode))
        return format_fail(error, "'%.100s' is not a file", location);
    FILE *file = fopen(path, "rb");
    if (!file)
        return format_fail(error, "'%.100s': %s", location, strerror(errno));
    const bool ok = read_part(file, location, offset, length, bytes, size, error);
    fclose(file);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
    }
    return ok;
}
