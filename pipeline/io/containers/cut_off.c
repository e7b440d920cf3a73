// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/containers/media_file.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libavutil/intreadwrite.h>

enum { HEAD = 8, LONG_HEAD = 16, BOXES_MAX = 10000 };

/* Reads the head of a box. Returns its size; 0: it goes to the end, or there is none. */
static uint64_t read_box(FILE *file, char type[4])
{
    uint8_t head[LONG_HEAD];
    if (fread(head, 1, HEAD, file) != HEAD)
        return 0;
    memcpy(type, head + 4, 4);
    const uint64_t size = AV_RB32(head);
    if (size != 1)
        return size;
    return fread(head + HEAD, 1, HEAD, file) == HEAD ? AV_RB64(head + HEAD) : 0;
}

/* Goes from box to box. *end: where the last one ends. Returns whether it is such a file. */
static bool walk(FILE *file, uint64_t bytes, uint64_t *end, bool *indexed)
{
    char type[4];
    *end = 0;
    *indexed = false;
    for (unsigned n = 0; n < BOXES_MAX && *end < bytes; n++) {
        const uint64_t size = fseeko(file, (off_t)*end, SEEK_SET) ? 0 : read_box(file, type);
        if (!n && memcmp(type, "ftyp", 4) != 0)
            return false;
        *indexed |= size && (!memcmp(type, "moov", 4) || !memcmp(type, "moof", 4));
        if (size < HEAD || size > INT64_MAX - *end)
            return true;
        *end += size;
    }
    return true;
}

bool cut_off_found(const char *path, pipeline_error *error)
{
    struct stat status;
    uint64_t end = 0;
    bool indexed = true;
    FILE *file = fopen(path, "rb");
    const bool looks = file && !fstat(fileno(file), &status) && S_ISREG(status.st_mode) &&
                       status.st_size >= HEAD &&
                       walk(file, (uint64_t)status.st_size, &end, &indexed);
    if (file)
        fclose(file);
    if (looks && end > (uint64_t)status.st_size)
        return !pipeline_fail(error,
                              "%s: the file is cut off: it has %lld of at least %" PRIu64
                              " bytes, and what is there cannot be decoded; get the whole file, "
                              "as from a download that broke off",
                              path, (long long)status.st_size, end);
    if (looks && !indexed)
        return !pipeline_fail(error,
                              "%s: the file has no index (moov), which is written last: it is cut "
                              "off, or its recording was not ended; get the whole file",
                              path);
    return false;
}
