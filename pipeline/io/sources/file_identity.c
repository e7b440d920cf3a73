// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/md5.h>
#include <libavutil/mem.h>

#include "pipeline/io/sources/picture_list.h"

enum { MD5_BYTES = 16, END_BYTES = 16384, LONGEST_NAME = 4096 };

static void add_part(struct AVMD5 *hash, int fd, off_t from)
{
    uint8_t part[END_BYTES];
    const ssize_t bytes = pread(fd, part, sizeof part, from);
    if (bytes > 0)
        av_md5_update(hash, part, (size_t)bytes);
}

/* Adds both ends of a file. */
static bool add_file(struct AVMD5 *hash, const char *path, struct stat *status,
                     pipeline_error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool good = fd >= 0 && !fstat(fd, status);
    if (good) {
        add_part(hash, fd, 0);
        add_part(hash, fd, status->st_size > END_BYTES ? status->st_size - END_BYTES : 0);
    }
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    return good || pipeline_fail(error, "%s: cannot be read: %s", path, strerror(reason));
}

static bool add_picture(struct AVMD5 *hash, const char *pattern, uint32_t number,
                        pipeline_error *error)
{
    char name[LONGEST_NAME], text[64];
    struct stat status;
    if (!picture_name(name, sizeof name, pattern, number))
        return pipeline_fail(error, "%s: the name is too long", pattern);
    if (!add_file(hash, name, &status, error))
        return false;
    const int length =
        snprintf(text, sizeof text, "%u %lld %lld.%09ld", number, (long long)status.st_size,
                 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    av_md5_update(hash, (const uint8_t *)text, (size_t)length);
    return true;
}

static bool add_pictures(struct AVMD5 *hash, char text[FILE_IDENTITY_TEXT], const char *pattern,
                         pipeline_error *error)
{
    const pipeline_notes silent = {0};
    picture_list list;
    bool good = picture_list_open(&list, pattern, &silent, error);
    for (size_t i = 0; good && i < list.count; i++)
        good = add_picture(hash, pattern, list.numbers[i], error);
    snprintf(text, FILE_IDENTITY_TEXT, "%zu,", list.count);
    picture_list_close(&list);
    return good;
}

bool file_identity(char text[FILE_IDENTITY_TEXT], const char *path, pipeline_error *error)
{
    uint8_t sum[MD5_BYTES];
    struct stat status;
    struct AVMD5 *hash = av_md5_alloc();
    if (!hash)
        return pipeline_fail(error, "out of memory");
    av_md5_init(hash);
    const bool numbered = picture_pattern(path);
    const bool good =
        numbered ? add_pictures(hash, text, path, error) : add_file(hash, path, &status, error);
    av_md5_final(hash, sum);
    av_free(hash);
    if (good && !numbered)
        snprintf(text, FILE_IDENTITY_TEXT, "%lld,%lld.%09ld,", (long long)status.st_size,
                 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    for (int i = 0; good && i < MD5_BYTES; i++)
        snprintf(text + strlen(text), FILE_IDENTITY_TEXT - strlen(text), "%02x", sum[i]);
    return good;
}
