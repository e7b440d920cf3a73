// SPDX-License-Identifier: Apache-2.0
/* Most of the time that a short run takes would be the linker's, for FFmpeg's libraries and the
 * hundred and fifty that these need. They are opened when the first of their functions is called:
 * on_demand_x86_64.S. Such a program also hears of the threads that the system refuses them. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <libavcodec/version.h>
#include <libavfilter/version.h>
#include <libavformat/version.h>
#include <libavutil/macros.h>

#include "pipeline/base/waiting.h"
#include "pipeline/base/stop.h"

enum { avcodec, avformat, avfilter, LIBRARIES };

#define FILE_OF(name, version) "lib" #name ".so." AV_STRINGIFY(version)
static const char *const files[LIBRARIES] = {
    [avcodec] = FILE_OF(avcodec, LIBAVCODEC_VERSION_MAJOR),
    [avformat] = FILE_OF(avformat, LIBAVFORMAT_VERSION_MAJOR),
    [avfilter] = FILE_OF(avfilter, LIBAVFILTER_VERSION_MAJOR)};

#define FUNCTION(name, library) {#name, library},
static const struct function {
    const char *name;
    int library;
} functions[] = {
#include "on_demand.inc"
};

extern void *on_demand_slots[]; /* one for each function, in the same order */
bool on_demand_open(void *const *slot);

static void *find(void *library, const char *name)
{
    void *found = library ? dlsym(RTLD_DEFAULT, name) : NULL; /* what LD_PRELOAD has */
    found = found || !library ? found : dlsym(library, name);
    if (!found) {
        fprintf(stderr, "mona: FFmpeg cannot be used: %s%s\n", dlerror(), stop_excuse());
        stop_fail();
    }
    return found;
}

/* With a library that is not open, nothing was made that could be released. */
static bool only_releases(const char *name)
{
    return strstr(name, "_free") || strstr(name, "_close") || strstr(name, "_unref");
}

/* Sets the slots of all functions of the library that has the one of this slot. False: its
 * function has nothing to do. The library's names are its own: the linker looks for each name that
 * a later library needs in all that are everybody's first. */
bool on_demand_open(void *const *slot)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool open[LIBRARIES];
    const struct function *called = &functions[slot - on_demand_slots];
    const int library = called->library;
    pthread_mutex_lock(&lock);
    const bool needless = !open[library] && only_releases(called->name);
    void *opened = open[library] || needless ? NULL : dlopen(files[library], RTLD_LAZY);
    for (size_t i = 0; !needless && !open[library] && i < sizeof functions / sizeof *functions; i++)
        if (functions[i].library == library)
            on_demand_slots[i] = find(opened, functions[i].name);
    open[library] |= !needless;
    pthread_mutex_unlock(&lock);
    return !needless;
}

/* What encoders call: the program's names come before those of libc. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument)
{
    int (*start)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)(void *)&start = dlsym(RTLD_NEXT, "pthread_create");
    const int code = start ? start(thread, attributes, function, argument) : EAGAIN;
    if (code && refused_thread)
        atomic_store(refused_thread, true);
    return code;
}
