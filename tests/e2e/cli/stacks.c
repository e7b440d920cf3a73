// SPDX-License-Identifier: Apache-2.0
/* Preloaded by stacks.sh: how deep the stack of each thread gets. A thread's stack is painted when
 * it starts, and looked at when it ends; a line of STACKS_LOG is "BYTES OF FUNCTION", where
 * FUNCTION is where the thread begins, in a program or a library. The first thread is looked at
 * when the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GAP = 4096, PAINT = 0x5a, MAIN = 768 << 10 }; /* GAP: what the painter itself takes */

typedef struct start {
    void *(*function)(void *);
    void *argument;
    uint8_t *low, *high, *painted;
} start;

static start first;

static void tell(const start *s)
{
    char line[512];
    Dl_info info = {0};
    const uint8_t *at = s->low;
    const int log = open(getenv("STACKS_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    while (at < s->painted && *at == PAINT)
        at++;
    dladdr((void *)(uintptr_t)s->function, &info);
    const char *file = info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    const int n = snprintf(line, sizeof line, "%zu %zu %s+%#zx\n", (size_t)(s->high - at),
                           (size_t)(s->high - s->low), file ? file + 1 : "main",
                           (size_t)((uint8_t *)(uintptr_t)s->function - (uint8_t *)info.dli_fbase));
    if (log < 0 || write(log, line, (size_t)n) != n)
        abort();
    close(log);
}

/* high: where the stack begins */
__attribute__((noinline)) static void paint(start *s)
{
    s->painted = (uint8_t *)__builtin_frame_address(0) - GAP;
    memset(s->low, PAINT, (size_t)(s->painted - s->low));
}

static void end(void *context)
{
    tell(context);
    free(context);
}

static void *run(void *context)
{
    start *s = context;
    pthread_attr_t attributes;
    void *low, *result;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) ||
        pthread_attr_getstack(&attributes, &low, &bytes))
        abort();
    pthread_attr_destroy(&attributes);
    s->low = low;
    s->high = s->low + bytes;
    paint(s);
    pthread_cleanup_push(end, s);
    result = s->function(s->argument);
    pthread_cleanup_pop(1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    start *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->function = function;
    s->argument = argument;
    return next(thread, attributes, run, s);
}

__attribute__((constructor)) static void begin(void)
{
    first.high = __builtin_frame_address(0);
    first.low = first.high - MAIN;
    paint(&first);
}

__attribute__((destructor)) static void finish(void)
{
    tell(&first);
}
