// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/libraries.h"

#include <dlfcn.h>
#include <pthread.h>

#include <libavutil/macros.h>

#ifdef MONA_LINKED

#define ADDRESS(library, name) .name = name,
zlib_calls zlib = {ZLIB_CALLS(ADDRESS)};
libjpeg_calls libjpeg = {LIBJPEG_CALLS(ADDRESS)};

bool picture_libraries(pipeline_error *error)
{
    (void)error;
    return true;
}

#else

zlib_calls zlib;
libjpeg_calls libjpeg;

/* The headers tell the library's number, those of libjpeg from 7 on with a digit behind it. */
static bool open_both(pipeline_error *error)
{
    char file[32];
    const int number = JPEG_LIB_VERSION < 70 ? JPEG_LIB_VERSION : JPEG_LIB_VERSION / 10;
    snprintf(file, sizeof file, "libjpeg.so.%d", number);
    void *zlib_so = dlopen("libz.so.1", RTLD_LAZY);
    void *libjpeg_so = zlib_so ? dlopen(file, RTLD_LAZY) : NULL;
#define FIND(library, name)                                                                        \
    &&(*(void **)(void *)&library.name = dlsym(library##_so, AV_STRINGIFY(name)))
    return (libjpeg_so ZLIB_CALLS(FIND) LIBJPEG_CALLS(FIND)) ||
           pipeline_fail(error, "pictures need zlib and libjpeg: %s", dlerror());
}

bool picture_libraries(pipeline_error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool open;
    pthread_mutex_lock(&lock);
    open = open || open_both(error);
    const bool good = open;
    pthread_mutex_unlock(&lock);
    return good;
}

#endif
