// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool may_replace(const char *name, const char *input, pipeline_error *error)
{
    struct stat out, in;
    if (stat(name, &out))
        return true;
    if (S_ISDIR(out.st_mode))
        return pipeline_fail(error, "%s: expected a file name for the output, found a directory",
                             name);
    if (!S_ISREG(out.st_mode))
        return pipeline_fail(error,
                             "%s: expected a regular file or a new name for the output, "
                             "found a device or a pipe",
                             name);
    if (input && !stat(input, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
        return pipeline_fail(error, "%s: the output is the input; expected another name", name);
    return true;
}

bool outfile_open(outfile *file, const char *name, const char *wanted, const char *input,
                  pipeline_error *error)
{
    *file = (outfile){.name = name};
    if (!may_replace(name, input, error))
        return false;

    size_t bytes = (wanted ? strlen(wanted) : strlen(name)) + 32;
    char *part = malloc(bytes);
    if (!part)
        return pipeline_fail(error, "out of memory");
    if (wanted)
        snprintf(part, bytes, "%s", wanted);
    else
        snprintf(part, bytes, "%s.%ld.part", name, (long)getpid());
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        pipeline_fail(error, "%s: cannot be created: %s", name, strerror(errno));
        free(part);
        return false;
    }
    close(fd);
    file->part = part;
    return true;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int failed = fsync(fd);
    int reason = errno;
    close(fd);
    errno = reason;
    return failed;
}

/* Makes the rename itself durable. Best effort: some file systems cannot sync a folder, and the
 * file is complete either way. */
static void sync_folder(const char *name)
{
    char *copy = strdup(name);
    if (copy)
        sync_path(dirname(copy), O_RDONLY | O_DIRECTORY);
    free(copy);
}

bool outfile_commit(outfile *file, pipeline_error *error)
{
    if (sync_path(file->part, O_WRONLY) || rename(file->part, file->name)) {
        pipeline_fail(error, "%s: cannot be written: %s", file->name, strerror(errno));
        outfile_discard(file);
        return false;
    }
    free(file->part);
    file->part = NULL;
    sync_folder(file->name);
    return true;
}

void outfile_discard(outfile *file)
{
    if (file->part)
        unlink(file->part);
    free(file->part);
    file->part = NULL;
}

static bool write_all(const outfile *file, const void *bytes, size_t size)
{
    FILE *part = fopen(file->part, "wb");
    bool good = part && fwrite(bytes, 1, size, part) == size;
    if (part && fclose(part))
        good = false;
    return good;
}

bool outfile_save(const char *name, const char *input, const void *bytes, size_t size,
                  pipeline_error *error)
{
    outfile file;
    if (!outfile_open(&file, name, NULL, input, error))
        return false;
    if (write_all(&file, bytes, size))
        return outfile_commit(&file, error);
    pipeline_fail(error, "%s: cannot be written: %s", name, strerror(errno));
    outfile_discard(&file);
    return false;
}
