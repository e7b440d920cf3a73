// SPDX-License-Identifier: Apache-2.0
/* Preloaded into mona: makes the n-th call of a function fail. MONA_FAULT=CALL:N:ERRNO with CALL
 * one of
 *
 *   read, write, lseek  on a file whose name contains MONA_FAULT_FILE, by libav's file protocol
 *   fsync, rename    any
 *   decode, encode   avcodec_receive_frame, avcodec_send_frame
 *   encoder          avcodec_open2 of an encoder
 *   space            statvfs, which then reports a disk of one block
 *
 * Everything else is unchanged. ERRNO is a number; libav's functions return its negative. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>

enum { MOST_FILES = 1024 };
static atomic_bool watched[MOST_FILES];
static atomic_long calls;

/* Whether this call of name must fail; sets errno. */
static bool fails(const char *name)
{
    const bool endless = getenv("MONA_FAULT_ENDLESS"); /* later calls fail too */
    char wanted[32];
    long n;
    int reason;
    const char *fault = getenv("MONA_FAULT");
    if (!fault || sscanf(fault, "%31[^:]:%ld:%d", wanted, &n, &reason) != 3 || strcmp(wanted, name))
        return false;
    const long call = atomic_fetch_add(&calls, 1) + 1;
    if (endless ? call < n : call != n)
        return false;
    errno = reason;
    return true;
}

static int watch(const char *path, int fd)
{
    const char *part = getenv("MONA_FAULT_FILE");
    if (fd >= 0 && fd < MOST_FILES)
        atomic_store(&watched[fd], part && strstr(path, part));
    return fd;
}

static bool is_watched(int fd)
{
    return fd >= 0 && fd < MOST_FILES && atomic_load(&watched[fd]);
}

static int open_next(const char *name, const char *path, int flags, mode_t mode)
{
    int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    return watch(path, next(path, flags, mode));
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_next("open", path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_next("open64", path, flags, mode);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    ssize_t (*next)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
    return is_watched(fd) && fails("read") ? -1 : next(fd, bytes, size);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    return is_watched(fd) && fails("write") ? -1 : next(fd, bytes, size);
}

off_t lseek(int fd, off_t at, int from)
{
    off_t (*next)(int, off_t, int) = dlsym(RTLD_NEXT, "lseek");
    return is_watched(fd) && fails("lseek") ? -1 : next(fd, at, from);
}

off64_t lseek64(int fd, off64_t at, int from)
{
    off64_t (*next)(int, off64_t, int) = dlsym(RTLD_NEXT, "lseek64");
    return is_watched(fd) && fails("lseek") ? -1 : next(fd, at, from);
}

int fsync(int fd)
{
    int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
    return fails("fsync") ? -1 : next(fd);
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    return fails("rename") ? -1 : next(from, to);
}

int statvfs(const char *path, struct statvfs *disk)
{
    int (*next)(const char *, struct statvfs *) = dlsym(RTLD_NEXT, "statvfs");
    int code = next(path, disk);
    if (!code && fails("space"))
        disk->f_bavail = 1;
    return code;
}

int avcodec_receive_frame(AVCodecContext *codec, AVFrame *frame)
{
    int (*next)(AVCodecContext *, AVFrame *) = dlsym(RTLD_NEXT, "avcodec_receive_frame");
    if (getenv("MONA_FAULT_ENDLESS") && fails("decode"))
        return AVERROR(errno);
    int code = next(codec, frame);
    if (code < 0 || !fails("decode"))
        return code;
    av_frame_unref(frame);
    return AVERROR_INVALIDDATA;
}

int avcodec_send_frame(AVCodecContext *codec, const AVFrame *frame)
{
    int (*next)(AVCodecContext *, const AVFrame *) = dlsym(RTLD_NEXT, "avcodec_send_frame");
    return fails("encode") ? AVERROR(errno) : next(codec, frame);
}

int avcodec_open2(AVCodecContext *context, const AVCodec *codec, AVDictionary **options)
{
    int (*next)(AVCodecContext *, const AVCodec *, AVDictionary **) =
        dlsym(RTLD_NEXT, "avcodec_open2");
    return codec && av_codec_is_encoder(codec) && fails("encoder") ? AVERROR(errno)
                                                                   : next(context, codec, options);
}
