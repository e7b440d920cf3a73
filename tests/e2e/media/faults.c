// SPDX-License-Identifier: Apache-2.0
/* Preloaded into mona, or into a program that uses libmonavideo: makes a call fail, or records what
 * reaches the disk.
 *
 * MONA_FAULT=CLASS:N:ERRNO
 *     the n-th call of a class fails; "none:0:0": none, they are only counted. The classes are
 *     those of the tables below, and these, which stand for a moment of a codec:
 *         decode, encode   avcodec_receive_frame, avcodec_send_frame; nothing is decoded any more
 *                          with MONA_FAULT_ENDLESS
 *         encoder          avcodec_open2 of an encoder
 *         space            statvfs, which then reports a disk of one block
 * MONA_FAULT_FROM=program|libc|libraries
 *     only calls that come from the program itself, which mona is, from libc, or from others;
 *     MONA_FAULT_OBJECT=PART: the shared library with this name stands for the program
 *     Calls of the linker and those while a shared library is opened do not fail, but the opening
 *     itself does: the linker ends the process where it has no memory, also for what each thread
 *     has of a library that was opened, and constructors have nobody to tell. GLib's waits
 *     for ever: what it logs takes the lock of the allocator that failed
 * MONA_FAULT_FILE=PART
 *     of reads, writes and seeks, only those of files whose names contain it
 * MONA_FAULT_COUNT=FILE
 *     a file with a number for each class, on which all processes of a run count. After them come
 *     the addresses from which the program got memory that nobody freed, if it ends by exit
 * MONA_FAULT_ENDLESS
 *     all later calls fail, too
 * MONA_FAULT_TELL=TO:FROM
 *     two descriptors: a line goes to TO before each call that changes names on the disk or makes
 *     them last, and the call waits for a byte from FROM, so that power_loss.py can look at what is
 *     there
 * MONA_FAULT_TRACE
 *     prints where the call comes from that fails
 * MONA_FAULT_SERVE=FROM:TO
 *     two descriptors: the program is loaded once, and FFmpeg's libraries where their calls are
 *     meant, which takes half of a short run's time. For each line "FOLDER FAULT" that comes from
 *     FROM a child runs it in this folder with MONA_FAULT=FAULT, standard error in FOLDER/said, the
 *     count in FOLDER/count and FOLDER/tmp for temporary files; its number and then how it ended
 *     go to TO
 *
 * Everything else is unchanged. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libavcodec/avcodec.h>
#include <libavfilter/version.h>
#include <libavformat/avio.h>
#include <libavformat/version.h>
#include <libavutil/bprint.h>

enum { MOST_FILES = 1024, MOST_BLOCKS = 1 << 16 };
static atomic_bool watched[MOST_FILES];
static const char *const classes[] = {"malloc", "mmap",   "open",    "read",  "write",  "lseek",
                                      "close",  "stat",   "thread",  "fsync", "rename", "av",
                                      "decode", "encode", "encoder", "space", "none"};
enum { CLASSES = sizeof classes / sizeof *classes };
static atomic_long own_calls[CLASSES], *calls = own_calls;

/* ---- who calls ------------------------------------------------------------------------------ */

typedef struct range {
    uintptr_t from, to;
} range;
static range program, libc, linker;
static _Thread_local int opening; /* shared libraries, one for another */

static int note_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    range all = {UINTPTR_MAX, 0};
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const uintptr_t at = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        all.from = at < all.from ? at : all.from;
        all.to =
            at + object->dlpi_phdr[i].p_memsz > all.to ? at + object->dlpi_phdr[i].p_memsz : all.to;
    }
    const char *name = getenv("MONA_FAULT_OBJECT");
    if (name ? strstr(object->dlpi_name, name) != NULL : !program.to)
        program = all; /* the first is the program */
    if (strstr(object->dlpi_name, "/libc.so"))
        libc = all;
    if (strstr(object->dlpi_name, "/ld-"))
        linker = all;
    return 0;
}

static bool in(range r, const void *address)
{
    return (uintptr_t)address >= r.from && (uintptr_t)address < r.to;
}

static bool from_libraries(void)
{
    const char *from = getenv("MONA_FAULT_FROM");
    return from && !strcmp(from, "libraries");
}

static bool is_meant(const void *caller)
{
    const char *from = getenv("MONA_FAULT_FROM");
    if (!program.to || opening || in(linker, caller))
        return false; /* before main, or in a constructor */
    return !from || (*from == 'p'            ? in(program, caller)
                     : !strcmp(from, "libc") ? in(libc, caller)
                                             : !in(program, caller) && !in(libc, caller));
}

static size_t class_of(const char *name, size_t length)
{
    size_t i = 0;
    while (i < CLASSES - 1 && (strncmp(classes[i], name, length) || classes[i][length]))
        i++;
    return i;
}

/* Whether this call must fail; sets errno. */
static bool fails(const char *name, const void *caller)
{
    const bool endless = getenv("MONA_FAULT_ENDLESS"); /* later calls fail too */
    const char *fault = getenv("MONA_FAULT");
    long n = 0;
    int reason = 0;
    if (!fault || !is_meant(caller))
        return false;
    const size_t class = class_of(name, strlen(name)), length = strcspn(fault, ":");
    const long call = atomic_fetch_add(&calls[class], 1) + 1;
    if (class != class_of(fault, length) || sscanf(fault + length, ":%ld:%d", &n, &reason) != 2 ||
        n <= 0 || (endless ? call < n : call != n))
        return false;
    if (getenv("MONA_FAULT_TRACE")) {
        void *frames[40];
        unsetenv("MONA_FAULT");
        backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
        setenv("MONA_FAULT", fault, 1);
    }
    errno = reason;
    return true;
}

/* ---- memory --------------------------------------------------------------------------------- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *before, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

/* What the program itself allocated, and from where. */
static struct block {
    void *at;
    const void *caller;
} blocks[MOST_BLOCKS];
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void *gone = &gone; /* a slot that was taken once: those after it may still be wanted */

/* The slot with this block, or the first that it can take. NULL: none. */
static struct block *slot_of(const void *at, bool free)
{
    size_t i = (uintptr_t)at / 16 * 0x9e3779b97f4a7c15u >> 48;
    for (size_t k = 0; k < MOST_BLOCKS; k++, i = (i + 1) % MOST_BLOCKS)
        if (free ? !blocks[i].at || blocks[i].at == gone : blocks[i].at == at)
            return &blocks[i];
        else if (!blocks[i].at)
            return NULL;
    return NULL;
}

static void enter(const void *at, bool free, struct block now)
{
    while (atomic_flag_test_and_set(&busy))
        ;
    struct block *slot = slot_of(at, free);
    if (slot)
        *slot = now;
    atomic_flag_clear(&busy);
}

static void *note(void *at, const void *caller)
{
    if (at && in(program, caller))
        enter(at, true, (struct block){at, caller});
    return at;
}

static void forget(const void *at)
{
    if (at)
        enter(at, false, (struct block){gone, NULL});
}

#define CALLER __builtin_return_address(0)

void *fault_malloc(size_t bytes) __asm__("malloc");
void *fault_malloc(size_t bytes)
{
    return fails("malloc", CALLER) ? NULL : note(__libc_malloc(bytes), CALLER);
}

void *fault_calloc(size_t count, size_t bytes) __asm__("calloc");
void *fault_calloc(size_t count, size_t bytes)
{
    return fails("malloc", CALLER) ? NULL : note(__libc_calloc(count, bytes), CALLER);
}

void *fault_realloc(void *before, size_t bytes) __asm__("realloc");
void *fault_realloc(void *before, size_t bytes)
{
    if (fails("malloc", CALLER))
        return NULL;
    forget(before);
    return note(__libc_realloc(before, bytes), CALLER);
}

void *fault_aligned_alloc(size_t alignment, size_t bytes) __asm__("aligned_alloc");
void *fault_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails("malloc", CALLER) ? NULL : note(__libc_memalign(alignment, bytes), CALLER);
}

int fault_posix_memalign(void **at, size_t alignment, size_t bytes) __asm__("posix_memalign");
int fault_posix_memalign(void **at, size_t alignment, size_t bytes)
{
    if (fails("malloc", CALLER))
        return ENOMEM;
    void *block = note(__libc_memalign(alignment, bytes), CALLER);
    if (block)
        *at = block;
    return block ? 0 : ENOMEM;
}

void fault_free(void *at) __asm__("free");
void fault_free(void *at)
{
    forget(at);
    __libc_free(at);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int watch(const char *path, int fd)
{
    const char *part = getenv("MONA_FAULT_FILE");
    if (fd >= 0 && fd < MOST_FILES)
        atomic_store(&watched[fd], !part || strstr(path, part));
    return fd;
}

static bool is_watched(long fd)
{
    return !getenv("MONA_FAULT_FILE") || (fd >= 0 && fd < MOST_FILES && atomic_load(&watched[fd]));
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

#define OPEN(name)                                                                                 \
    int fault_##name(const char *path, int flags, ...) __asm__(#name);                             \
    int fault_##name(const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = mode_of(flags, arguments);                                                   \
        va_end(arguments);                                                                         \
        return fails("open", CALLER) ? -1 : open_next(#name, path, flags, mode);                   \
    }
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)

/* The signature of every call below: more arguments are passed on than it has, which does no harm
 * where arguments are in registers and above the stack's end. */
#define PARAMETERS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j
typedef long any_function(PARAMETERS);

static void stdio_error(FILE *file)
{
    if (file)                 /* NULL: all */
        file->_flags |= 0x20; /* ferror tells it */
}

static const char *const files[] = {"libavcodec.so." AV_STRINGIFY(LIBAVCODEC_VERSION_MAJOR),
                                    "libavformat.so." AV_STRINGIFY(LIBAVFORMAT_VERSION_MAJOR),
                                    "libavfilter.so." AV_STRINGIFY(LIBAVFILTER_VERSION_MAJOR)};
enum { FILES = sizeof files / sizeof *files };

static void *open_library(const char *file, int mode)
{
    opening++;
    void *library = dlopen(file, mode);
    opening--;
    return library;
}

/* FFmpeg's libraries may be opened on demand: then they are after no other. */
static any_function *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    for (size_t i = 0; !found && i < FILES; i++) {
        void *library = open_library(files[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
    }
    return (any_function *)found;
}

#define CALL(name, class, watched, failure)                                                        \
    long fault_##name(PARAMETERS) __asm__(#name);                                                  \
    long fault_##name(PARAMETERS)                                                                  \
    {                                                                                              \
        static any_function *next;                                                                 \
        if (!next)                                                                                 \
            next = find(#name);                                                                    \
        return (watched) && fails(class, CALLER) ? (failure) : next(ARGUMENTS);                    \
    }
#define FILE_CALL(name, class) CALL(name, class, is_watched(a), -1)
FILE_CALL(read, "read")
FILE_CALL(__read_chk, "read")
FILE_CALL(pread, "read")
FILE_CALL(pread64, "read")
FILE_CALL(write, "write")
FILE_CALL(pwrite, "write")
FILE_CALL(lseek, "lseek")
FILE_CALL(lseek64, "lseek")

/* Streams are of no named file. */
static bool any_file(void)
{
    return !getenv("MONA_FAULT_FILE");
}

#define C_CALL(name, class, failure) CALL(name, class, true, failure)
#define STREAM(name, class, failure) CALL(name, class, any_file(), failure)
C_CALL(mmap, "mmap", (long)MAP_FAILED)
C_CALL(mmap64, "mmap", (long)MAP_FAILED)
C_CALL(pthread_create, "thread", EAGAIN)
/* Says what is about to be done, and waits. */
static bool tell(const char *what, const char *path)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const char *ends = getenv("MONA_FAULT_TELL");
    char line[4200], answer;
    int to, from;
    if (ends && sscanf(ends, "%d:%d", &to, &from) == 2) {
        const int length = snprintf(line, sizeof line, "%s %s\n", what, path);
        pthread_mutex_lock(&lock);
        if (find("write")(to, (long)line, length, 0, 0, 0, 0, 0, 0, 0) != length ||
            find("read")(from, (long)&answer, 1, 0, 0, 0, 0, 0, 0, 0) != 1)
            _exit(99);
        pthread_mutex_unlock(&lock);
    }
    return true;
}

static bool tell_file(long fd)
{
    char name[64], path[4096] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%ld", fd);
    if (getenv("MONA_FAULT_TELL"))
        find("readlink")((long)name, (long)path, sizeof path - 1, 0, 0, 0, 0, 0, 0, 0);
    return tell("fsync", path);
}

CALL(fsync, "fsync", tell_file(a), -1)
CALL(rename, "rename", tell("rename", (const char *)b), -1)
CALL(link, "rename", tell("link", (const char *)b), -1)
CALL(mkdir, "rename", tell("mkdir", (const char *)a), -1)
CALL(unlink, "unlink", tell("unlink", (const char *)a), -1)
CALL(unlinkat, "unlink", tell("unlink", (const char *)b), -1)
CALL(rmdir, "unlink", tell("rmdir", (const char *)a), -1)
C_CALL(mkdtemp, "rename", 0)
C_CALL(stat, "stat", -1)
C_CALL(lstat, "stat", -1)
C_CALL(fstat, "stat", -1)
C_CALL(statvfs64, "stat", -1)
C_CALL(readlink, "stat", -1)
C_CALL(flock, "stat", -1)
C_CALL(pipe, "open", -1)
C_CALL(pipe2, "open", -1)
C_CALL(fork, "thread", -1)
void *fault_dlopen(const char *file, int mode) __asm__("dlopen");
void *fault_dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");
    const bool failed = fails("open", CALLER);
    opening++;
    void *opened = next(failed ? "none.so" : file, mode); /* which sets what dlerror returns */
    opening--;
    return opened;
}

C_CALL(fopen, "open", 0)
C_CALL(fdopen, "open", 0)
C_CALL(opendir, "open", 0)
C_CALL(scandir, "open", -1)
C_CALL(tmpfile, "open", 0)
C_CALL(open_memstream, "malloc", 0)
C_CALL(strdup, "malloc", 0)
C_CALL(strndup, "malloc", 0)
C_CALL(newlocale, "malloc", 0)
STREAM(fread, "read", (stdio_error((FILE *)d), 0))
STREAM(fgets, "read", (stdio_error((FILE *)c), 0))
STREAM(fgetc, "read", (stdio_error((FILE *)a), EOF))
STREAM(fseek, "lseek", -1)
STREAM(fseeko, "lseek", -1)
STREAM(ftell, "lseek", -1)
STREAM(ftello, "lseek", -1)

STREAM(fread_unlocked, "read", (stdio_error((FILE *)d), 0))
#define STREAM_CALL(name, stream, failure)                                                         \
    CALL(name, "write", any_file() && (FILE *)(stream) != stderr,                                  \
         (stdio_error((FILE *)(stream)), failure))
STREAM_CALL(fwrite, d, 0)
STREAM_CALL(fputs, b, EOF)
STREAM_CALL(fputc, b, EOF)
STREAM_CALL(putc, b, EOF)
STREAM_CALL(fflush, a, EOF)
/* The descriptor is free afterwards, as with the real ones. */
CALL(fclose, "close", (FILE *)a != stderr, (next(ARGUMENTS), errno = EIO, EOF))
CALL(close, "close", true, (next(ARGUMENTS), errno = EIO, -1))
CALL(closedir, "close", true, (next(ARGUMENTS), errno = EIO, -1))

/* ---- FFmpeg --------------------------------------------------------------------------------- */

static int av_error(void)
{
    return AVERROR(errno);
}

/* What the callers of these functions own no more if they fail. */
static long open_input(long input)
{
    const long context = *(long *)input;
    *(long *)input = 0;
    return context;
}

static long after(const char *release, long what)
{
    const int reason = errno;
    if (what)
        find(release)(what, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return AVERROR(reason);
}

#define AV_INT(name) CALL(name, "av", true, av_error())
#define AV_POINTER(name) CALL(name, "av", true, 0)
#define AV_RELEASES(name, release, what) CALL(name, "av", true, after(#release, what))
#define AV_NEVER(name) /* cannot fail, or has an answer that means "none" */
#include "fault_calls.inc"

/* ---- moments of codecs ---------------------------------------------------------------------- */

int statvfs(const char *path, struct statvfs *disk)
{
    int (*next)(const char *, struct statvfs *) = dlsym(RTLD_NEXT, "statvfs");
    if (fails("stat", CALLER))
        return -1;
    int code = next(path, disk);
    if (!code && fails("space", CALLER))
        disk->f_bavail = 1;
    return code;
}

int avcodec_receive_frame(AVCodecContext *codec, AVFrame *frame)
{
    static any_function *next;
    if (!next)
        next = find("avcodec_receive_frame");
    if (fails("av", CALLER) || (getenv("MONA_FAULT_ENDLESS") && fails("decode", CALLER)))
        return AVERROR(errno);
    int code = (int)next((long)codec, (long)frame, 0, 0, 0, 0, 0, 0, 0, 0);
    if (code < 0 || !fails("decode", CALLER))
        return code;
    find("av_frame_unref")((long)frame, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    return AVERROR_INVALIDDATA;
}

int avcodec_send_frame(AVCodecContext *codec, const AVFrame *frame)
{
    static any_function *next;
    if (!next)
        next = find("avcodec_send_frame");
    return fails("av", CALLER) || fails("encode", CALLER)
               ? AVERROR(errno)
               : (int)next((long)codec, (long)frame, 0, 0, 0, 0, 0, 0, 0, 0);
}

int avcodec_open2(AVCodecContext *context, const AVCodec *codec, AVDictionary **options)
{
    static any_function *next;
    if (!next)
        next = find("avcodec_open2");
    const bool encoder =
        codec && find("av_codec_is_encoder")((long)codec, 0, 0, 0, 0, 0, 0, 0, 0, 0) & 0xff;
    return fails("av", CALLER) || (encoder && fails("encoder", CALLER))
               ? AVERROR(errno)
               : (int)next((long)context, (long)codec, (long)options, 0, 0, 0, 0, 0, 0, 0);
}

/* ---- the count ------------------------------------------------------------------------------ */

static int count_file = -1; /* open from the start: the sandbox opens no other file */

/* Where the program got memory that is still there. */
static void tell_blocks(void)
{
    for (size_t i = 0; count_file >= 0 && i < MOST_BLOCKS; i++)
        if (blocks[i].at && blocks[i].at != gone)
            dprintf(count_file, "%lx\n",
                    (unsigned long)((uintptr_t)blocks[i].caller - program.from));
}

/* In the child: where it runs, and what fails. */
static void enter_run(const char *folder, const char *fault)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/said", folder);
    const int said = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (chdir(folder) || dup2(said, STDERR_FILENO) < 0)
        _exit(99);
    close(said);
    setpgid(0, 0); /* all that it starts can be ended at once */
    setenv("MONA_FAULT", fault, 1);
    snprintf(path, sizeof path, "%s/count", folder);
    setenv("MONA_FAULT_COUNT", path, 1);
    snprintf(path, sizeof path, "%s/tmp", folder);
    setenv("TMPDIR", path, 1);
}

/* Returns in each child. */
static void serve(void)
{
    const char *ends = getenv("MONA_FAULT_SERVE");
    char folder[4096], fault[64];
    int from, to, status;
    if (!ends || sscanf(ends, "%d:%d", &from, &to) != 2)
        return;
    unsetenv("MONA_FAULT_SERVE");
    /* Not where the calls of mona count, whose sandbox looks at each library that is open. */
    for (size_t i = 0; from_libraries() && i < FILES; i++)
        open_library(files[i], RTLD_LAZY);
    FILE *lines = fdopen(from, "r");
    while (lines && fscanf(lines, "%4095s %63s", folder, fault) == 2) {
        const pid_t child = fork();
        if (!child) {
            fclose(lines);
            close(to);
            enter_run(folder, fault);
            return;
        }
        dprintf(to, "%d\n", child);
        waitpid(child, &status, 0);
        dprintf(to, "%d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
    }
    _exit(0);
}

__attribute__((constructor)) static void begin(void)
{
    serve();
    const char *name = getenv("MONA_FAULT_COUNT");
    const int fd = name ? open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    struct stat now;
    if (fd >= 0 && !fstat(fd, &now) &&
        (now.st_size >= (off_t)sizeof own_calls || !ftruncate(fd, sizeof own_calls))) {
        void *shared = mmap(NULL, sizeof own_calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        calls = shared == MAP_FAILED ? calls : shared;
        count_file = fcntl(fd, F_DUPFD_CLOEXEC, MOST_FILES / 2);
    }
    if (fd >= 0)
        close(fd);
    atexit(tell_blocks);
    dl_iterate_phdr(note_object, NULL);
}
