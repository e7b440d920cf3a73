// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool may_replace(const char *name, const char *input, pipeline_error *error)
{
    struct stat out, in;
    if (stat(name, &out))
        return errno == ENOENT ||
               pipeline_fail(error, "%s: cannot be created: %s", name, strerror(errno));
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

/* What a link in the folder of path says. */
static char *join(const char *path, const char *link)
{
    const char *slash = *link == '/' ? NULL : strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    char *joined = malloc(folder + strlen(link) + 1);
    if (joined) {
        memcpy(joined, path, folder);
        strcpy(joined + folder, link);
    }
    return joined;
}

char *outfile_target(const char *name)
{
    enum { LINKS = 40 }; /* as many as Linux follows */
    char *path = strdup(name), link[PATH_MAX];
    for (int i = 0; path && i < LINKS; i++) {
        const ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0)
            break;
        link[length] = 0;
        char *next = join(path, link);
        free(path);
        path = next;
    }
    return path;
}

/* TARGET.<process>.part, with as much of the target's last name, in whole characters, as a name has
 * room for. */
static char *part_of(const char *target)
{
    const char *slash = strrchr(target, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - target) : 0;
    char tail[32];
    const size_t room = NAME_MAX - (size_t)snprintf(tail, sizeof tail, ".%ld.part", (long)getpid());
    size_t keep = strlen(target);
    if (keep - folder > room)
        for (keep = folder + room; keep > folder && (target[keep] & 0xc0) == 0x80;)
            keep--;
    char *part = malloc(keep + sizeof tail);
    if (part)
        sprintf(part, "%.*s%s", (int)keep, target, tail);
    return part;
}

bool outfile_open(outfile *file, const char *name, const char *wanted, const char *input,
                  pipeline_error *error)
{
    *file = (outfile){.name = name};
    if (!may_replace(name, input, error))
        return false;
    file->target = outfile_target(name);
    char *part = wanted ? strdup(wanted) : file->target ? part_of(file->target) : NULL;
    const int fd = part && file->target ? open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                                        : (errno = ENOMEM, -1);
    if (fd < 0) {
        pipeline_fail(error, "%s: cannot be created: %s", name, strerror(errno));
        free(part);
        outfile_discard(file);
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

static void release(outfile *file)
{
    free(file->part);
    free(file->target);
    file->part = file->target = NULL;
}

bool outfile_commit(outfile *file, pipeline_error *error)
{
    if (sync_path(file->part, O_WRONLY) || rename(file->part, file->target)) {
        pipeline_fail(error, "%s: cannot be written: %s", file->name, strerror(errno));
        outfile_discard(file);
        return false;
    }
    sync_folder(file->target);
    release(file);
    return true;
}

void outfile_discard(outfile *file)
{
    if (file->part)
        unlink(file->part);
    release(file);
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
