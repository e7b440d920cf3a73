// SPDX-License-Identifier: Apache-2.0
/* dlopen() and clocks of Unix-like systems. */
#include "engine/port/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

void *mona_port_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_GLOBAL);
}

const char *mona_port_library_error(void)
{
    const char *text = dlerror();
    return text ? text : "";
}

void *mona_port_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

uint64_t mona_port_milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void mona_port_pause(unsigned microseconds)
{
    const struct timespec time = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
    nanosleep(&time, NULL);
}

uint64_t mona_port_thread_id(void)
{
    return (uint64_t)pthread_self();
}
