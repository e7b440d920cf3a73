// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/outfile.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define MIB (1024.0 * 1024.0)

bool disk_space_check(const char *path, uint64_t bytes, bool exact, const char *what,
                      const pipeline_notes *notes, pipeline_error *error)
{
    struct statvfs disk;
    char *copy = strdup(path);
    bool known = copy && !statvfs(dirname(copy), &disk);
    free(copy);
    if (!known || !bytes)
        return true;
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if (room >= (double)bytes)
        return true;
    if (exact)
        return pipeline_fail(error, "%s: expected %.1f MiB free on the disk, found %.1f", path,
                             (double)bytes / MIB, room / MIB);
    pipeline_note(notes, "%s: the disk has %.1f MiB free, but %s %.1f MiB", path, room / MIB, what,
                  (double)bytes / MIB);
    return true;
}
