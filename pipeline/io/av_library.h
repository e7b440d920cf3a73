// SPDX-License-Identifier: Apache-2.0
/* The FFmpeg libraries that this process runs with. */
#ifndef MONA_AV_LIBRARY_H
#define MONA_AV_LIBRARY_H

enum { AV_LIBRARY_COUNT = 5 };

typedef struct av_library {
    const char *name;
    unsigned version; /* major << 16 | minor << 8 | micro */
} av_library;

/* i < AV_LIBRARY_COUNT */
av_library av_library_at(unsigned i);

#endif
