// SPDX-License-Identifier: Apache-2.0
/* Encodes a picture strip by strip on several threads, and writes the strips in their order. */
#ifndef MONA_STRIPS_H
#define MONA_STRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/image/metadata_bytes.h"

typedef struct strips {
    uint32_t count;
    unsigned threads; /* 0: one for each core */
    /* Encodes strip i, on any of the threads. Whether it succeeds or not, the bytes are
     * released. */
    bool (*make)(const void *context, uint32_t i, metadata_bytes *bytes);
    /* Gets the strips in their order, one at a time. */
    bool (*put)(void *context, uint32_t i, metadata_bytes *bytes);
    void *context;
} strips;

/* False: a call returned false; no strip was written after it. */
bool strips_encode(const strips *s);

#endif
