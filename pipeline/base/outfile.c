// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "pipeline/base/stop.h"

#define MIB (1024.0 * 1024.0)

/* The path of a link's target: relative links start from the folder of path. */
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
    enum { LINKS = 40 }; /* the limit of Linux */
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

const char *outfile_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether two names that do not exist would become one file. */
static bool is_same_new(const char *a, const char *b)
{
    struct stat in_a, in_b;
    char *path_a = outfile_target(a), *path_b = outfile_target(b);
    const bool same = path_a && path_b &&
                      !strcmp(outfile_base_name(path_a), outfile_base_name(path_b)) &&
                      !stat(dirname(path_a), &in_a) && !stat(dirname(path_b), &in_b) &&
                      in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
    free(path_a);
    free(path_b);
    return same;
}

bool outfile_is_same(const char *a, const char *b)
{
    struct stat of_a, of_b;
    const bool has_a = !stat(a, &of_a), has_b = !stat(b, &of_b);
    if (!has_a && !has_b)
        return is_same_new(a, b);
    return has_a && has_b && S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

static bool may_replace(const char *name, const char *input, pipeline_error *error)
{
    struct stat out;
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
    if (input && outfile_is_same(name, input))
        return pipeline_fail(error, "%s: the output is the input; expected another name", name);
    return true;
}

/* Whether the file with this name is the open one, and this process holds its lock. */
static bool is_ours(int fd, const char *part)
{
    struct stat opened, named;
    return !flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &opened) && !stat(part, &named) &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Removes the file with this name if a dead run left it. False, with EEXIST: another run uses the
 * name, or something that is not mona's; with another error, no file can be opened at all. */
static bool clear_part(const char *part)
{
    const int fd = open(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == EMFILE || errno == ENFILE))
        return errno == ENOENT;
    const bool dead = fd >= 0 && is_ours(fd, part) && !unlink(part);
    if (fd >= 0)
        close(fd);
    errno = EEXIST;
    return dead;
}

/* Between creating and locking the file, another run may take it for a dead run's and remove it;
 * then it is created again. A file system without locks has neither this problem nor the
 * cleaning. */
static int create_part(const char *part, mode_t mode)
{
    int fd = -1;
    for (int tries = 0; tries < 100 && clear_part(part); tries++) {
        fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
        errno = 0;
        if (fd >= 0 && (is_ours(fd, part) || errno == ENOLCK || errno == EOPNOTSUPP))
            return fd;
        if (fd >= 0)
            close(fd);
        errno = EEXIST;
    }
    return -1;
}

enum { MAX_RUNS = 16 }; /* at a time on one output */

/* Writes NAME.mona.part, NAME.mona2.part ..., with NAME cut after a whole character if the result
 * would be too long for a file name. */
static void number_part(char *part, size_t bytes, const char *name, int n)
{
    const size_t folder = (size_t)(outfile_base_name(name) - name);
    char tail[32];
    const size_t room =
        NAME_MAX - (size_t)snprintf(tail, sizeof tail, n > 1 ? ".mona%d.part" : ".mona.part", n);
    size_t keep = strlen(name);
    if (keep - folder > room)
        for (keep = folder + room; keep > folder && (name[keep] & 0xc0) == 0x80;)
            keep--;
    snprintf(part, bytes, "%.*s%s", (int)keep, name, tail);
}

/* Creates the first free one of NAME.mona.part, NAME.mona2.part ..., after removing those of dead
 * runs. */
static int create_numbered(char *part, size_t bytes, const char *name, mode_t mode)
{
    int fd = -1;
    for (int n = MAX_RUNS; n > 1; n--) {
        number_part(part, bytes, name, n);
        clear_part(part);
    }
    errno = EEXIST;
    for (int n = 1; n <= MAX_RUNS && fd < 0 && errno == EEXIST; n++) {
        number_part(part, bytes, name, n);
        fd = create_part(part, mode);
    }
    return fd;
}

/* What replaces a private file is as private. Writers open it once more, so that its owner may
 * write. */
static mode_t mode_of(const char *name)
{
    struct stat old;
    return stat(name, &old) ? 0666 : (old.st_mode & 0777) | S_IRUSR | S_IWUSR;
}

bool outfile_open(outfile *file, const char *name, const char *wanted, const char *input, bool keep,
                  pipeline_error *error)
{
    *file = (outfile){.name = name, .lock = -1, .keep = keep};
    if (!may_replace(name, input, error))
        return false;

    file->target = outfile_target(name);
    const size_t bytes = file->target ? strlen(wanted ? wanted : file->target) + 32 : 0;
    file->part = file->target ? malloc(bytes) : NULL;
    if (!file->part) {
        outfile_discard(file);
        return pipeline_fail(error, "out of memory");
    }
    stop_hold();
    if (wanted)
        snprintf(file->part, bytes, "%s", wanted);
    const mode_t mode = mode_of(name);
    file->lock = wanted ? create_part(file->part, mode)
                        : create_numbered(file->part, bytes, file->target, mode);
    const int reason = errno;
    const bool noted = file->lock >= 0 && stop_removes(file->part, name);
    stop_release();
    if (noted)
        return true;
    if (file->lock < 0) {
        free(file->part);
        file->part = NULL;
        outfile_discard(file);
        return pipeline_fail(error, "%s: cannot be created: %s", name, strerror(reason));
    }
    outfile_discard(file);
    return pipeline_fail(error, "out of memory");
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

void outfile_sync_folder(const char *name)
{
    char *copy = strdup(name);
    if (copy)
        sync_path(dirname(copy), O_RDONLY | O_DIRECTORY);
    free(copy);
}

static void forget_part(outfile *file)
{
    stop_keeps(file->part);
    close(file->lock);
    free(file->part);
    file->part = NULL;
}

/* Renames the part, unless a file has the name: then EEXIST. A file system without hard links looks
 * a moment before. */
static bool rename_to_free(const char *part, const char *name)
{
    struct stat there;
    if (!link(part, name))
        return !unlink(part);
    if (errno == EEXIST || (!lstat(name, &there) && (errno = EEXIST)))
        return false;
    return !rename(part, name);
}

/* The result becomes NAME.1, NAME.2 ... */
static void rename_beside(outfile *file, pipeline_error *error)
{
    char name[PATH_MAX];
    bool done = false;
    for (int n = 1; n <= MAX_RUNS && !done; n++)
        done = snprintf(name, sizeof name, "%s.%d", file->target, n) < (int)sizeof name &&
               rename_to_free(file->part, name);
    if (done)
        pipeline_fail(error, "%s: exists by now and is kept; the result is %s", file->name, name);
    else
        pipeline_fail(error, "%s: exists by now and is kept; the result has no name: %s",
                      file->name, strerror(errno));
}

bool outfile_commit(outfile *file, pipeline_error *error)
{
    bool good = !sync_path(file->part, O_WRONLY);
    if (good) {
        stop_hold();
        good = file->keep ? rename_to_free(file->part, file->target)
                          : !rename(file->part, file->target);
        if (!good && file->keep && errno == EEXIST)
            rename_beside(file, error);
        if (good)
            forget_part(file);
        stop_release();
    }
    if (!good) {
        pipeline_fail(error, "%s: cannot be written: %s", file->name, strerror(errno));
        outfile_discard(file);
        return false;
    }
    outfile_sync_folder(file->target);
    free(file->target);
    file->target = NULL;
    return true;
}

void outfile_discard(outfile *file)
{
    if (file->part) {
        unlink(file->part);
        forget_part(file);
    }
    free(file->target);
    file->target = NULL;
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
    if (!outfile_open(&file, name, NULL, input, false, error))
        return false;
    if (write_all(&file, bytes, size))
        return outfile_commit(&file, error);
    pipeline_fail(error, "%s: cannot be written: %s", name, strerror(errno));
    outfile_discard(&file);
    return false;
}

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
