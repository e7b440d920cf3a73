// SPDX-License-Identifier: Apache-2.0
/* The FFmpeg libraries. */
#ifndef MONA_AV_LIBRARY_H
#define MONA_AV_LIBRARY_H

#include <stdbool.h>

typedef struct av_library {
    const char *name;
    unsigned version; /* major << 16 | minor << 8 | micro */
} av_library;

/* Library i of those that mona was built with; false: there are no more. */
bool av_library_at(unsigned i, av_library *library);
/* The release that this process runs with, such as "5.1.9". "": none. */
const char *av_library_release(void);
/* Such as "GPL version 3 or later"; it then covers a program with these libraries inside. */
const char *av_library_licence(void);
/* mona reports libav's errors in its own messages. */
void av_library_quiet(void);

#endif
