// SPDX-License-Identifier: Apache-2.0
/* The chip, its memory, streams and events. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/ascend/fake.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_bool initialised, ended;
enum { CHIPS = 64 };
static atomic_long chips_set[CHIPS], contexts, events, pinned, commands[CHIPS], complaints;

typedef struct fake_context {
    uint32_t magic;
    int32_t chip;
} fake_context;

static __thread fake_context *current;
static __thread char recent[512];
atomic_long fake_held_models, fake_held_objects;

/* ---- knobs, messages, trace ------------------------------------------------------------------ */

const char *fake_knob_text(const char *name, const char *otherwise)
{
    static __thread char value[256];
    const char *at = getenv("FAKE_ASCEND");
    const size_t length = strlen(name);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : "")
        if (!strncmp(at, name, length) && at[length] == '=') {
            snprintf(value, sizeof value, "%.*s", (int)strcspn(at + length + 1, ","),
                     at + length + 1);
            return value;
        }
    return otherwise;
}

long fake_knob(const char *name, long otherwise)
{
    const char *text = fake_knob_text(name, NULL);
    return text ? atol(text) : otherwise;
}

int fake_fail(int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(recent, sizeof recent, format, list);
    va_end(list);
    return code;
}

void fake_complain(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "fake: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    complaints++;
}

uint64_t fake_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void fake_trace(const char *line, const char *what, uint64_t begin)
{
    const char *path = fake_knob_text("trace", NULL);
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %s %llu %llu %d\n", line, what, (unsigned long long)begin,
            (unsigned long long)fake_now(), current ? current->chip : -1);
    fclose(file);
}

void fake_delay(const char *knob)
{
    const long us = fake_knob(knob, 0);
    if (us)
        usleep((useconds_t)us);
}

static int32_t chip_here(void)
{
    return current ? current->chip : 0;
}

static bool fails_on(int32_t chip)
{
    return fake_knob("chip", chip) == chip;
}

bool fake_fails_here(void)
{
    return fails_on(chip_here());
}

static bool is_lost(int32_t chip)
{
    const long limit = fake_knob("lost", 0);
    return limit && fails_on(chip) && commands[chip] >= limit;
}

bool fake_lost(void)
{
    return is_lost(chip_here());
}

static bool any_lost(void)
{
    bool lost = false;
    for (int32_t chip = 0; chip < CHIPS; chip++)
        lost |= is_lost(chip);
    return lost;
}

static void count_command(void)
{
    ++commands[chip_here()];
}

int fake_failing(const char *function)
{
    static atomic_long calls;
    const char *name = fake_knob_text("fail", NULL);
    if (!name || strcmp(name, function) || !fake_fails_here() ||
        ++calls != fake_knob("fail_call", 1))
        return 0;
    return fake_fail((int)fake_knob("fail_code", INTERNAL), "[TsdClient]\t%s failed.\n", function);
}

int fake_ready_for(const char *function)
{
    const int code = fake_failing(function);
    if (code)
        return code;
    if (!initialised)
        return fake_fail(NOT_INITIALISED, "aclInit has not been called");
    if (fake_lost())
        return fake_fail(CONNECTION_LOST, "HDC disconnected\nEE9999: device 0 is gone");
    return current ? 0 : fake_fail(NO_CONTEXT, "ctx is NULL");
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { BLOCKS = 4096, GUARD = 0xa5 };
static struct {
    uint8_t *host_view, *base; /* the chip's addresses; the same memory, for the chip */
    size_t end;
    struct {
        size_t at, bytes;
        int32_t chip;
        bool used;
    } block[BLOCKS];
    size_t count, used[CHIPS];
} memory;

bool fake_is_module(void)
{
    return !fake_knob("mode", 1);
}

static void map_memory(void)
{
    if (memory.base)
        return;
    const int file = memfd_create("chip", 0);
    if (file < 0 || ftruncate(file, FAKE_MEMORY))
        abort();
    memory.host_view =
        mmap(NULL, FAKE_MEMORY, fake_is_module() ? PROT_READ | PROT_WRITE : PROT_NONE,
             MAP_SHARED | MAP_NORESERVE, file, 0);
    memory.base =
        mmap(NULL, FAKE_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (memory.host_view == MAP_FAILED || memory.base == MAP_FAILED)
        abort();
    close(file);
}

uint8_t *fake_base(void)
{
    return memory.host_view;
}

uint8_t *fake_whole_memory(void)
{
    return memory.base;
}

bool fake_is_chip(const void *at)
{
    const uint8_t *p = at;
    return memory.base && p >= memory.host_view && p < memory.host_view + FAKE_MEMORY;
}

uint8_t *fake_memory(const void *at, size_t bytes)
{
    uint8_t *found = NULL;
    if (!fake_is_chip(at))
        return NULL;
    const size_t offset = (size_t)((const uint8_t *)at - memory.host_view);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < memory.count && !found; i++)
        if (memory.block[i].used && (!current || memory.block[i].chip == current->chip) &&
            offset >= memory.block[i].at && offset - memory.block[i].at <= memory.block[i].bytes &&
            bytes <= memory.block[i].bytes - (offset - memory.block[i].at))
            found = memory.base + offset;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Blocks of 4096 bytes lie 0x1200 apart on the chip: 32 bytes more, in units of 512. */
static size_t with_slack(size_t bytes)
{
    return ((bytes + 31) / 32 * 32 + 32 + 511) / 512 * 512;
}

API int aclrtMalloc(void **at, size_t bytes, uint32_t policy)
{
    const int code = fake_ready();
    const uint64_t begin = fake_now();
    if (code)
        return code;
    if (!at || !bytes)
        return fake_fail(BAD_ARGUMENT, "size must be greater than zero");
    if (policy > 5)
        return fake_fail(BAD_ARGUMENT, "policy %u is unknown", policy);
    pthread_mutex_lock(&lock);
    const size_t size = with_slack(bytes);
    size_t i = 0;
    while (i < memory.count && (memory.block[i].used || with_slack(memory.block[i].bytes) != size))
        i++;
    const bool fits = memory.used[chip_here()] + size <= (size_t)fake_knob("memory", FAKE_MEMORY) &&
                      i < BLOCKS && (i < memory.count || memory.end + size <= FAKE_MEMORY);
    if (fits) {
        if (i == memory.count) {
            memory.block[memory.count++].at = memory.end;
            memory.end += size;
        }
        memory.block[i].bytes = bytes;
        memory.block[i].used = true;
        memory.block[i].chip = chip_here();
        memory.used[chip_here()] += size;
        memset(memory.base + memory.block[i].at, GUARD, size);
        *at = memory.host_view + memory.block[i].at;
    }
    pthread_mutex_unlock(&lock);
    fake_trace("memory", "block", begin);
    return fits ? 0 : fake_fail(NO_MEMORY, "rtMalloc failed, size=%zu", bytes);
}

API int aclrtFree(void *at)
{
    const int code = fake_ready();
    if (code)
        return code;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < memory.count &&
           (!memory.block[i].used || memory.host_view + memory.block[i].at != at))
        i++;
    const bool found = i < memory.count;
    if (found) {
        const uint8_t *end = memory.base + memory.block[i].at + memory.block[i].bytes;
        for (size_t k = 0; k < with_slack(memory.block[i].bytes) - memory.block[i].bytes; k++)
            if (end[k] != GUARD) {
                fake_complain("something was written behind a block of %zu bytes",
                              memory.block[i].bytes);
                break;
            }
        memory.block[i].used = false;
        memory.used[memory.block[i].chip] -= with_slack(memory.block[i].bytes);
        if (memory.block[i].chip != chip_here())
            fake_complain("memory of chip %d was freed on chip %d", memory.block[i].chip,
                          chip_here());
    }
    pthread_mutex_unlock(&lock);
    if (!found)
        fake_complain("aclrtFree of %p, which is no block", at);
    return found ? 0 : BAD_PARAMETER;
}

API int aclrtGetMemInfo(uint32_t kind, size_t *left, size_t *total)
{
    const int code = fake_ready();
    if (code || kind || !left || !total)
        return code ? code : BAD_ARGUMENT;
    *total = (size_t)fake_knob("memory", FAKE_MEMORY);
    *left = *total - memory.used[chip_here()];
    return 0;
}

enum { PINNED = 256 };
static struct {
    uint8_t *at;
    size_t bytes;
} pins[PINNED];

API int aclrtMallocHost(void **at, size_t bytes)
{
    const int code = fake_ready();
    if (code || !at || !bytes)
        return code ? code : fake_fail(BAD_ARGUMENT, "size must be greater than zero");
    if (fake_is_module())
        fake_complain("memory of the host was asked for on a module, which has none");
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < PINNED && pins[i].at)
        i++;
    if (i == PINNED)
        abort();
    *at = aligned_alloc(64, (bytes + 63) / 64 * 64);
    pins[i].at = *at;
    pins[i].bytes = bytes;
    pinned++;
    pthread_mutex_unlock(&lock);
    return 0;
}

API int aclrtFreeHost(void *at)
{
    const int code = fake_ready();
    if (code)
        return code;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < PINNED && (!at || pins[i].at != at))
        i++;
    if (i < PINNED) {
        pins[i].at = NULL;
        pinned--;
    }
    pthread_mutex_unlock(&lock);
    if (i == PINNED) {
        fake_complain("aclrtFreeHost of %p, which is no block", at);
        return BAD_PARAMETER;
    }
    free(at);
    return 0;
}

/* ---- streams --------------------------------------------------------------------------------- */

enum { STREAM = 0x5354524d, EVENT = 0x45564e54, CONTEXT = 0x43545854 };

typedef struct job {
    struct job *next;
    const char *what;
    fake_work *work;
    void *argument;
} job;

typedef struct fake_stream {
    uint32_t magic;
    fake_context *context;
    pthread_t thread;
    job *first, **last;
    bool stop, busy, computed; /* a kernel or a model since it was last waited for */
    int code;                  /* of the first job that failed since it was last asked */
    char why[512];
    struct fake_stream *next;
} fake_stream;

static fake_stream *streams;

static void *serve(void *argument)
{
    fake_stream *s = argument;
    current = s->context;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->first && !s->stop)
            pthread_cond_wait(&changed, &lock);
        job *j = s->first;
        if (!j)
            break;
        s->busy = true;
        pthread_mutex_unlock(&lock);
        const int code = fake_lost() ? CONNECTION_LOST : j->work(j->argument);
        pthread_mutex_lock(&lock);
        if (code && !s->code) {
            s->code = code;
            snprintf(s->why, sizeof s->why, "%s", recent);
        }
        s->first = j->next;
        if (!s->first)
            s->last = &s->first;
        s->busy = false;
        free(j->argument);
        free(j);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static fake_stream *stream_of(void *stream)
{
    fake_stream *s = streams;
    while (s && s != stream)
        s = s->next;
    return s;
}

int fake_enqueue(void *stream, const char *what, fake_work *work, void *argument)
{
    pthread_mutex_lock(&lock);
    fake_stream *s = stream_of(stream);
    const int code = !s ? NO_HANDLE : s->context != current ? FOREIGN_STREAM : 0;
    if (!code) {
        job *j = calloc(1, sizeof *j);
        *j = (job){NULL, what, work, argument};
        *s->last = j;
        s->last = &j->next;
        s->computed |= !strcmp(what, "kernel") || !strcmp(what, "model");
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    if (code) {
        fake_complain("%s on a stream that is none, or of another context", what);
        free(argument);
    } else {
        count_command();
    }
    return code;
}

/* ---- copies ---------------------------------------------------------------------------------- */

typedef struct copy {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
    bool upload;
} copy;

static int run_copy(void *argument)
{
    const copy *c = argument;
    const uint64_t begin = fake_now();
    static atomic_long number;
    if (fake_fails_here() && fake_knob("copy_hang", 0) == ++number)
        for (;;)
            pause();
    fake_delay("copy_us");
    memcpy(c->to, c->from, c->bytes);
    fake_trace(c->upload ? "upload" : "download", "copy", begin);
    return 0;
}

static bool is_pinned(const void *at, size_t bytes)
{
    bool found = false;
    const uint8_t *p = at;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < PINNED && !found; i++)
        found = pins[i].at && p >= pins[i].at && bytes <= pins[i].bytes &&
                (size_t)(p - pins[i].at) <= pins[i].bytes - bytes;
    pthread_mutex_unlock(&lock);
    return found;
}

API int aclrtMemcpyAsync(void *dst, size_t room, const void *src, size_t bytes, uint32_t kind,
                         void *stream)
{
    enum { TO_CHIP = 1, TO_HOST = 2 };
    const int code = fake_ready();
    if (code)
        return code;
    if (!dst || !src || (kind != TO_CHIP && kind != TO_HOST))
        return fake_fail(BAD_ARGUMENT, "a pointer is NULL, or kind %u is unknown", kind);
    if (fake_is_module())
        fake_complain("%zu bytes were copied on a module, where they can be used as they are",
                      bytes);
    if (bytes > room)
        return fake_fail(BAD_PARAMETER, "count %zu is above destMax %zu", bytes, room);
    const bool upload = kind == TO_CHIP;
    uint8_t *chip = fake_memory(upload ? dst : src, bytes);
    if (!chip || fake_is_chip(upload ? src : dst))
        return fake_fail(BAD_PARAMETER, "these addresses do not fit kind %u", kind);
    if (!is_pinned(upload ? src : dst, bytes))
        fake_complain("%zu bytes of memory that is not pinned: the copy waits", bytes);
    copy *c = malloc(sizeof *c);
    *c = (copy){upload ? chip : dst, upload ? src : chip, bytes, upload};
    return fake_enqueue(stream, "copy", run_copy, c);
}

API int aclrtCreateStream(void **stream)
{
    const int code = fake_ready();
    if (code || !stream)
        return code ? code : BAD_ARGUMENT;
    fake_stream *s = calloc(1, sizeof *s);
    *s = (fake_stream){.magic = STREAM, .context = current};
    s->last = &s->first;
    pthread_mutex_lock(&lock);
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&lock);
    if (pthread_create(&s->thread, NULL, serve, s))
        abort();
    *stream = s;
    return 0;
}

static int wait_idle(void *stream, long milliseconds)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += milliseconds / 1000;
    end.tv_nsec += milliseconds % 1000 * 1000000;
    if (end.tv_nsec >= 1000000000) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000;
    }
    int code = 0;
    pthread_mutex_lock(&lock);
    fake_stream *s = stream_of(stream);
    while (s && (s->first || s->busy) && code != TIMED_OUT)
        if (milliseconds < 0)
            pthread_cond_wait(&changed, &lock);
        else if (pthread_cond_timedwait(&changed, &lock, &end))
            code = TIMED_OUT;
    if (s && !code) {
        code = s->code;
        snprintf(recent, sizeof recent, "%s", s->why);
        s->code = 0;
    }
    pthread_mutex_unlock(&lock);
    if (!s)
        fake_complain("a stream that is none was waited for");
    return s ? code : NO_HANDLE;
}

static int synchronise(void *stream, long milliseconds)
{
    static atomic_long turn;
    pthread_mutex_lock(&lock);
    fake_stream *s = stream_of(stream);
    const bool computed = s && s->computed;
    if (s)
        s->computed = false;
    pthread_mutex_unlock(&lock);
    if (computed && fake_fails_here() && fake_knob("fail_at", 0) == ++turn)
        return fake_fail((int)fake_knob("fail_with", INTERNAL), "[TsdClient]\tit failed.\n");
    return wait_idle(stream, milliseconds);
}

API int aclrtSynchronizeStream(void *stream)
{
    const int code = fake_ready();
    return code ? code : synchronise(stream, -1);
}

#ifndef FAKE_OLD
API int aclrtSynchronizeStreamWithTimeout(void *stream, int32_t milliseconds)
{
    const int code = fake_ready();
    return code ? code : synchronise(stream, milliseconds);
}
#endif

API int aclrtDestroyStream(void *stream)
{
    const int code = fake_ready();
    if (code || !stream)
        return code ? code : BAD_ARGUMENT;
    pthread_mutex_lock(&lock);
    fake_stream *s = stream_of(stream);
    for (fake_stream **at = &streams; s && *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    if (s)
        s->stop = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (!s) {
        fake_complain("a stream was destroyed that is none");
        return NO_HANDLE;
    }
    pthread_join(s->thread, NULL);
    free(s);
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

enum { SYNC = 1, TIME_LINE = 8 };

typedef struct fake_event {
    uint32_t magic, flag;
    bool recorded, asked, reached;
    uint64_t time;
} fake_event;

enum { EVENTS = 1023 }; /* of a chip */
static fake_event event_pool[EVENTS];

API int aclrtCreateEventWithFlag(void **event, uint32_t flag)
{
    const int code = fake_ready();
    if (code || !event)
        return code ? code : BAD_ARGUMENT;
    if (flag != SYNC && flag != TIME_LINE) {
        fake_complain("an event was made with the flag %u", flag);
        return BAD_ARGUMENT;
    }
    if (++events > EVENTS) {
        --events;
        return fake_fail(207007, "no event is left");
    }
    pthread_mutex_lock(&lock);
    fake_event *e = event_pool;
    while (e->magic)
        e++;
    *e = (fake_event){.magic = EVENT, .flag = flag};
    pthread_mutex_unlock(&lock);
    *event = e;
    return 0;
}

static int reach(void *argument)
{
    fake_event *e = *(fake_event **)argument;
    pthread_mutex_lock(&lock);
    e->reached = true;
    e->time = fake_now();
    pthread_mutex_unlock(&lock);
    return 0;
}

API int aclrtRecordEvent(void *event, void *stream)
{
    const int code = fake_ready();
    fake_event *e = event;
    if (code || !e || e->magic != EVENT)
        return code ? code : BAD_PARAMETER;
    if (e->recorded && e->flag == SYNC) {
        fake_complain("an event was recorded again that was not reset");
        return BAD_PARAMETER;
    }
    pthread_mutex_lock(&lock);
    e->recorded = true;
    e->asked = e->reached = false;
    pthread_mutex_unlock(&lock);
    fake_event **argument = malloc(sizeof *argument);
    *argument = e;
    return fake_enqueue(stream, "record", reach, argument);
}

/* How often an event is asked depends on how fast the machine is, so fail_call counts only the
 * first time after each record. */
API int aclrtQueryEvent(void *event, uint32_t *status)
{
    fake_event *e = event;
    const bool again = e && e->magic == EVENT && e->asked;
    const int code = fake_ready_for(again ? "a call that asks again" : __func__);
    if (code || !e || e->magic != EVENT || !status)
        return code ? code : BAD_PARAMETER;
    if (!e->recorded) {
        fake_complain("an event was asked that was never recorded");
        return BAD_PARAMETER;
    }
    pthread_mutex_lock(&lock);
    e->asked = true;
    *status = e->reached ? 0 : 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

API int aclrtResetEvent(void *event, void *stream)
{
    const int code = fake_ready();
    fake_event *e = event;
    if (code || !e || e->magic != EVENT || !stream)
        return code ? code : BAD_PARAMETER;
    if (e->flag != SYNC)
        return fake_fail(207000, "no need to reset this event");
    pthread_mutex_lock(&lock);
    const bool ready = e->recorded && e->reached && stream_of(stream);
    e->recorded = false;
    pthread_mutex_unlock(&lock);
    if (!ready)
        fake_complain("an event was reset that has not been reached");
    return 0;
}

API int aclrtEventElapsedTime(float *milliseconds, void *begin, void *end)
{
    const int code = fake_ready();
    const fake_event *from = begin, *to = end;
    if (code || !milliseconds || !from || !to || from->magic != EVENT || to->magic != EVENT)
        return code ? code : BAD_PARAMETER;
    pthread_mutex_lock(&lock);
    const bool timed =
        from->flag == TIME_LINE && to->flag == TIME_LINE && from->reached && to->reached;
    *milliseconds = 1e-3f * (float)(int64_t)(to->time - from->time);
    pthread_mutex_unlock(&lock);
    return timed ? 0 : fake_fail(INTERNAL, "an event was not reached, or has no time");
}

API int aclrtDestroyEvent(void *event)
{
    const int code = fake_ready();
    fake_event *e = event;
    if (code || !e || e->magic != EVENT)
        return code ? code : BAD_PARAMETER;
    if (e->recorded && !e->reached)
        fake_complain("an event was destroyed that its stream has yet to reach");
    pthread_mutex_lock(&lock);
    e->magic = 0;
    pthread_mutex_unlock(&lock);
    --events;
    return 0;
}

/* ---- the chip -------------------------------------------------------------------------------- */

API int aclInit(const char *config)
{
    (void)config;
    const int code = fake_failing(__func__);
    if (code)
        return code;
    if (initialised)
        return REPEATED_INIT;
    map_memory();
    initialised = true;
    ended = false;
    return 0;
}

static void report(const char *what, long count)
{
    if (count)
        fake_complain("%ld %s left", count, what);
}

/* A lost chip keeps what it has. */
static void report_held_on_chips(void)
{
    long held = 0;
    for (const fake_stream *s = streams; s; s = s->next)
        held += !is_lost(s->context->chip);
    report("streams", held);
    held = 0;
    for (size_t i = 0; i < memory.count; i++)
        held += memory.block[i].used && !is_lost(memory.block[i].chip);
    report("blocks of memory", held);
    for (int32_t chip = 0; chip < CHIPS; chip++)
        report("chips not reset", is_lost(chip) ? 0 : chips_set[chip]);
}

static void report_held(void)
{
    report_held_on_chips();
    report("blocks of pinned memory", pinned);
    report("events", events);
    report("contexts", contexts);
    report("models", fake_held_models);
    report("objects of AscendCL", fake_held_objects);
}

API int aclFinalize(void)
{
    if (!initialised)
        return ended ? REPEATED_END : NOT_INITIALISED;
    report_held();
    initialised = false;
    ended = true;
    return 0;
}

__attribute__((destructor)) static void at_end(void)
{
    const bool hangs =
        fake_knob("hang", 0) || fake_knob("copy_hang", 0) || fake_knob("vdec_hang", -1) >= 0;
    if (initialised && !any_lost() && !hangs)
        fake_complain("the process ended without aclFinalize");
    if (initialised && any_lost() && fake_knob("count", 1) > 1)
        report_held_on_chips();
    if (complaints)
        _exit(99);
}

API const char *aclGetRecentErrMsg(void)
{
    static __thread char taken[512];
    snprintf(taken, sizeof taken, "%s", recent);
    recent[0] = 0;
    return taken[0] ? taken : NULL;
}

API int aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    *major = 1;
    *minor = (int32_t)fake_knob("minor", 13);
    *patch = 0;
    return 0;
}

API const char *aclrtGetSocName(void)
{
    static char name[64];
    snprintf(name, sizeof name, "%s", fake_knob_text("soc", "Ascend310"));
    return strcmp(name, "null") ? name : NULL;
}

API int aclrtGetRunMode(uint32_t *mode)
{
    const int code = fake_failing(__func__);
    *mode = (uint32_t)fake_knob("mode", 1);
    return code ? code : 0;
}

API int aclrtGetDeviceCount(uint32_t *count)
{
    const int code = fake_failing(__func__);
    *count = (uint32_t)fake_knob("count", 1);
    return code ? code : initialised ? 0 : INTERNAL;
}

API int aclrtSetDevice(int32_t chip)
{
    const int code = initialised ? fake_failing(__func__) : NOT_INITIALISED;
    if (code)
        return code;
    if (chip < 0 || chip >= fake_knob("count", 1) || chip >= CHIPS)
        return fake_fail(NO_SUCH_CHIP, "device %d does not exist", chip);
    if (fails_on(chip) && fake_knob("absent", 0))
        return fake_fail((int)fake_knob("absent", 0), "device %d cannot be opened", chip);
    chips_set[chip]++;
    return 0;
}

API int aclrtResetDevice(int32_t chip)
{
    if (chip < 0 || chip >= CHIPS || !chips_set[chip])
        return NO_SUCH_CHIP;
    chips_set[chip]--;
    return 0;
}

API int aclrtCreateContext(void **context, int32_t chip)
{
    const int code =
        chip < 0 || chip >= CHIPS || !chips_set[chip] ? NO_SUCH_CHIP : fake_failing(__func__);
    if (code)
        return code;
    fake_context *made = calloc(1, sizeof *made);
    *made = (fake_context){CONTEXT, chip};
    *context = current = made;
    contexts++;
    return 0;
}

API int aclrtDestroyContext(void *context)
{
    if (!context || ((fake_context *)context)->magic != CONTEXT)
        return NO_CONTEXT;
    contexts--;
    free(context);
    current = NULL;
    return 0;
}

API int aclrtSetCurrentContext(void *context)
{
    const int code = fake_failing(__func__);
    if (!context || ((fake_context *)context)->magic != CONTEXT)
        return NO_CONTEXT;
    current = code ? current : context;
    return code;
}
