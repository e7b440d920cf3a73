// SPDX-License-Identifier: Apache-2.0
/* Encoders of still pictures. The bytes do not depend on the number of threads. */
#ifndef MONA_STILL_ENCODE_H
#define MONA_STILL_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/image/metadata.h"
#include "pipeline/image/stills.h"

typedef struct still_encoding {
    const still *image;         /* the picture's shape */
    const still_source *source; /* NULL: the image's pixels */
    metadata_bytes metadata;    /* as the file has it, between its head and its pixels */
    unsigned jpeg_quality, threads;
    bool (*write)(void *to, const void *bytes, size_t size);
    void *to;
} still_encoding;

/* The bytes of count rows from first on, without gaps. */
void still_encode_rows(const still_encoding *e, uint32_t first, uint32_t count, uint8_t *to);

/* False: out of memory, or a write returned false. */
bool png_encode(const still_encoding *e);
bool jpeg_encode(const still_encoding *e);

/* Encodes a picture strip by strip on several threads, and writes the strips in their order. */

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
